// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A keep region, the code that the classifier emits for it, and both executed.

#ifndef ATTN_TEST_UNIT_PASSES_MASKFIXTURE_H
#define ATTN_TEST_UNIT_PASSES_MASKFIXTURE_H

#include "Interpreter.h"

#include "dialect/Attn.h"
#include "passes/analysis/MaskAnalysis.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <array>
#include <functional>
#include <random>

namespace attn::test {

/// Coordinates of a tile, inclusive: {lo, hi} of h, i and j.
struct TileBox {
  int64_t b;
  std::array<int64_t, 2> h, i, j;
};

struct ClassValue {
  bool canBeTrue, canBeFalse;
  bool operator==(const ClassValue &other) const {
    return canBeTrue == other.canBeTrue && canBeFalse == other.canBeFalse;
  }
};

class MaskFixture {
public:
  using Builder = std::function<void(mlir::OpBuilder &,
                                     mlir::ValueRange tensors, mlir::Block &)>;

  /// `tensorTypes` are the types of what the region may capture, `tensors` the
  /// values. `build` fills the block with the arguments (b, h, i, j).
  MaskFixture(mlir::MLIRContext &context, const Builder &build,
              mlir::ArrayRef<mlir::Type> tensorTypes = {},
              mlir::ArrayRef<IntTensor> tensors = {}, int64_t blockSize = 64);
  ~MaskFixture();

  /// What the mask says of a position; nothing where it has no defined value.
  std::optional<bool> keeps(int64_t b, int64_t h, int64_t i, int64_t j,
                            unsigned wideWidth = 64);
  /// What the emitted code says of a tile; records a failure of the test if it
  /// reads out of bounds, divides by zero or gives no defined value.
  ClassValue classify(const TileBox &box);
  /// What emitFitsInt32 says of a tile.
  bool fitsInt32(const TileBox &box);
  /// The class of a tile by looking at every position.
  ClassValue enumerate(const TileBox &box);

  mlir::Operation *getUnknownCause() const { return unknownCause; }
  /// The mask and the emitted code, for messages.
  std::string print();

private:
  bool execute(const TileBox &box, mlir::Value result);

  mlir::Region region;
  mlir::Block *keep;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Block *code;
  mlir::attn::TileClass tileClass;
  mlir::Value fits;
  std::vector<RuntimeValue> tensors;
  mlir::Operation *unknownCause = nullptr;
};

} // namespace attn::test

#endif // ATTN_TEST_UNIT_PASSES_MASKFIXTURE_H
