// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The classifier against masks enumerated position by position: it never
// denies what some position does, for random masks over every allowed
// operation; and the masks that people write are classified exactly.

#include "MaskFixture.h"
#include "RandomRegion.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace ::attn::test;

namespace {

class MaskAnalysis : public testing::Test {
protected:
  MaskAnalysis() {
    context.loadDialect<mlir::attn::AttnDialect, arith::ArithDialect,
                        func::FuncDialect, math::MathDialect, scf::SCFDialect,
                        tensor::TensorDialect>();
  }

  /// A random box of few positions, sometimes at the limits of integers.
  TileBox getRandomBox(std::mt19937_64 &random) {
    auto below = [&](int64_t bound) {
      return static_cast<int64_t>(random() % bound);
    };
    auto position = [&](int64_t count) -> std::array<int64_t, 2> {
      static constexpr int64_t kFar[] = {
          std::numeric_limits<int32_t>::max() - int64_t(3),
          std::numeric_limits<int32_t>::min() - int64_t(2),
          std::numeric_limits<int64_t>::max() - 9,
          std::numeric_limits<int64_t>::max() - 2,
          std::numeric_limits<int64_t>::min(),
          int64_t(1) << 40,
          -9};
      int64_t lo = below(4) == 0 ? kFar[below(std::size(kFar))] : below(20);
      // The end may wrap, as that of a tile does far out.
      return {lo, static_cast<int64_t>(static_cast<uint64_t>(lo) +
                                       static_cast<uint64_t>(below(count)))};
    };
    TileBox box{below(2), {0, 0}, position(6), position(6)};
    box.h[0] = below(4);
    box.h[1] = box.h[0] + below(3);
    return box;
  }

  MLIRContext context;
};

/// The tensors that random masks read.
struct RandomTensors {
  SmallVector<Type> types;
  SmallVector<IntTensor> values;

  RandomTensors(MLIRContext &context, std::mt19937_64 &random) {
    Builder builder(&context);
    int64_t dynamic = ShapedType::kDynamic;
    auto add = [&](ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes, Type type,
                   int64_t range) {
      types.push_back(RankedTensorType::get(shape, type));
      IntTensor tensor{std::vector<int64_t>(sizes), {}};
      int64_t count = 1;
      for (int64_t size : sizes)
        count *= size;
      for (int64_t i = 0; i < count; ++i)
        tensor.data.push_back(
            type.isInteger(1)
                ? -static_cast<int64_t>(random() % 2)
                : i / 3 + static_cast<int64_t>(random() % (2 * range)) - range);
      values.push_back(std::move(tensor));
    };
    add({23}, {23}, builder.getI32Type(), 2);
    add({dynamic}, {17}, builder.getI64Type(), 3);
    add({2, dynamic}, {2, 19}, builder.getI8Type(), 4);
    add({dynamic, 3}, {5, 3}, builder.getIndexType(), 9);
    add({9}, {9}, builder.getI1Type(), 1);
    add({}, {}, builder.getI64Type(), 5);
  }
};

} // namespace

/// Sees the positions of a tile against what is said of it.
static bool isSound(ClassValue actual, ClassValue said) {
  return (!actual.canBeTrue || said.canBeTrue) &&
         (!actual.canBeFalse || said.canBeFalse);
}

TEST_F(MaskAnalysis, random_masks_are_never_denied_what_they_do) {
  unsigned decided = 0, total = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    std::mt19937_64 random(seed);
    RandomTensors tensors(context, random);
    unsigned numOps = 2 + random() % 14;
    MaskFixture mask(
        context,
        [&](OpBuilder &builder, ValueRange captured, Block &block) {
          RandomRegion(builder, captured, seed).build(block, numOps);
        },
        tensors.types, tensors.values, /*blockSize=*/1 + random() % 12);
    for (unsigned n = 0; n < 12; ++n) {
      TileBox box = getRandomBox(random);
      ClassValue said = mask.classify(box), actual = mask.enumerate(box);
      ASSERT_TRUE(isSound(actual, said))
          << "seed " << seed << ", b " << box.b << ", h " << box.h[0] << ".."
          << box.h[1] << ", i " << box.i[0] << ".." << box.i[1] << ", j "
          << box.j[0] << ".." << box.j[1] << "\n"
          << mask.print();
      ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n" << mask.print();
      ++total;
      decided += !said.canBeTrue || !said.canBeFalse;
    }
  }
  // Not by saying that anything may happen.
  EXPECT_GT(decided, total / 3);
}

TEST_F(MaskAnalysis, a_wrong_class_is_noticed) {
  MaskFixture causal(context, [](OpBuilder &builder, ValueRange, Block &block) {
    Location loc = builder.getUnknownLoc();
    Value keep =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                              block.getArgument(3), block.getArgument(2));
    mlir::attn::YieldOp::create(builder, loc, keep);
  });
  // Crosses the diagonal: neither answer may be denied.
  ClassValue actual = causal.enumerate({0, {0, 0}, {4, 7}, {4, 7}});
  EXPECT_TRUE(isSound(actual, {true, true}));
  EXPECT_FALSE(isSound(actual, {true, false}));
  EXPECT_FALSE(isSound(actual, {false, true}));
}

TEST_F(MaskAnalysis, narrow_lanes_compute_the_same_where_they_are_said_to) {
  unsigned narrow = 0, total = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    RandomTensors tensors(context, random);
    unsigned numOps = 1 + random() % 10;
    MaskFixture mask(
        context,
        [&](OpBuilder &builder, ValueRange captured, Block &block) {
          RandomRegion(builder, captured, seed).build(block, numOps);
        },
        tensors.types, tensors.values, /*blockSize=*/0);
    for (unsigned n = 0; n < 6; ++n) {
      TileBox box = getRandomBox(random);
      ++total;
      if (!mask.fitsInt32(box))
        continue;
      ++narrow;
      for (int64_t h = box.h[0]; h <= box.h[1]; ++h)
        for (int64_t i = box.i[0]; i <= box.i[1]; ++i)
          for (int64_t j = box.j[0]; j <= box.j[1]; ++j)
            if (std::optional<bool> wide = mask.keeps(box.b, h, i, j)) {
              ASSERT_EQ(mask.keeps(box.b, h, i, j, /*wideWidth=*/32), wide)
                  << "seed " << seed << ", b " << box.b << ", h " << h << ", i "
                  << i << ", j " << j << "\n"
                  << mask.print();
            }
    }
  }
  EXPECT_GT(narrow, total / 6);
}
