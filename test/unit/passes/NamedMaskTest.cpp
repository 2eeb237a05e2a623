// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks as people write them, tile by tile over whole sequences: how many tiles
// are skipped and how many run without mask code, against the number that
// looking at every position gives.

#include "MaskFixture.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace ::attn::test;

namespace {

constexpr int64_t kQueryTile = 48, kKeyTile = 64;

struct Counts {
  int64_t skipped = 0, plain = 0, masked = 0;

  void add(ClassValue tile) {
    ++(!tile.canBeTrue ? skipped : !tile.canBeFalse ? plain : masked);
  }
};

struct NamedMask {
  const char *name;
  /// The body of a keep region of (%b, %h, %i, %j), yielding %keep; it may read
  /// %document : tensor<?xi32>.
  const char *body;
  /// The definition. `document` is what the region reads.
  bool (*keeps)(int64_t i, int64_t j, const std::vector<int64_t> &document);
  /// How many of 100 tiles that could be skipped, or plain, may be missed.
  int64_t missed = 0;
};

void PrintTo(const NamedMask &mask, std::ostream *stream) {
  *stream << mask.name;
}

const NamedMask kMasks[] = {
    {"causal", "%keep = arith.cmpi sle, %j, %i : index",
     [](int64_t i, int64_t j, auto &) { return j <= i; }},
    {"difference", R"(
      %d = arith.subi %i, %j : index
      %zero = arith.constant 0 : index
      %keep = arith.cmpi sge, %d, %zero : index)",
     [](int64_t i, int64_t j, auto &) { return j <= i; }},
    {"negation", R"(
      %future = arith.cmpi sgt, %j, %i : index
      %true = arith.constant true
      %keep = arith.xori %future, %true : i1)",
     [](int64_t i, int64_t j, auto &) { return j <= i; }},
    {"selection", R"(
      %future = arith.cmpi sgt, %j, %i : index
      %true = arith.constant true
      %false = arith.constant false
      %keep = arith.select %future, %false, %true : i1)",
     [](int64_t i, int64_t j, auto &) { return j <= i; }},
    {"narrow", R"(
      %i32 = arith.index_cast %i : index to i32
      %j32 = arith.index_cast %j : index to i32
      %keep = arith.cmpi sle, %j32, %i32 : i32)",
     [](int64_t i, int64_t j, auto &) { return j <= i; }},
    {"chunks", R"(
      %size = arith.constant 128 : index
      %ci = arith.divsi %i, %size : index
      %cj = arith.divsi %j, %size : index
      %keep = arith.cmpi eq, %ci, %cj : index)",
     [](int64_t i, int64_t j, auto &) { return i / 128 == j / 128; }},
    {"causal_chunks", R"(
      %size = arith.constant 128 : index
      %ci = arith.floordivsi %i, %size : index
      %cj = arith.floordivsi %j, %size : index
      %same = arith.cmpi eq, %ci, %cj : index
      %past = arith.cmpi sle, %j, %i : index
      %keep = arith.andi %same, %past : i1)",
     [](int64_t i, int64_t j, auto &) { return i / 128 == j / 128 && j <= i; }},
    {"shifted_chunks", R"(
      %seven = arith.constant 7 : index
      %ci = arith.shrui %i, %seven : index
      %cj = arith.shrsi %j, %seven : index
      %keep = arith.cmpi eq, %ci, %cj : index)",
     [](int64_t i, int64_t j, auto &) { return i / 128 == j / 128; }},
    {"rounded_chunks", R"(
      %mask = arith.constant -128 : index
      %ci = arith.andi %i, %mask : index
      %cj = arith.andi %j, %mask : index
      %keep = arith.cmpi eq, %ci, %cj : index)",
     [](int64_t i, int64_t j, auto &) { return i / 128 == j / 128; }},
    {"window", R"(
      %left = arith.constant -200 : index
      %right = arith.constant 70 : index
      %d = arith.subi %j, %i : index
      %above = arith.cmpi sge, %d, %left : index
      %below = arith.cmpi sle, %d, %right : index
      %keep = arith.andi %above, %below : i1)",
     [](int64_t i, int64_t j, auto &) { return j - i >= -200 && j - i <= 70; }},
    {"unsigned_window", R"(
      %left = arith.constant 256 : index
      %d = arith.subi %i, %j : index
      %keep = arith.cmpi ule, %d, %left : index)",
     [](int64_t i, int64_t j, auto &) { return j <= i && i - j <= 256; }},
    {"sum_window", R"(
      %left = arith.constant 256 : index
      %end = arith.addi %j, %left : index
      %near = arith.cmpi sle, %i, %end : index
      %past = arith.cmpi sle, %j, %i : index
      %keep = arith.andi %near, %past : i1)",
     [](int64_t i, int64_t j, auto &) { return j <= i && i <= j + 256; }},
    {"first_keys_and_window", R"(
      %four = arith.constant 4 : index
      %left = arith.constant 130 : index
      %d = arith.subi %i, %j : index
      %near = arith.cmpi sle, %d, %left : index
      %first = arith.cmpi slt, %j, %four : index
      %either = arith.ori %near, %first : i1
      %past = arith.cmpi sle, %j, %i : index
      %keep = arith.andi %either, %past : i1)",
     [](int64_t i, int64_t j, auto &) {
       return j <= i && (i - j <= 130 || j < 4);
     }},
    {"within_a_period", R"(
      %period = arith.constant 512 : index
      %limit = arith.constant 100 : index
      %ri = arith.remui %i, %period : index
      %keep = arith.cmpi slt, %ri, %limit : index)",
     [](int64_t i, int64_t, auto &) { return i % 512 < 100; }},
    {"documents", R"(
      %di = tensor.extract %document[%i] : tensor<?xi32>
      %dj = tensor.extract %document[%j] : tensor<?xi32>
      %keep = arith.cmpi eq, %di, %dj : i32)",
     [](int64_t i, int64_t j, const std::vector<int64_t> &document) {
       return document[i] == document[j];
     },
     /*missed=*/10},
    {"causal_documents", R"(
      %di = tensor.extract %document[%i] : tensor<?xi32>
      %dj = tensor.extract %document[%j] : tensor<?xi32>
      %same = arith.cmpi eq, %di, %dj : i32
      %past = arith.cmpi sle, %j, %i : index
      %keep = arith.andi %same, %past : i1)",
     [](int64_t i, int64_t j, const std::vector<int64_t> &document) {
       return document[i] == document[j] && j <= i;
     },
     /*missed=*/10},
};

class NamedMaskTest : public testing::TestWithParam<NamedMask> {};

} // namespace

/// Fills `block` with the keep region of the function in `text`.
static void cloneKeep(OpBuilder &builder, ModuleOp module, ValueRange captured,
                      Block &block) {
  auto function = *module.getOps<func::FuncOp>().begin();
  mlir::attn::SoftmaxFamilyInterface op;
  function.walk([&](mlir::attn::SoftmaxFamilyInterface found) { op = found; });
  IRMapping mapping;
  mapping.map(function.getArguments().back(), captured.front());
  Block &source = op.getKeep().front();
  mapping.map(source.getArguments(), block.getArguments());
  for (Operation &inner : source)
    builder.clone(inner, mapping);
}

TEST_P(NamedMaskTest, is_classified_as_enumerated) {
  const NamedMask &mask = GetParam();
  MLIRContext context;
  context
      .loadDialect<mlir::attn::AttnDialect, arith::ArithDialect,
                   func::FuncDialect, scf::SCFDialect, tensor::TensorDialect>();
  std::string text = std::string(R"(
    func.func @main(%q: tensor<1x1x?x8xf32>, %document: tensor<?xi32>)
        -> tensor<1x1x?x8xf32> {
      %o = attn.softmax %q, %q, %q align(top_left) keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
    )") + mask.body + R"(
        attn.yield %keep : i1
      } : (tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>)
        -> tensor<1x1x?x8xf32>
      return %o : tensor<1x1x?x8xf32>
    })";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);

  // Documents of uneven lengths that divide nothing.
  constexpr int64_t kLength = 1500;
  IntTensor document{{kLength}, {}};
  for (int64_t i = 0, id = 3, left = 117; i < kLength; ++i, --left) {
    if (left == 0) {
      ++id;
      left = 61 + (id * 97) % 350;
    }
    document.data.push_back(id);
  }
  MaskFixture fixture(
      context,
      [&](OpBuilder &builder, ValueRange captured, Block &block) {
        cloneKeep(builder, *module, captured, block);
      },
      {RankedTensorType::get({ShapedType::kDynamic},
                             IntegerType::get(&context, 32))},
      {document}, kKeyTile);
  EXPECT_EQ(fixture.getUnknownCause(), nullptr);

  Counts said, actual;
  for (int64_t i = 0; i < kLength; i += kQueryTile)
    for (int64_t j = 0; j < kLength; j += kKeyTile) {
      TileBox box{0,
                  {0, 0},
                  {i, std::min(i + kQueryTile, kLength) - 1},
                  {j, std::min(j + kKeyTile, kLength) - 1}};
      ClassValue definition{false, false};
      for (int64_t r = box.i[0]; r <= box.i[1]; ++r)
        for (int64_t t = box.j[0]; t <= box.j[1]; ++t)
          (mask.keeps(r, t, document.data) ? definition.canBeTrue
                                           : definition.canBeFalse) = true;
      said.add(fixture.classify(box));
      actual.add(definition);
    }
  EXPECT_LE(said.skipped, actual.skipped);
  EXPECT_LE(said.plain, actual.plain);
  EXPECT_GE(said.skipped * 100, actual.skipped * (100 - mask.missed));
  EXPECT_GE(said.plain * 100, actual.plain * (100 - mask.missed));
  EXPECT_GT(actual.skipped, 0);
}

INSTANTIATE_TEST_SUITE_P(MaskAnalysis, NamedMaskTest, testing::ValuesIn(kMasks),
                         [](const auto &info) { return info.param.name; });
