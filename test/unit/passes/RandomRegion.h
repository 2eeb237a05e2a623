// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random keep regions over every integer operation that is allowed in one, and
// over those on floats whose results IEEE 754 defines to the last bit.

#ifndef ATTN_TEST_UNIT_PASSES_RANDOMREGION_H
#define ATTN_TEST_UNIT_PASSES_RANDOMREGION_H

#include "mlir/IR/Builders.h"

#include <random>

namespace attn::test {

class RandomRegion {
public:
  /// Reads of the region are of `tensors`, of any rank and integer type.
  RandomRegion(mlir::OpBuilder &builder, mlir::ValueRange tensors,
               uint64_t seed, bool withFloats = false)
      : builder(builder), loc(builder.getUnknownLoc()), tensors(tensors),
        random(seed), withFloats(withFloats) {}

  /// Fills `block`, which has the arguments (b, h, i, j).
  void build(mlir::Block &block, unsigned numOps);

private:
  unsigned below(unsigned bound) { return random() % bound; }
  mlir::Type pickType();
  /// A value of type `type` that stands already, or a constant.
  mlir::Value pick(mlir::Type type);
  mlir::Value pickConstant(mlir::Type type);
  mlir::Value buildOp();
  mlir::Value buildBinary(mlir::Type type);
  mlir::Value buildBool();
  mlir::Value buildCast(mlir::Type to);
  mlir::Value buildRead();
  mlir::Type pickFloatType();
  mlir::Value pickFloatConstant(mlir::FloatType type);
  mlir::Value buildFloat();
  mlir::Value buildFromInteger(mlir::Type to);
  mlir::Value buildToInteger(mlir::Type from);
  mlir::Value buildFloatCast(mlir::Type to);
  mlir::Value buildFloatUnary(mlir::Type type);
  mlir::Value buildFloatBool(mlir::Type type);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::SmallVector<mlir::Value> tensors;
  std::mt19937_64 random;
  bool withFloats;
  mlir::SmallVector<mlir::Value> pool;
};

} // namespace attn::test

#endif // ATTN_TEST_UNIT_PASSES_RANDOMREGION_H
