// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FlexAttention: graphs of scores and weights, with results worked out by hand.
// With q = 0 the scores are 0.

#include "test/onnx/ModelBuilder.h"

#include "runtime/Engine.h"
#include "tools/attn-run/onnx/Import.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace attn;
using namespace attn::onnxtest;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// One batch entry, head and feature; inputs() has three keys and V = 1, 2, 6.
class FlexBuilder : public ModelBuilder {
public:
  explicit FlexBuilder(int64_t queries, int64_t keys = 3)
      : ModelBuilder(1, "ai.onnx.preview"), queries(queries) {
    addInput("Q", typeNumber(DType::f32), {1, 1, queries, 1});
    addInput("K", typeNumber(DType::f32), {1, 1, keys, 1});
    addInput("V", typeNumber(DType::f32), {1, 1, keys, 1});
    addOutput("Y");
    node = &addNode("FlexAttention", {"Q", "K", "V"}, {"Y"});
  }

  /// A graph from "x" to "y" as attribute `name`.
  void addGraph(const char *name) {
    graph = &setGraph(*node, name);
    graph->set_name(name);
    graph->add_input()->set_name("x");
    graph->add_output()->set_name("y");
  }
  void addConstant(const std::string &name, DType dtype,
                   const std::vector<int64_t> &sizes,
                   const std::vector<double> &elements) {
    *graph->add_initializer() =
        makeTensor(name, typeNumber(dtype), sizes, elements);
  }
  onnx::NodeProto &addOp(const std::string &op,
                         const std::vector<std::string> &inputs,
                         const std::string &output) {
    onnx::NodeProto *added = graph->add_node();
    added->set_op_type(op);
    for (const std::string &input : inputs)
      added->add_input(input);
    added->add_output(output);
    return *added;
  }
  /// i or j as integers of the shape of the scores: "i" and "j".
  void addIndices() {
    addConstant("zero", DType::i64, {}, {0});
    addConstant("one", DType::i64, {}, {1});
    addConstant("two", DType::i64, {}, {2});
    addConstant("three", DType::i64, {}, {3});
    addConstant("column", DType::i64, {2}, {-1, 1});
    addOp("Shape", {"x"}, "shape");
    addOp("Gather", {"shape", "two"}, "rows");
    addOp("Gather", {"shape", "three"}, "keys");
    addOp("Range", {"zero", "rows", "one"}, "row_range");
    addOp("Reshape", {"row_range", "column"}, "i");
    addOp("Range", {"zero", "keys", "one"}, "j");
  }

  Tensors inputs() const {
    Tensors tensors;
    tensors.emplace("Q", tensorOf(DType::f32, {1, 1, queries, 1}, {0}));
    tensors.emplace("K", tensorOf(DType::f32, {1, 1, 3, 1}, {1}));
    tensors.emplace("V", tensorOf(DType::f32, {1, 1, 3, 1}, {1, 2, 6}));
    return tensors;
  }

  onnx::NodeProto *node;
  onnx::GraphProto *graph = nullptr;

private:
  int64_t queries;
};

class FlexAttention : public testing::TestWithParam<const char *> {
protected:
  std::vector<double> call(const FlexBuilder &builder) {
    return call(builder, builder.inputs());
  }
  std::vector<double> call(const FlexBuilder &builder, const Tensors &inputs) {
    Result<Tensors> got = callModel(builder.model, inputs, GetParam());
    EXPECT_TRUE(got.ok()) << got.error().message;
    return got ? elementsOf(got->at("Y")) : std::vector<double>{};
  }
};

std::string textOf(const FlexBuilder &builder) {
  auto function = importer::importModel(builder.model);
  return function ? function->text : function.error().message;
}

TEST_P(FlexAttention, a_mask_is_a_keep_region) {
  FlexBuilder builder(3);
  builder.addGraph("score_mod");
  builder.addIndices();
  builder.addConstant("masked", DType::f32, {}, {-infinity});
  builder.addOp("GreaterOrEqual", {"i", "j"}, "kept");
  builder.addOp("Where", {"kept", "x", "masked"}, "y");
  EXPECT_THAT(textOf(builder), HasSubstr("keep {"));
  EXPECT_THAT(textOf(builder), testing::Not(HasSubstr("score {")));
  EXPECT_THAT(call(builder), ElementsAre(1, 1.5, 3));
}

/// Of 600 keys for one query, tiles behind the first are never looked at.
TEST(FlexAttentionTiles, a_mask_skips_tiles) {
  FlexBuilder builder(1, 600);
  builder.addGraph("score_mod");
  builder.addIndices();
  builder.addConstant("masked", DType::f32, {}, {-infinity});
  builder.addOp("GreaterOrEqual", {"i", "j"}, "kept");
  builder.addOp("Where", {"kept", "x", "masked"}, "y");
  EngineOptions options;
  options.countTiles = true;
  Result<Program> program = Engine(options).compileText(textOf(builder));
  ASSERT_TRUE(program.ok()) << program.error().message;
  Tensor query = tensorOf(DType::f32, {1, 1, 1, 1}, {0});
  Tensor keys = tensorOf(DType::f32, {1, 1, 600, 1}, {1});
  auto tiles = program->tiles("main", {query.view(), keys.view(), keys.view()});
  ASSERT_TRUE(tiles.ok()) << tiles.error().message;
  EXPECT_GT((*tiles)[0], 0);
  EXPECT_EQ((*tiles)[1], 0);
  EXPECT_EQ((*tiles)[2], 1);
}

TEST_P(FlexAttention, a_mask_may_name_what_it_hides) {
  FlexBuilder builder(3);
  builder.addGraph("score_mod");
  builder.addIndices();
  builder.addConstant("masked", DType::f32, {}, {-infinity});
  builder.addOp("Less", {"i", "j"}, "hidden");
  builder.addOp("Where", {"hidden", "masked", "x"}, "y");
  EXPECT_THAT(call(builder), ElementsAre(1, 1.5, 3));
}

/// A row without a key is 0, as everywhere.
TEST_P(FlexAttention, a_mask_of_everything_gives_0) {
  FlexBuilder builder(1);
  builder.addGraph("score_mod");
  builder.addConstant("masked", DType::f32, {}, {-infinity});
  builder.addOp("Add", {"x", "masked"}, "y");
  EXPECT_THAT(call(builder), ElementsAre(0));
}

/// 0, 2 and 4 are below 5: the last step ends beyond it.
TEST_P(FlexAttention, a_range_ends_below_its_limit) {
  FlexBuilder builder(1);
  builder.addGraph("score_mod");
  builder.addConstant("start", DType::i64, {}, {0});
  builder.addConstant("limit", DType::i64, {}, {5});
  builder.addConstant("delta", DType::i64, {}, {2});
  builder.addConstant("masked", DType::f32, {}, {-infinity});
  builder.addOp("Range", {"start", "limit", "delta"}, "even");
  builder.addOp("Less", {"even", "delta"}, "first");
  builder.addOp("Where", {"first", "x", "masked"}, "y");
  EXPECT_THAT(call(builder), ElementsAre(1));
}

TEST_P(FlexAttention, a_maximum_has_any_number_of_operands) {
  FlexBuilder builder(1);
  builder.addGraph("score_mod");
  builder.addConstant("low", DType::f32, {}, {-1});
  builder.addConstant("high", DType::f32, {3}, {-2, -2, 50});
  builder.addOp("Max", {"x", "low", "high"}, "y");
  EXPECT_THAT(call(builder), ElementsAre(DoubleNear(6, 1e-5)));
}

/// A 0 in a Reshape is the size that stands at its place.
TEST_P(FlexAttention, a_size_of_0_is_kept) {
  FlexBuilder builder(1);
  builder.addGraph("score_mod");
  builder.addConstant("bias", DType::f32, {1, 3}, {0, 0, -infinity});
  builder.addConstant("same", DType::i64, {2}, {1, 0});
  builder.addOp("Reshape", {"bias", "same"}, "row");
  builder.addOp("Add", {"x", "row"}, "y");
  EXPECT_THAT(call(builder), ElementsAre(1.5));
}

/// As a boolean, every score but 0 is true, also NaN: what is hidden are the
/// first key, whose score is NaN, and the last one.
TEST_P(FlexAttention, scores_are_conditions) {
  FlexBuilder builder(1);
  builder.addGraph("score_mod");
  builder.addConstant("masked", DType::f32, {}, {-infinity});
  setInteger(builder.addOp("Cast", {"x"}, "hidden"), "to",
             typeNumber(DType::i1));
  builder.addOp("Where", {"hidden", "masked", "x"}, "y");
  Tensors inputs = builder.inputs();
  inputs.at("Q").set(0, 1);
  inputs.at("K").set(0, std::nan(""));
  inputs.at("K").set(1, 0);
  EXPECT_THAT(call(builder, inputs), ElementsAre(2));
}

/// Scores ln(2) (i - j): the weights of row 1 are 2, 1 and 1/2.
TEST_P(FlexAttention, positions_are_numbers) {
  FlexBuilder builder(2);
  builder.addGraph("score_mod");
  builder.addIndices();
  builder.addConstant("slope", DType::f32, {1}, {std::log(2.0)});
  builder.addOp("Sub", {"i", "j"}, "distance");
  setInteger(builder.addOp("Cast", {"distance"}, "number"), "to",
             typeNumber(DType::f32));
  builder.addOp("Mul", {"number", "slope"}, "bias");
  builder.addOp("Add", {"bias", "x"}, "y");
  double row = (4 * 1 + 2 * 2 + 6) / 7.0;
  EXPECT_THAT(call(builder),
              ElementsAre(DoubleNear(row, 1e-5), DoubleNear(row, 1e-5)));
}

/// Keys of the parity of the row, by ONNX's Mod.
TEST_P(FlexAttention, logic_on_integers) {
  FlexBuilder builder(2);
  builder.addGraph("score_mod");
  builder.addIndices();
  builder.addConstant("masked", DType::f32, {1, 1, 1, 1}, {-infinity});
  builder.addOp("Sub", {"i", "j"}, "distance");
  builder.addOp("Mod", {"distance", "two"}, "parity");
  builder.addOp("Equal", {"parity", "one"}, "odd");
  builder.addOp("Not", {"odd"}, "even");
  builder.addOp("Where", {"even", "x", "masked"}, "y");
  EXPECT_THAT(call(builder), ElementsAre(3.5, 2));
}

/// No float of 64 bits is one of these integers.
TEST_P(FlexAttention, integers_are_exact) {
  FlexBuilder builder(1);
  builder.addGraph("score_mod");
  for (int n : {1, 2}) {
    onnx::TensorProto *proto = builder.graph->add_initializer();
    proto->set_name("n" + std::to_string(n));
    proto->set_data_type(onnx::TensorProto::INT64);
    proto->add_int64_data((int64_t(1) << 62) + n);
  }
  builder.addConstant("masked", DType::f32, {}, {-infinity});
  builder.addOp("Less", {"n1", "n2"}, "kept");
  builder.addOp("Where", {"kept", "x", "masked"}, "y");
  EXPECT_THAT(call(builder), ElementsAre(3));
}

/// Ids of documents: short lists of integers, and longer ones.
TEST_P(FlexAttention, lists_of_integers_are_tensors) {
  for (const std::vector<int64_t> &sizes :
       {std::vector<int64_t>{3}, std::vector<int64_t>{1, 3}}) {
    FlexBuilder builder(1);
    builder.addGraph("score_mod");
    builder.addConstant("masked", DType::f32, {}, {-infinity});
    builder.addConstant("ids", DType::i32, sizes, {4, 7, 4});
    builder.addConstant("id", DType::i64, {}, {4});
    builder.addOp("Equal", {"ids", "id"}, "kept");
    builder.addOp("Where", {"kept", "x", "masked"}, "y");
    EXPECT_THAT(call(builder), ElementsAre(3.5));
  }
}

/// A tensor of the graph around, and one of the graph's own.
TEST_P(FlexAttention, tensors_are_read_where_they_broadcast) {
  FlexBuilder builder(2);
  builder.addInput("bias", typeNumber(DType::f32), {2, 1});
  builder.addGraph("score_mod");
  builder.addConstant("keys", DType::f32, {3}, {0, 0, -infinity});
  builder.addOp("Add", {"x", "bias"}, "biased");
  builder.addOp("Add", {"biased", "keys"}, "y");
  Tensors inputs = builder.inputs();
  inputs.emplace("bias", tensorOf(DType::f32, {2, 1}, {0, -infinity}));
  EXPECT_THAT(call(builder, inputs), ElementsAre(1.5, 0));
}

/// Squares, 70 of each other: written once each.
TEST_P(FlexAttention, shared_values_are_written_once) {
  FlexBuilder builder(1);
  builder.addGraph("score_mod");
  std::string last = "x";
  for (int n = 0; n < 70; ++n) {
    std::string next = n == 69 ? "y" : "x" + std::to_string(n);
    builder.addOp("Mul", {last, last}, next);
    last = next;
  }
  EXPECT_LT(textOf(builder).size(), 20000u);
  EXPECT_THAT(call(builder), ElementsAre(3));
}

TEST_P(FlexAttention, weights_are_mapped_after_their_normalisation) {
  FlexBuilder builder(1);
  builder.addGraph("score_mod");
  builder.addConstant("masked", DType::f32, {}, {-infinity});
  builder.addIndices();
  builder.addOp("Equal", {"j", "one"}, "hidden");
  builder.addOp("Where", {"hidden", "masked", "x"}, "y");
  builder.addGraph("prob_mod");
  // p -> p + 1, also for the key that is masked.
  builder.addConstant("one", DType::f32, {}, {1});
  builder.addOp("Add", {"x", "one"}, "y");
  EXPECT_THAT(call(builder), ElementsAre(DoubleNear(1.5 + 2 + 9, 1e-5)));
}

TEST(FlexAttentionErrors, what_is_not_supported_is_named) {
  FlexBuilder builder(1);
  builder.addGraph("score_mod");
  builder.addOp("Softmax", {"x"}, "y");
  EXPECT_THAT(textOf(builder), HasSubstr("operator 'Softmax' is not supported "
                                         "in a graph of scores"));
}

TEST(FlexAttention, initializers_that_nothing_uses_are_skipped) {
  FlexBuilder builder(1);
  builder.addGraph("score_mod");
  onnx::TensorProto *unused = builder.graph->add_initializer();
  unused->set_name("label");
  unused->set_data_type(onnx::TensorProto::STRING);
  // Of the graph around, what only a graph of scores reads is used.
  builder.model.mutable_graph()->clear_initializer();
  *builder.model.mutable_graph()->add_initializer() =
      makeTensor("shift", onnx::TensorProto::FLOAT, {}, {0.25});
  builder.addOp("Add", {"x", "shift"}, "y");
  EXPECT_THAT(textOf(builder), HasSubstr("arith.addf"));
}

TEST(FlexAttentionErrors, bounds_of_a_range) {
  auto with = [](int64_t start, int64_t step) {
    FlexBuilder builder(1);
    builder.addGraph("score_mod");
    for (auto [name, value] : {std::pair<const char *, int64_t>{"start", start},
                               {"limit", 3},
                               {"step", step}}) {
      onnx::TensorProto *proto = builder.graph->add_initializer();
      proto->set_name(name);
      proto->set_data_type(onnx::TensorProto::INT64);
      proto->add_int64_data(value);
    }
    builder.addOp("Range", {"start", "limit", "step"}, "y");
    return textOf(builder);
  };
  EXPECT_THAT(with(std::numeric_limits<int64_t>::min(), 1),
              HasSubstr("expected bounds of at most 2^40, got "
                        "-9223372036854775808"));
  EXPECT_THAT(with(0, 0), HasSubstr("expected a step that is not 0"));
}

TEST(FlexAttentionErrors, unknown_values_are_named) {
  FlexBuilder builder(1);
  builder.addGraph("score_mod");
  builder.addOp("Add", {"x", "nobody"}, "y");
  EXPECT_THAT(textOf(builder),
              HasSubstr("expected a value of graph 'score_mod' or of the one "
                        "around it, got 'nobody'"));
}

TEST(FlexAttentionErrors, the_output_is_a_score_for_each_score) {
  FlexBuilder builder(2);
  builder.addGraph("score_mod");
  builder.addConstant("y", DType::f32, {1, 1, 2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(textOf(builder),
              HasSubstr("output 'y': expected sizes 1x1x2x3, got 1x1x2x2"));
  FlexBuilder flat(1);
  flat.addGraph("score_mod");
  flat.addConstant("y", DType::f32, {1}, {1});
  EXPECT_THAT(textOf(flat),
              HasSubstr("expected an output of floats of rank 4, 'y'"));
}

TEST(FlexAttentionErrors, types_and_sizes_have_to_agree) {
  FlexBuilder builder(1);
  builder.addGraph("score_mod");
  builder.addConstant("n", DType::i64, {}, {1});
  builder.addOp("Add", {"x", "n"}, "y");
  EXPECT_THAT(textOf(builder),
              HasSubstr("expected inputs of one type, got f32 and i64"));
  FlexBuilder sizes(1);
  sizes.addGraph("score_mod");
  sizes.addConstant("c", DType::f32, {2}, {1, 2});
  sizes.addOp("Add", {"x", "c"}, "y");
  EXPECT_THAT(textOf(sizes), HasSubstr("expected sizes that broadcast"));
}

INSTANTIATE_TEST_SUITE_P(Devices, FlexAttention,
                         testing::Values("cpu", "reference"),
                         [](const auto &info) { return info.param; });

} // namespace
