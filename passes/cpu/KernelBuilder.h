// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short forms for the IR that CPU kernels are made of: index arithmetic, loops
// with carried vectors, and loads and stores of lane vectors.

#ifndef ATTN_PASSES_CPU_KERNELBUILDER_H
#define ATTN_PASSES_CPU_KERNELBUILDER_H

#include "passes/analysis/TargetInfo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::attn {

struct KernelBuilder {
  OpBuilder &b;
  Location loc;
  const TargetInfo &target;
  FloatType wide;      ///< f32 or f64, in which the kernel computes
  int64_t vectors = 1; ///< lane vectors of the query tile

  /// For a query tile of `rows` rows, computed in `wide`.
  static KernelBuilder forTile(OpBuilder &b, Location loc,
                               const TargetInfo &target, FloatType wide,
                               int64_t rows) {
    return {b, loc, target, wide, rows / target.lanes(wide)};
  }

  /// Lanes of a vector.
  int64_t width() const { return target.lanes(wide); }
  /// Query rows of the tile.
  int64_t rows() const { return vectors * width(); }
  /// Accumulator rows of the register block.
  int64_t blockRows() const { return target.blockRows[vectors - 1]; }

  // Types.
  VectorType lanes(Type element) const {
    return VectorType::get({width()}, element);
  }
  VectorType wideLanes() const { return lanes(wide); }
  VectorType f32Lanes() const { return lanes(b.getF32Type()); }

  // Index arithmetic; folds where operands are constants.
  Value index(int64_t x) const {
    return arith::ConstantIndexOp::create(b, loc, x);
  }
  template <typename OpTy> Value fold(Value x, Value y) const {
    return b.createOrFold<OpTy>(loc, x, y);
  }
  Value add(Value x, Value y) const { return fold<arith::AddIOp>(x, y); }
  Value add(Value x, int64_t y) const { return y == 0 ? x : add(x, index(y)); }
  Value sub(Value x, Value y) const { return fold<arith::SubIOp>(x, y); }
  Value mul(Value x, Value y) const { return fold<arith::MulIOp>(x, y); }
  Value min(Value x, Value y) const { return fold<arith::MinSIOp>(x, y); }
  Value cmp(arith::CmpIPredicate predicate, Value x, Value y) const {
    return b.createOrFold<arith::CmpIOp>(loc, predicate, x, y);
  }
  /// The column at which lane vector `v` of the query tile begins.
  Value lane(int64_t v) const { return index(v * width()); }
  /// Whether an index is odd.
  Value isOdd(Value x) const {
    return cmp(arith::CmpIPredicate::ne, fold<arith::AndIOp>(x, index(1)),
               index(0));
  }
  Value dim(Value memref, int64_t d) const {
    return b.createOrFold<memref::DimOp>(loc, memref, d);
  }

  // Arithmetic of floats on scalars or lane vectors.
  Value constant(Type type, double x) const {
    Attribute value = b.getFloatAttr(getElementTypeOrSelf(type), x);
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector, value);
    return arith::ConstantOp::create(b, loc, cast<TypedAttr>(value));
  }
  Value addf(Value x, Value y) const {
    return arith::AddFOp::create(b, loc, x, y);
  }
  Value subf(Value x, Value y) const {
    return arith::SubFOp::create(b, loc, x, y);
  }
  Value mulf(Value x, Value y) const {
    return arith::MulFOp::create(b, loc, x, y);
  }
  Value cmpf(arith::CmpFPredicate predicate, Value x, Value y) const {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) const {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  /// x * y + z in one operation where the target has it. Elsewhere llvm.fma
  /// would be a library call per lane.
  Value fma(Value x, Value y, Value z) const;
  /// The larger of the two, `x` where `y` is NaN: one instruction on x86.
  Value max(Value x, Value y) const {
    return select(cmpf(arith::CmpFPredicate::OGT, y, x), y, x);
  }
  Value minf(Value x, Value y) const {
    return select(cmpf(arith::CmpFPredicate::OLT, y, x), y, x);
  }
  Value broadcast(Value scalar) const {
    return vector::BroadcastOp::create(b, loc, lanes(scalar.getType()), scalar);
  }

  // Memory.
  Value load(Value memref, ValueRange indices) const {
    return memref::LoadOp::create(b, loc, memref, indices);
  }
  Value loadVector(Value memref, ValueRange indices, int64_t width) const {
    Type element = cast<MemRefType>(memref.getType()).getElementType();
    return vector::LoadOp::create(b, loc, VectorType::get({width}, element),
                                  memref, indices);
  }
  Value loadLanes(Value memref, ValueRange indices) const {
    return loadVector(memref, indices, width());
  }
  void storeLanes(Value vector, Value memref, ValueRange indices) const {
    vector::StoreOp::create(b, loc, vector, memref, indices);
  }
  /// Fetches what is at `indices`, which may be outside of the buffer, into the
  /// cache of level 1 or 2.
  void prefetch(Value memref, ValueRange indices, int64_t cacheLevel) const {
    memref::PrefetchOp::create(b, loc, memref, indices, /*isWrite=*/false,
                               /*localityHint=*/4 - cacheLevel,
                               /*isDataCache=*/true);
  }
  /// A matrix whose rows lie at a distance known at run time, so that views of
  /// different strides have one type.
  Value castToRows(Value memref) const;
  /// A 64-byte aligned scratch buffer; dynamic sizes are values. Parallelizing
  /// moves it out of the loops: one per thread.
  Value scratch(ArrayRef<OpFoldResult> sizes, Type element) const;

  /// A call of one of LLVM's intrinsics.
  Value callIntrinsic(StringRef name, Type result, ValueRange operands) const;
  /// The same of one without result.
  void callIntrinsic(StringRef name) const;

  // Control flow.
  using LoopBody =
      llvm::function_ref<SmallVector<Value>(Value iv, ValueRange carried)>;
  /// for iv = lower to upper step `step`, carrying `inits`.
  SmallVector<Value> loop(Value lower, Value upper, int64_t step,
                          ValueRange inits, LoopBody body) const;
  void loop(Value lower, Value upper, int64_t step,
            llvm::function_ref<void(Value iv)> body) const;
  using Branch = llvm::function_ref<SmallVector<Value>()>;
  /// if condition then ... else ...; only the taken branch is emitted where the
  /// condition is a constant.
  SmallVector<Value> ifElse(Value condition, Branch thenBranch,
                            Branch elseBranch) const;
  void ifThen(Value condition, llvm::function_ref<void()> body) const;
};

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_KERNELBUILDER_H
