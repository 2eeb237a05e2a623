// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random keep regions over every integer operation that is allowed in one.

#ifndef ATTN_TEST_UNIT_PASSES_RANDOMREGION_H
#define ATTN_TEST_UNIT_PASSES_RANDOMREGION_H

#include "mlir/IR/Builders.h"

#include <random>

namespace attn::test {

class RandomRegion {
public:
  /// Reads of the region are of `tensors`, of any rank and integer type.
  RandomRegion(mlir::OpBuilder &builder, mlir::ValueRange tensors,
               uint64_t seed)
      : builder(builder), loc(builder.getUnknownLoc()), tensors(tensors),
        random(seed) {}

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

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::SmallVector<mlir::Value> tensors;
  std::mt19937_64 random;
  mlir::SmallVector<mlir::Value> pool;
};

} // namespace attn::test

#endif // ATTN_TEST_UNIT_PASSES_RANDOMREGION_H
