// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models of many small parts.

#include "test/onnx/ModelBuilder.h"
#include "tools/attn-run/onnx/Import.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace attn::importer;
using namespace attn::onnxtest;

namespace {

constexpr int f32 = onnx::TensorProto::FLOAT;

// Work that grows with the square of these numbers would take minutes.
TEST(Import, many_names_and_sets_of_operators) {
  constexpr int count = 100000;
  ModelBuilder model(25);
  for (const char *name : {"Q", "K", "V"})
    model.addInput(name, f32, {1, 2, 3, 8});
  model.addOutput("Y");
  model.addNode("Attention", {"Q", "K", "V"}, {"Y"});
  for (int i = 0; i < count; ++i) {
    std::string number = std::to_string(i);
    *model.model.mutable_graph()->add_initializer() =
        makeTensor("c" + number, f32, {1}, {0.0});
    model.addInput("x" + number, f32, {1});
    // Letters beyond ASCII become underscores: all have one name to begin with.
    std::string wide = "\xc3\xa4";
    for (char digit : number)
      wide += std::string("\xc3") + char(0xa0 + digit - '0');
    model.addInput(wide, f32, {1});
    auto *set = model.model.add_opset_import();
    set->set_domain("d" + number);
    set->set_version(1);
    auto &constant = model.addNode("Constant", {}, {"t" + number});
    auto *value = constant.add_attribute();
    value->set_name("value");
    value->set_type(onnx::AttributeProto::TENSOR);
    *value->mutable_t() = makeTensor("", f32, {1}, {1.0});
  }
  Result<ImportedFunction> function = importModel(model.model);
  ASSERT_TRUE(function.ok()) << function.error().message;
  EXPECT_EQ(function->inputs.size(), size_t(3 + 2 * count));
}

} // namespace
