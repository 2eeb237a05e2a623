// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention by fields: no IR is written. Asks for the types of the function and
// the sizes of its result, runs into memory of its own, and compares with the
// reference device.

#include "attn/runtime/Engine.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

static int fail(const attn::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  return 1;
}

static attn::TensorView view(std::vector<float> &data,
                             std::vector<int64_t> sizes) {
  data.resize(*attn::numElements(sizes));
  return {data.data(), attn::DType::f32, std::move(sizes), {}};
}

static void fill(std::vector<float> &data, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::generate(data.begin(), data.end(), [&] { return normal(generator); });
}

int main() {
  attn::AttentionSpec spec;
  spec.queryHeads = 8;
  spec.keyHeads = 2;
  spec.keyDim = 64;
  spec.position = attn::Position::bottomRight;
  spec.causal = true;
  spec.softcap = 30;
  spec.lengths = true;
  auto program = attn::Engine().compile(spec);
  if (!program)
    return fail(program.error());

  // The types as plain data, here as text.
  std::printf("%s\n", attn::format(*program->signature(spec.name)).c_str());

  std::vector<float> qData, kData, vData, oData;
  std::vector<int64_t> lengths = {100, 64};
  std::vector<attn::Value> inputs = {
      view(qData, {2, 8, 5, 64}), view(kData, {2, 2, 100, 64}),
      view(vData, {2, 2, 100, 64}),
      attn::TensorView{lengths.data(), attn::DType::i64, {2}, {}}};
  fill(qData, 1);
  fill(kData, 2);
  fill(vData, 3);

  auto sizes = program->resultSizes(spec.name, inputs);
  if (!sizes)
    return fail(sizes.error());
  auto done = program->callInto(spec.name, inputs, {view(oData, (*sizes)[0])});
  if (!done)
    return fail(done.error());

  attn::EngineOptions options;
  options.device = "reference";
  auto reference = attn::Engine(options).compile(spec);
  if (!reference)
    return fail(reference.error());
  auto expected = reference->call(spec.name, inputs);
  if (!expected)
    return fail(expected.error());
  double worst = 0;
  bool good = true;
  for (size_t i = 0; i < oData.size(); ++i) {
    double error = std::abs(oData[i] - (*expected)[0].at(i));
    worst = std::max(worst, error);
    // A comparison with NaN is false.
    good &= error <= 1e-5;
  }
  std::printf("%s: largest difference from the reference device %.1e, "
              "tolerance 1.0e-05\n",
              good ? "ok" : "wrong", worst);
  return good ? 0 : 1;
}
