// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rule of integer arithmetic on its own: no value of an operation on two
// ranges is outside the range that the emitted code gives, and where 32 bits
// are said to do, they give the same value.

#include "Interpreter.h"

#include "dialect/Attn.h"
#include "passes/analysis/RangeEvaluator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace ::attn::test;

namespace {

using CreateOp = Value (*)(OpBuilder &, Location, Value x, Value y);

template <typename OpTy>
Value createBinary(OpBuilder &builder, Location loc, Value x, Value y) {
  return OpTy::create(builder, loc, x, y);
}

Value createAbs(OpBuilder &builder, Location loc, Value x, Value) {
  return math::AbsIOp::create(builder, loc, x);
}

/// x, cut to half its bits and extended again.
template <typename ExtendOpTy>
Value createRoundTrip(OpBuilder &builder, Location loc, Value x, Value) {
  Type narrow = builder.getIntegerType(x.getType().getIntOrFloatBitWidth() / 2);
  return ExtendOpTy::create(builder, loc, x.getType(),
                            arith::TruncIOp::create(builder, loc, narrow, x));
}

/// x < y ? x : y - 1, whose condition varies.
Value createSelect(OpBuilder &builder, Location loc, Value x, Value y) {
  Value less =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, x, y);
  Value one = arith::ConstantIntOp::create(builder, loc, y.getType(), 1);
  Value other = arith::SubIOp::create(builder, loc, y, one);
  return arith::SelectOp::create(builder, loc, less, x, other);
}

struct Rule {
  const char *name;
  CreateOp create;
};

const Rule kRules[] = {
    {"addi", createBinary<arith::AddIOp>},
    {"subi", createBinary<arith::SubIOp>},
    {"muli", createBinary<arith::MulIOp>},
    {"divsi", createBinary<arith::DivSIOp>},
    {"floordivsi", createBinary<arith::FloorDivSIOp>},
    {"ceildivsi", createBinary<arith::CeilDivSIOp>},
    {"remsi", createBinary<arith::RemSIOp>},
    {"divui", createBinary<arith::DivUIOp>},
    {"ceildivui", createBinary<arith::CeilDivUIOp>},
    {"remui", createBinary<arith::RemUIOp>},
    {"minsi", createBinary<arith::MinSIOp>},
    {"maxsi", createBinary<arith::MaxSIOp>},
    {"minui", createBinary<arith::MinUIOp>},
    {"maxui", createBinary<arith::MaxUIOp>},
    {"shli", createBinary<arith::ShLIOp>},
    {"shrsi", createBinary<arith::ShRSIOp>},
    {"shrui", createBinary<arith::ShRUIOp>},
    {"andi", createBinary<arith::AndIOp>},
    {"ori", createBinary<arith::OrIOp>},
    {"xori", createBinary<arith::XOrIOp>},
    {"absi", createAbs},
    {"extsi", createRoundTrip<arith::ExtSIOp>},
    {"extui", createRoundTrip<arith::ExtUIOp>},
    {"select", createSelect},
};

void PrintTo(const Rule &rule, std::ostream *stream) { *stream << rule.name; }

/// What y is: as many values as x, or one for the whole tile, or a number that
/// the rules may look at when they are emitted.
/// In Point, x is one number too.
enum class Second { Range, Exact, Constant, Point };

class IntervalRules : public testing::TestWithParam<Rule> {
protected:
  IntervalRules() {
    context.loadDialect<mlir::attn::AttnDialect, arith::ArithDialect,
                        func::FuncDialect, math::MathDialect>();
  }

  void check(unsigned width, Second second, int64_t constant,
             std::mt19937_64 &random, unsigned numBoxes);

  MLIRContext context;
  /// Boxes on which 32 bits were said to do.
  unsigned numNarrow = 0;
};

} // namespace

/// A number of `width` bits: small, or near a limit or a power of two.
static int64_t pickNumber(std::mt19937_64 &random, unsigned width) {
  int64_t near = static_cast<int64_t>(random() % 9) - 4;
  switch (random() % 7) {
  case 0:
    return near;
  case 2:
    return -1;
  case 4:
    return width < 32 ? near : std::numeric_limits<int32_t>::min();
  case 3:
    return std::numeric_limits<int64_t>::min() >> (64 - width);
  case 1:
    return static_cast<int64_t>(random()) >> (64 - width);
  default: {
    uint64_t power = 1ull << (random() % width);
    uint64_t value = (random() % 2 ? power : 0 - power) + near;
    return static_cast<int64_t>(value << (64 - width)) >> (64 - width);
  }
  }
}

static std::array<int64_t, 2> pickRange(std::mt19937_64 &random,
                                        unsigned width) {
  int64_t greatest = std::numeric_limits<int64_t>::max() >> (64 - width);
  int64_t lo = pickNumber(random, width);
  int64_t count = random() % 7;
  return {lo, greatest - count < lo ? greatest : lo + count};
}

void IntervalRules::check(unsigned width, Second second, int64_t constant,
                          std::mt19937_64 &random, unsigned numBoxes) {
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  Type index = builder.getIndexType(), type = builder.getIntegerType(width);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(
      builder, loc, "range",
      builder.getFunctionType({index, index, index, index}, {}));
  Block *code = function.addEntryBlock();

  // (b, h, i, j) -> x and y are i and j.
  Region region;
  Block *block = builder.createBlock(&region, {}, {index, index, index, index},
                                     {loc, loc, loc, loc});
  builder.setInsertionPointToStart(block);
  auto narrow = [&](Value value) {
    return arith::IndexCastOp::create(builder, loc, type, value);
  };
  Value x = narrow(block->getArgument(2));
  Value y = second == Second::Constant
                ? arith::ConstantIntOp::create(builder, loc, type, constant)
                      .getResult()
                : narrow(block->getArgument(3));
  Value result = GetParam().create(builder, loc, x, y);
  Value keep = arith::ConstantIntOp::create(builder, loc, 1, 1);
  mlir::attn::YieldOp::create(builder, loc, keep);

  builder.setInsertionPointToStart(code);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value yLo = code->getArgument(2);
  Value yHi = second == Second::Range ? Value(code->getArgument(3)) : yLo;
  Value xHi = code->getArgument(second == Second::Point ? 0 : 1);
  mlir::attn::TileRanges ranges{zero, zero, zero, code->getArgument(0),
                                xHi,  yLo,  yHi};
  mlir::attn::RangeEvaluator evaluator(builder, loc, nullptr);
  evaluator.evaluate(*block, ranges);
  mlir::attn::Interval range = evaluator.getInterval(result);
  Value fits = mlir::attn::emitFitsInt32(builder, loc, *block, ranges);
  func::ReturnOp::create(builder, loc);

  for (unsigned n = 0; n < numBoxes; ++n) {
    auto xs = pickRange(random, width), ys = pickRange(random, width);
    if (second != Second::Range)
      ys[1] = ys[0];
    if (second == Second::Point)
      xs[1] = xs[0];
    Interpreter emitted({64, /*strict=*/true});
    for (auto [argument, value] : llvm::zip(
             code->getArguments(), std::array{xs[0], xs[1], ys[0], ys[1]}))
      emitted.set(argument, RuntimeValue::of(value));
    ASSERT_TRUE(emitted.run(*code)) << emitted.getError();
    RuntimeValue lo = emitted.get(range.lo), hi = emitted.get(range.hi);
    ASSERT_FALSE(lo.poison || hi.poison);
    bool isNarrow = emitted.get(fits).integer != 0;
    numNarrow += isNarrow;
    for (int64_t i = 0; i <= xs[1] - xs[0]; ++i)
      for (int64_t j = 0; j <= ys[1] - ys[0]; ++j) {
        auto execute = [&](unsigned wideWidth) {
          Interpreter interpreter({wideWidth, /*strict=*/false});
          for (auto [argument, value] :
               llvm::zip(block->getArguments(),
                         std::array<int64_t, 4>{0, 0, xs[0] + i, ys[0] + j}))
            interpreter.set(argument, RuntimeValue::of(value));
          EXPECT_TRUE(interpreter.run(*block)) << interpreter.getError();
          return interpreter.get(result);
        };
        RuntimeValue value = execute(64);
        ASSERT_TRUE(value.poison || (lo.integer <= value.integer &&
                                     value.integer <= hi.integer))
            << "i" << width << ", x " << xs[0] + i << " of " << xs[0] << ".."
            << xs[1] << ", y " << ys[0] + j << " of " << ys[0] << ".." << ys[1]
            << ", constant " << constant << ": " << value.integer
            << " is not in " << lo.integer << ".." << hi.integer;
        if (!isNarrow || value.poison)
          continue;
        RuntimeValue narrow = execute(32);
        ASSERT_TRUE(!narrow.poison && narrow.integer == value.integer)
            << "x " << xs[0] + i << ", y " << ys[0] + j << ": "
            << narrow.integer << " instead of " << value.integer;
      }
  }
}

TEST_P(IntervalRules, hold_every_value) {
  std::mt19937_64 random(7);
  for (unsigned width : {8u, 32u, 64u}) {
    check(width, Second::Range, 0, random, 1500);
    check(width, Second::Exact, 0, random, 800);
    check(width, Second::Point, 0, random, 800);
    for (unsigned n = 0; n < 60; ++n)
      check(width, Second::Constant, pickNumber(random, width), random, 25);
  }
  EXPECT_GT(numNarrow, 1000u);
}

INSTANTIATE_TEST_SUITE_P(MaskAnalysis, IntervalRules, testing::ValuesIn(kRules),
                         [](const auto &info) { return info.param.name; });
