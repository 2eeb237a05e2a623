// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the importer writes, and what it refuses and why.

#include "tools/attn-run/onnx/Import.h"
#include "test/onnx/Definition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace attn;
using namespace attn::importer;
using namespace attn::onnxtest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr int f32 = onnx::TensorProto::FLOAT;

std::string textOf(const onnx::ModelProto &model) {
  Result<ImportedFunction> function = importModel(model);
  EXPECT_TRUE(function.ok()) << function.error().message;
  return function ? function->text : "";
}

std::string errorOf(const onnx::ModelProto &model) {
  Result<ImportedFunction> function = importModel(model);
  return function ? "" : function.error().message;
}

/// Rank 4, B 2, H 4/2, S 3/5, D 8; the node is its last.
class Model : public ModelBuilder {
public:
  explicit Model(int64_t opset = 25) : ModelBuilder(opset) {
    addInput("Q", f32, {2, 4, 3, 8});
    addInput("K", f32, {2, 2, 5, 8});
    addInput("V", f32, {2, 2, 5, 8});
    addOutput("Y");
    node = &addNode("Attention", {"Q", "K", "V"}, {"Y"});
  }
  /// Replaces the type of an input.
  Model &retype(int index, int type, const std::vector<int64_t> &sizes) {
    auto *tensor = model.mutable_graph()
                       ->mutable_input(index)
                       ->mutable_type()
                       ->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->clear_shape();
    for (int64_t size : sizes)
      tensor->mutable_shape()->add_dim()->set_dim_value(size);
    return *this;
  }
  /// Adds an input of the graph as input `index` of the node.
  Model &extraInput(int index, const std::string &name, int type,
                    const std::vector<int64_t> &sizes) {
    addInput(name, type, sizes);
    while (node->input_size() <= index)
      node->add_input();
    node->set_input(index, name);
    return *this;
  }
  onnx::NodeProto *node;
};

TEST(Import, grouped_heads_are_gqa) {
  EXPECT_THAT(textOf(Model().model), HasSubstr("%Y = attn.gqa %Q, %K, %V\n"));
  Model model;
  model.retype(0, f32, {2, 2, 3, 8});
  EXPECT_THAT(textOf(model.model), HasSubstr("%Y = attn.softmax %Q, %K, %V\n"));
}

TEST(Import, names_are_those_of_the_graph) {
  ModelBuilder builder(23);
  builder.addInput("layer.0/q:0", f32, {1, 1, 2, 4});
  builder.addInput("layer.0/q.0", f32, {1, 1, 2, 4});
  builder.addInput("7", f32, {1, 1, 2, 4});
  builder.addOutput("out put");
  builder.addNode("Attention", {"layer.0/q:0", "layer.0/q.0", "7"},
                  {"out put"});
  Result<ImportedFunction> function = importModel(builder.model);
  ASSERT_TRUE(function.ok());
  EXPECT_THAT(function->inputs, ElementsAre("layer.0/q:0", "layer.0/q.0", "7"));
  EXPECT_THAT(function->outputs, ElementsAre("out put"));
  EXPECT_THAT(function->text, HasSubstr("%out_put = attn.softmax %layer_0_q_0, "
                                        "%layer_0_q_0_1, %v7"));
}

TEST(Import, clauses) {
  Model model;
  setFloat(*model.node, "scale", 0.125);
  setFloat(*model.node, "softcap", 30);
  setInteger(*model.node, "is_causal", 1);
  setInteger(*model.node, "left_window_size", 4);
  model.extraInput(3, "mask", onnx::TensorProto::BOOL, {3, 5})
      .extraInput(6, "n", onnx::TensorProto::INT64, {2});
  EXPECT_THAT(textOf(model.model),
              HasSubstr("scale(0.125) softcap(30.0) align(bottom_right) "
                        "mask(#attn.causal, #attn.window<left = 4>) "
                        "select(%mask : tensor<3x5xi1>) "
                        "lengths(%n : tensor<2xi64>)"));
}

TEST(Import, the_past_is_the_offset) {
  Model model;
  setInteger(*model.node, "is_causal", 1);
  model.extraInput(4, "past_key", f32, {2, 2, 7, 8})
      .extraInput(5, "past_value", f32, {2, 2, 7, 8});
  EXPECT_THAT(textOf(model.model), HasSubstr("offset(%c7 : index)"));
}

TEST(Import, initializers_and_constants_are_constants) {
  Model model;
  *model.model.mutable_graph()->add_initializer() =
      makeTensor("K", f32, {2, 2, 5, 8}, std::vector<double>(160, 1));
  onnx::NodeProto constant;
  constant.set_op_type("Constant");
  constant.add_output("mask");
  onnx::AttributeProto *value = constant.add_attribute();
  value->set_name("value");
  value->set_type(onnx::AttributeProto::TENSOR);
  *value->mutable_t() =
      makeTensor("", onnx::TensorProto::BOOL, {5}, {1, 0, 1, 1, 1});
  onnx::NodeProto attention = *model.node;
  attention.add_input("mask");
  model.model.mutable_graph()->clear_node();
  *model.model.mutable_graph()->add_node() = constant;
  *model.model.mutable_graph()->add_node() = attention;
  Result<ImportedFunction> function = importModel(model.model);
  ASSERT_TRUE(function.ok()) << function.error().message;
  EXPECT_THAT(function->inputs, ElementsAre("Q", "V"));
  EXPECT_THAT(function->text,
              HasSubstr("arith.constant dense<[true, false, true, true, "
                        "true]> : tensor<5xi1>"));
}

TEST(Import, a_size_of_minus_1_is_dynamic) {
  Model model;
  model.retype(0, f32, {-1, 4, -1, 8}).retype(1, f32, {2, 2, -1, 8});
  EXPECT_THAT(textOf(model.model), HasSubstr("%Q: tensor<?x4x?x8xf32>"));
  EXPECT_THAT(textOf(model.model), HasSubstr("%K: tensor<2x2x?x8xf32>"));
  // Of an output, too, whose size is known.
  auto *declared = model.model.mutable_graph()
                       ->mutable_output(0)
                       ->mutable_type()
                       ->mutable_tensor_type();
  declared->set_elem_type(f32);
  for (int64_t size : {-1, 4, -1, 8})
    declared->mutable_shape()->add_dim()->set_dim_value(size);
  EXPECT_NE(textOf(model.model), "");
}

TEST(Import, initializers_that_nothing_uses_are_skipped) {
  Model model;
  onnx::GraphProto *graph = model.model.mutable_graph();
  onnx::TensorProto *weight = graph->add_initializer();
  weight->set_name("weight");
  weight->set_data_type(onnx::TensorProto::STRING);
  weight->add_dims(-1);
  onnx::TensorProto *external = graph->add_initializer();
  *external = makeTensor("cache", f32, {2}, {});
  external->set_data_location(onnx::TensorProto::EXTERNAL);
  graph->add_sparse_initializer()->mutable_values()->set_name("sparse");
  std::string text = textOf(model.model);
  EXPECT_THAT(text, HasSubstr("attn.gqa"));
  EXPECT_THAT(text, Not(HasSubstr("constant dense")));
  // An output of the graph is a use.
  model.addOutput("cache");
  EXPECT_THAT(errorOf(model.model), HasSubstr("initializer 'cache'"));
}

TEST(Import, the_empty_domain_is_that_of_onnx) {
  for (const char *domain : {"", "ai.onnx"})
    for (const char *imported : {"", "ai.onnx"}) {
      Model model;
      model.node->set_domain(domain);
      model.model.mutable_opset_import(0)->set_domain(imported);
      EXPECT_THAT(textOf(model.model), HasSubstr("attn.gqa"))
          << "'" << domain << "', '" << imported << "'";
    }
}

/// Layers one after the other.
TEST(Import, several_nodes) {
  Model model;
  onnx::NodeProto second = *model.node;
  second.set_input(0, "Y");
  second.set_output(0, "Z");
  *model.model.mutable_graph()->add_node() = second;
  model.model.mutable_graph()->clear_output();
  model.addOutput("Z");
  EXPECT_THAT(textOf(model.model), HasSubstr("%Z = attn.gqa %Y, %K, %V"));
}

TEST(ImportErrors, operators_and_versions) {
  Model model(22);
  EXPECT_THAT(errorOf(model.model),
              HasSubstr("node (Attention): operator set ai.onnx: expected "
                        "version 23 to 27, got 22"));
  EXPECT_THAT(errorOf(Model(28).model), HasSubstr("got 28"));
  Model rotary;
  rotary.node->set_op_type("RotaryEmbedding");
  rotary.node->set_name("rope");
  EXPECT_THAT(errorOf(rotary.model),
              HasSubstr("node 'rope' (RotaryEmbedding): operator "
                        "'RotaryEmbedding' of domain 'ai.onnx'"));
  Model contrib;
  contrib.node->set_domain("com.microsoft");
  EXPECT_THAT(errorOf(contrib.model), HasSubstr("domain 'com.microsoft'"));
}

TEST(ImportErrors, attributes) {
  auto with = [](int64_t opset, const char *name, int64_t value) {
    Model model(opset);
    setInteger(*model.node, name, value);
    return errorOf(model.model);
  };
  EXPECT_THAT(with(25, "window", 1), HasSubstr("attribute 'window': not "
                                               "supported (opset 25)"));
  EXPECT_THAT(with(24, "left_window_size", 1),
              HasSubstr("attribute 'left_window_size': not supported (opset "
                        "24)"));
  EXPECT_THAT(with(25, "left_window_size", -2),
              HasSubstr("expected at least -1, got -2"));
  EXPECT_THAT(with(25, "is_causal", 2), HasSubstr("expected 0 or 1, got 2"));
  EXPECT_THAT(with(25, "qk_matmul_output_mode", 4),
              HasSubstr("expected 0 to 3, got 4"));
  EXPECT_THAT(with(25, "softmax_precision", 7),
              HasSubstr("attribute 'softmax_precision': expected FLOAT"));
  EXPECT_THAT(with(25, "softmax_precision", int64_t(1) << 40),
              HasSubstr("attribute 'softmax_precision': expected FLOAT"));
  EXPECT_THAT(with(25, "scale", 1), HasSubstr("or of another type"));
  EXPECT_THAT(with(25, "q_num_heads", 4),
              HasSubstr("expected no attributes 'q_num_heads'"));
  EXPECT_EQ(with(24, "q_num_heads", 4), "");
  EXPECT_THAT(with(24, "q_num_heads", 3),
              HasSubstr("input Q: expected q_num_heads 3, got 4"));
  EXPECT_THAT(with(24, "q_num_heads", 0), HasSubstr("expected at least 1"));
  Model twice;
  setInteger(*twice.node, "is_causal", 1);
  setInteger(*twice.node, "is_causal", 0);
  EXPECT_THAT(errorOf(twice.model), HasSubstr("expected once, got it twice"));
}

TEST(ImportErrors, numbers) {
  auto with = [](const char *name, float value) {
    Model model;
    setFloat(*model.node, name, value);
    return errorOf(model.model);
  };
  float inf = std::numeric_limits<float>::infinity();
  EXPECT_THAT(with("softcap", -1), HasSubstr("attribute 'softcap': expected a "
                                             "finite number of at least 0"));
  EXPECT_THAT(with("softcap", inf), HasSubstr("got inf"));
  EXPECT_THAT(with("scale", inf),
              HasSubstr("attribute 'scale': expected a finite number"));
  EXPECT_THAT(with("scale", std::nanf("")), HasSubstr("nan"));
}

TEST(ImportErrors, operands) {
  auto with = [](int index, int type, const std::vector<int64_t> &sizes) {
    Model model;
    model.retype(index, type, sizes);
    return errorOf(model.model);
  };
  EXPECT_THAT(with(0, f32, {2, 3, 3, 8}),
              HasSubstr("input Q: expected a multiple of the 2 heads of K, got "
                        "3"));
  EXPECT_THAT(with(1, f32, {2, 0, 5, 8}),
              HasSubstr("expected a multiple of the 0 heads"));
  EXPECT_THAT(with(1, f32, {3, 2, 5, 8}),
              HasSubstr("input K: expected batch (from Q) 2, got 3"));
  EXPECT_THAT(with(1, f32, {2, 2, 5, 6}),
              HasSubstr("input K: expected head size (from Q) 8, got 6"));
  EXPECT_THAT(with(2, f32, {2, 4, 5, 8}),
              HasSubstr("input V: expected heads (from K) 2, got 4"));
  EXPECT_THAT(with(2, f32, {2, 2, 6, 8}),
              HasSubstr("input V: expected length (from K) 5, got 6"));
  EXPECT_THAT(with(2, f32, {2, 5, 16}),
              HasSubstr("input V: expected rank 3 or 4, the same"));
  EXPECT_THAT(with(2, onnx::TensorProto::FLOAT16, {2, 2, 5, 8}),
              HasSubstr("input V: expected the type of Q, f32 (others are not "
                        "supported), got f16"));
  EXPECT_THAT(with(0, onnx::TensorProto::INT32, {2, 4, 3, 8}),
              HasSubstr("input Q: expected floats, got i32"));
  EXPECT_THAT(with(0, onnx::TensorProto::STRING, {2, 4, 3, 8}),
              HasSubstr("input 'Q': element type: expected FLOAT"));
  Model missing;
  missing.node->set_input(1, "");
  EXPECT_THAT(errorOf(missing.model),
              HasSubstr("input K: expected one, got none"));
  missing.node->set_input(1, "nobody");
  EXPECT_THAT(errorOf(missing.model), HasSubstr("got 'nobody'"));
}

TEST(ImportErrors, packed_heads) {
  Model model;
  model.retype(0, f32, {2, 3, 32})
      .retype(1, f32, {2, 5, 16})
      .retype(2, f32, {2, 5, 16});
  EXPECT_THAT(errorOf(model.model),
              HasSubstr("expected attributes 'q_num_heads' and "
                        "'kv_num_heads'"));
  setInteger(*model.node, "q_num_heads", 4);
  setInteger(*model.node, "kv_num_heads", 3);
  EXPECT_THAT(errorOf(model.model),
              HasSubstr("input K: expected a last dimension that is a multiple "
                        "of 3 heads, got 16"));
}

TEST(ImportErrors, masks) {
  auto with = [](int64_t opset, int type, const std::vector<int64_t> &sizes) {
    Model model(opset);
    model.extraInput(3, "mask", type, sizes);
    return errorOf(model.model);
  };
  EXPECT_THAT(with(25, f32, {3, 6}),
              HasSubstr("input attn_mask: expected sizes that broadcast to "
                        "2x4x3x5, got 3x6"));
  EXPECT_THAT(with(25, f32, {2, 3, 5}), HasSubstr("got 2x3x5"));
  EXPECT_THAT(with(23, f32, {3, 4}), HasSubstr("got 3x4"));
  EXPECT_EQ(with(24, f32, {3, 4}), "");
  EXPECT_THAT(with(25, f32, {}), HasSubstr("expected rank 1 to 4, got 0"));
  EXPECT_THAT(with(25, f32, {1, 1, 1, 1, 5}), HasSubstr("got 5"));
  EXPECT_THAT(with(25, onnx::TensorProto::UINT8, {5}),
              HasSubstr("input 'mask': element type"));
}

TEST(ImportErrors, caches_and_lengths) {
  Model alone;
  alone.extraInput(4, "past_key", f32, {2, 2, 7, 8});
  EXPECT_THAT(errorOf(alone.model),
              HasSubstr("expected inputs past_key and past_value or neither, "
                        "got past_key alone"));
  alone.extraInput(5, "past_value", f32, {2, 3, 7, 8});
  EXPECT_THAT(errorOf(alone.model),
              HasSubstr("input past_value: expected heads 2, got 3"));
  Model flat;
  flat.extraInput(4, "past_key", f32, {7})
      .extraInput(5, "past_value", f32, {7});
  EXPECT_THAT(errorOf(flat.model),
              HasSubstr("input past_key: expected rank 4 and type f32, got "
                        "7xf32"));
  Model both;
  both.extraInput(4, "past_key", f32, {2, 2, 7, 8})
      .extraInput(5, "past_value", f32, {2, 2, 7, 8})
      .extraInput(6, "n", onnx::TensorProto::INT64, {2});
  EXPECT_THAT(errorOf(both.model),
              HasSubstr("expected input nonpad_kv_seqlen or past_key"));
  Model type;
  type.extraInput(6, "n", onnx::TensorProto::INT32, {2});
  EXPECT_THAT(errorOf(type.model),
              HasSubstr("input nonpad_kv_seqlen: expected rank 1 and type "
                        "i64, got 2xi32"));
  Model count;
  count.extraInput(6, "n", onnx::TensorProto::INT64, {3});
  EXPECT_THAT(errorOf(count.model),
              HasSubstr("input nonpad_kv_seqlen: expected batch (from Q) 2, "
                        "got 3"));
  Model old(23);
  old.extraInput(6, "n", onnx::TensorProto::INT64, {2});
  EXPECT_THAT(errorOf(old.model),
              HasSubstr("expected at most 6 inputs, got 7"));
}

TEST(ImportErrors, graphs) {
  Model twice;
  twice.addInput("Q", f32, {1});
  EXPECT_THAT(errorOf(twice.model),
              HasSubstr("value 'Q': expected one, got it twice"));
  Model output;
  output.model.mutable_graph()->mutable_output(0)->set_name("Z");
  EXPECT_THAT(errorOf(output.model),
              HasSubstr("output 'Z': expected a value of the graph"));
  Model none;
  none.model.mutable_graph()->clear_output();
  EXPECT_THAT(errorOf(none.model), HasSubstr("expected an output"));
  Model negative;
  negative.retype(0, f32, {2, 4, -3, 8});
  EXPECT_THAT(
      errorOf(negative.model),
      HasSubstr("input 'Q': expected sizes of at least 0, or -1 for one "
                "that is not known, got -3"));
  Model huge;
  huge.retype(0, f32, {int64_t(1) << 40, 4, int64_t(1) << 40, 8});
  EXPECT_THAT(errorOf(huge.model), HasSubstr("fit into memory"));
  huge.retype(0, f32, {int64_t(1) << 49, 1, 1, 1});
  EXPECT_THAT(errorOf(huge.model), HasSubstr("fit into memory"));
  Model shapeless;
  shapeless.model.mutable_graph()->mutable_input(0)->clear_type();
  EXPECT_THAT(errorOf(shapeless.model),
              HasSubstr("input 'Q': expected a tensor type with a shape"));
  Model unnamed;
  unnamed.node->set_output(0, "");
  EXPECT_THAT(errorOf(unnamed.model),
              HasSubstr("output Y: expected a name, got none"));
  Model same;
  same.node->add_output("Y");
  EXPECT_THAT(errorOf(same.model),
              HasSubstr("output 'Y': expected once, got it twice"));
  Model wrong;
  auto *declared = wrong.model.mutable_graph()
                       ->mutable_output(0)
                       ->mutable_type()
                       ->mutable_tensor_type();
  declared->set_elem_type(f32);
  declared->mutable_shape()->add_dim()->set_dim_value(2);
  EXPECT_THAT(errorOf(wrong.model),
              HasSubstr("output 'Y': expected 2x4x3x8xf32, got 2xf32"));
  Model external;
  *external.model.mutable_graph()->add_initializer() =
      makeTensor("K", f32, {2, 2, 5, 8}, {});
  external.model.mutable_graph()->mutable_initializer(0)->set_data_location(
      onnx::TensorProto::EXTERNAL);
  EXPECT_THAT(errorOf(external.model),
              HasSubstr("initializer 'K': expected the elements in the file "
                        "itself, got external data"));
  Model sparse;
  sparse.model.mutable_graph()->mutable_input()->RemoveLast();
  sparse.model.mutable_graph()
      ->add_sparse_initializer()
      ->mutable_values()
      ->set_name("V");
  EXPECT_THAT(errorOf(sparse.model), HasSubstr("initializer 'V': expected a "
                                               "dense tensor, got a sparse"));
}

} // namespace
