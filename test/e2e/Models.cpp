// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Models.h.

#include "test/e2e/Models.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

using namespace attn;
using namespace attn::test;
using oracle::Array;

std::vector<double> ModelCall::add(std::vector<int64_t> sizes, double low,
                                   double high) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  std::vector<double> values = randomValues(size_t(count), ++seed * 1000003);
  for (double &value : values)
    value = roundTo(DType::f32, low + (high - low) * (value + 1) / 2);
  operands.add(DType::f32, std::move(sizes), values);
  return values;
}

Array ModelCall::addRows(int64_t b, int64_t h, int64_t t, int64_t d, double low,
                         double high) {
  Array rows(b, h, t, d);
  rows.data = add({b, h, t, d}, low, high);
  return rows;
}

Array ModelCall::addTokens(int64_t b, int64_t h, int64_t t, double low,
                           double high) {
  Array tokens(b, h, t, 1);
  tokens.data = add({b, h, t}, low, high);
  return tokens;
}

void ModelCall::addResult(const std::function<Array(bool)> &loop,
                          std::string fault) {
  want.push_back(loop(false));
  wrong.push_back(loop(true));
  faults.push_back(std::move(fault));
}

std::string attn::test::readModel(const std::string &name) {
  std::ifstream file(ATTN_SOURCE_DIR "/examples/ir/models/" + name + ".mlir");
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<Target> attn::test::modelTargets() {
  return targetsFor(DType::f32);
}

std::string attn::test::modelTestName(
    const testing::TestParamInfo<std::tuple<Model, Target>> &info) {
  std::string name = std::get<0>(info.param).name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name + "_" + std::get<1>(info.param).name;
}

/// Runs the model, and says what differs from `want`, if anything does.
static std::string compare(const Target &target, const Model &model,
                           const ModelCall &call,
                           const std::vector<Array> &want,
                           oracle::Tolerance tolerance) {
  std::vector<Tensor> got =
      run(target, readModel(model.name), call.operands.values);
  if (got.size() != want.size())
    return "got " + std::to_string(got.size()) + " results";
  for (size_t n = 0; n < got.size(); ++n) {
    const Array &w = want[n];
    if (got[n].view().sizes != std::vector<int64_t>{w.b, w.h, w.s, w.d})
      return "result " + std::to_string(n) + " has the wrong shape";
    std::string error =
        oracle::checkOutput(toDoubles(got[n].view()), w.data, tolerance);
    if (!error.empty())
      return "result " + std::to_string(n) + ": " + error;
  }
  return {};
}

void attn::test::checkModel(const std::tuple<Model, Target> &param,
                            oracle::Tolerance tolerance) {
  const auto &[model, target] = param;
  ATTN_SKIP_UNLESS_HERE(target);
  for (auto [batch, length] :
       {std::pair<int64_t, int64_t>{2, 37}, {1, 1}, {3, 83}, {1, 0}}) {
    ModelCall call = model.make(batch, length);
    EXPECT_EQ(compare(target, model, call, call.want, tolerance), "")
        << model.name << ", " << batch << " x " << length;
  }
}

void attn::test::checkFaults(const Model &model, oracle::Tolerance tolerance) {
  ModelCall call = model.make(2, 83);
  EXPECT_EQ(compare(modelTargets()[0], model, call, call.want, tolerance), "");
  for (size_t n = 0; n < call.want.size(); ++n) {
    std::vector<Array> want = call.want;
    want[n] = call.wrong[n];
    EXPECT_NE(compare(modelTargets()[0], model, call, want, tolerance), "")
        << model.name << ": " << call.faults[n] << " must be seen";
  }
}

double attn::test::sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double attn::test::softplus(double x) { return std::log1p(std::exp(x)); }
