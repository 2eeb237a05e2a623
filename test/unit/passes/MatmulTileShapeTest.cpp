// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many tiles a matrix product has for a number of threads.

#include "passes/tile/MatmulTileShape.h"

#include "dialect/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::attn;

namespace {

/// C of rows by columns, `batch` times, each the sum of `depth` products.
struct Product {
  int64_t batch, rows, columns, depth;
};

struct Steps {
  int64_t rows, columns;
};

class MatmulTiles : public testing::TestWithParam<const char *> {
protected:
  MatmulTiles() {
    context.loadDialect<AttnDialect, arith::ArithDialect, func::FuncDialect>();
  }

  MLIRContext context;
  const TargetInfo &target = *lookupTarget(GetParam());

  MatmulTileShape getShape(const Product &p, bool isDynamic) {
    int64_t unknown = ShapedType::kDynamic;
    return chooseMatmulTileShape(
        isDynamic ? unknown : p.rows, isDynamic ? unknown : p.columns,
        target.lanes(Float32Type::get(&context)), target);
  }

  /// The steps that a call with `workers` threads takes: what is emitted is
  /// folded, with the sizes in the place of arguments.
  Steps getSteps(const Product &p, int64_t workers, bool isDynamic) {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    builder.setInsertionPointToStart(module->getBody());
    SmallVector<Type> types(4, builder.getIndexType());
    auto function = func::FuncOp::create(
        builder, loc, "f",
        builder.getFunctionType(types, {types[0], types[0]}));
    Block *body = function.addEntryBlock();
    builder.setInsertionPointToStart(body);
    SmallVector<int64_t> all{p.batch, p.rows, p.columns, p.depth};
    SmallVector<OpFoldResult> sizes;
    for (auto [argument, size] : llvm::zip(body->getArguments(), all))
      sizes.push_back(isDynamic ? OpFoldResult(argument)
                                : OpFoldResult(builder.getIndexAttr(size)));
    MatmulSteps steps =
        emitMatmulSteps(builder, loc, getShape(p, isDynamic),
                        {ArrayRef(sizes).drop_back(), sizes.back()});
    auto get = [&](OpFoldResult step) {
      if (auto value = dyn_cast<Value>(step))
        return value;
      return arith::ConstantIndexOp::create(builder, loc,
                                            *getConstantIntValue(step))
          .getResult();
    };
    auto end = func::ReturnOp::create(
        builder, loc, ValueRange{get(steps.rows), get(steps.columns)});
    builder.setInsertionPointToStart(body);
    for (auto [argument, size] : llvm::zip(body->getArguments(), all))
      argument.replaceAllUsesWith(
          arith::ConstantIndexOp::create(builder, loc, size));
    module->walk([&](NumWorkersOp op) {
      op.replaceAllUsesWith(
          arith::ConstantIndexOp::create(builder, loc, workers).getResult());
    });
    EXPECT_TRUE(succeeded(applyPatternsGreedily(*module, {})));
    auto read = [&](unsigned k) {
      return getConstantIntValue(end.getOperand(k)).value_or(-1);
    };
    return {read(0), read(1)};
  }

  static int64_t countTiles(const Product &p, const Steps &steps) {
    return p.batch * llvm::divideCeil(p.rows, steps.rows) *
           llvm::divideCeil(p.columns, steps.columns);
  }
};

const Product kProducts[] = {
    {1, 256, 512, 512},   {1, 256, 128, 4096}, {1, 512, 128, 4096},
    {1, 2048, 128, 4096}, {1, 1024, 1024, 64}, {1, 1000, 700, 960},
    {1, 4096, 64, 64},    {1, 64, 4096, 64},   {1, 5, 4099, 701},
    {1, 1, 4096, 4096},   {1, 4096, 1, 4096},  {1, 1, 1, 5000000},
    {3, 77, 91, 1024},    {12, 64, 64, 64},    {2, 300, 48, 3000},
    {1, 64, 64, 64},      {1, 0, 128, 64},     {0, 128, 128, 128},
    {1, 128, 128, 0},     {1, 16, 4096, 4096}, {1, 4096, 4096, 512},
};

// A call has a tile for every thread, as far as there is work of 2^19
// multiplications for each, and blocks of rows and panels of columns to cut.
TEST_P(MatmulTiles, are_enough_for_all_threads) {
  for (bool isDynamic : {false, true})
    for (const Product &p : kProducts)
      for (int64_t workers : {1, 2, 3, 8, 16, 64, 200}) {
        MatmulTileShape shape = getShape(p, isDynamic);
        Steps steps = getSteps(p, workers, isDynamic);
        SCOPED_TRACE(testing::Message()
                     << p.batch << " x " << p.rows << " x " << p.columns
                     << " x " << p.depth << ", " << workers << " threads"
                     << (isDynamic ? ", dynamic" : "") << ": " << steps.rows
                     << " by " << steps.columns);
        ASSERT_GT(steps.rows, 0);
        ASSERT_GT(steps.columns, 0);
        EXPECT_EQ(steps.rows % shape.blockRows, 0);
        EXPECT_EQ(steps.columns % shape.panel, 0);
        EXPECT_LE(steps.rows, shape.rows);
        EXPECT_LE(steps.columns, p.rows <= shape.fewRows
                                     ? shape.columnsOfFewRows
                                     : shape.columns);
        int64_t work = p.rows * p.columns * p.depth;
        int64_t blocks = llvm::divideCeil(p.rows, shape.blockRows) *
                         llvm::divideCeil(p.columns, shape.panel);
        int64_t expected = std::min(
            workers,
            p.batch * std::min(std::max(work >> 19, int64_t(1)), blocks));
        EXPECT_GE(countTiles(p, steps), expected);
      }
}

// Where a thread is alone, or the tiles are as many for each anyway, they are
// the largest.
TEST_P(MatmulTiles, are_no_smaller_than_they_must_be) {
  for (const Product &p : kProducts) {
    Steps alone = getSteps(p, 1, /*isDynamic=*/true);
    MatmulTileShape shape = getShape(p, /*isDynamic=*/true);
    // One more row or column would need another block than divides them evenly.
    int64_t tiles = std::max<int64_t>(llvm::divideCeil(p.rows, shape.rows), 1);
    EXPECT_EQ(alone.rows,
              std::max(llvm::alignTo(llvm::divideCeil(p.rows, tiles),
                                     shape.blockRows),
                       uint64_t(shape.blockRows)));
    if (p.batch != 0 && countTiles(p, alone) % 4 == 0) {
      Steps four = getSteps(p, 4, /*isDynamic=*/true);
      EXPECT_EQ(four.rows, alone.rows);
      EXPECT_EQ(four.columns, alone.columns);
    }
  }
}

// What packs a panel of B multiplies it by 128 rows, unless threads would have
// no work.
TEST_P(MatmulTiles, of_few_rows_are_for_many_threads) {
  Product tall{1, 512, 128, 4096};
  EXPECT_GE(getSteps(tall, 3, /*isDynamic=*/false).rows, 128);
  Steps many = getSteps(tall, 200, /*isDynamic=*/false);
  EXPECT_LT(many.rows, 128);
  EXPECT_GE(countTiles(tall, many), 200);
}

INSTANTIATE_TEST_SUITE_P(Targets, MatmulTiles,
                         testing::Values("cpu:generic", "cpu:avx2",
                                         "cpu:avx512", "cpu:amx"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param).substr(4);
                         });

} // namespace
