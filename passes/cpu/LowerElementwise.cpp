// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers what linalg ops on buffers are left to vector code along their last
// loop. What has no vector form is left to plain loops, with a remark.

#include "passes/Passes.h"
#include "passes/analysis/Explain.h"
#include "passes/cpu/Cpu.h"
#include "passes/cpu/ElementwiseBody.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::attn {
#define GEN_PASS_DEF_LOWERELEMENTWISE
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Emits the loops of one op.
class ElementwiseEmitter {
public:
  ElementwiseEmitter(const KernelBuilder &kb, linalg::LinalgOp op,
                     const ElementwiseBody &body, int64_t width)
      : kb(kb), op(op), body(body), width(width) {}

  void emit() { emitLoop(0); }

private:
  void emitLoop(unsigned loop);
  /// The last loop, if it is parallel and if it is a reduction.
  void emitRow();
  void emitReducedRow();

  Value getSize(unsigned loop);
  SmallVector<Value> indicesOf(OpOperand &operand);
  /// The elements of operands in `lanes` lanes from `iv` on; of outputs only
  /// where the body needs them. `uniform` has those that are the same in a row.
  SmallVector<Value> loadArguments(ArrayRef<Value> uniform, int64_t lanes);
  SmallVector<Value> loadUniform();
  /// All lanes of `vector` in one, by halves.
  Value reduceLanes(Operation *combiner, Value vector);

  const KernelBuilder &kb;
  linalg::LinalgOp op;
  const ElementwiseBody &body;
  int64_t width;
  SmallVector<Value> ivs;
};

} // namespace

Value ElementwiseEmitter::getSize(unsigned loop) {
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (cast<AffineDimExpr>(expr).getPosition() == loop)
        return kb.dim(operand.get(), dim);
  }
  llvm_unreachable("every loop has an operand's dimension");
}

SmallVector<Value> ElementwiseEmitter::indicesOf(OpOperand &operand) {
  SmallVector<Value> indices;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
    indices.push_back(ivs[cast<AffineDimExpr>(expr).getPosition()]);
  return indices;
}

SmallVector<Value> ElementwiseEmitter::loadUniform() {
  SmallVector<Value> loaded;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value;
    if (!isa<MemRefType>(operand.get().getType()))
      value = operand.get();
    else if (!body.isVarying(operand))
      value = kb.load(operand.get(), indicesOf(operand));
    loaded.push_back(value);
  }
  return loaded;
}

SmallVector<Value> ElementwiseEmitter::loadArguments(ArrayRef<Value> uniform,
                                                     int64_t lanes) {
  SmallVector<Value> args;
  for (auto [operand, value] : llvm::zip_equal(op->getOpOperands(), uniform)) {
    Value element = value;
    if (body.isVarying(operand) && op.payloadUsesValueFromOperand(&operand))
      element = lanes == 1
                    ? kb.load(operand.get(), indicesOf(operand))
                    : kb.loadVector(operand.get(), indicesOf(operand), lanes);
    args.push_back(element);
  }
  return args;
}

void ElementwiseEmitter::emitRow() {
  SmallVector<Value> uniform = loadUniform();
  Value zero = kb.index(0), size = getSize(ivs.size());
  Value whole = kb.sub(size, kb.fold<arith::RemUIOp>(size, kb.index(width)));
  auto emitPart = [&](Value from, Value to, int64_t lanes) {
    if (getConstantIntValue(from) && isEqualConstantIntOrValue(from, to))
      return;
    kb.loop(from, to, lanes, [&](Value iv) {
      ivs.push_back(iv);
      SmallVector<Value> results =
          body.emit(kb, loadArguments(uniform, lanes), ivs, lanes);
      for (auto [result, init] :
           llvm::zip_equal(results, op.getDpsInitsMutable())) {
        if (lanes == 1)
          memref::StoreOp::create(kb.b, kb.loc, result, init.get(),
                                  indicesOf(init));
        else
          kb.storeLanes(result, init.get(), indicesOf(init));
      }
      ivs.pop_back();
    });
  };
  emitPart(zero, whole, width);
  emitPart(whole, size, 1);
}

Value ElementwiseEmitter::reduceLanes(Operation *combiner, Value vector) {
  for (int64_t half = width / 2; half > 0; half /= 2) {
    auto part = [&](int64_t from) {
      SmallVector<int64_t> lanes =
          llvm::to_vector(llvm::seq<int64_t>(from, from + half));
      return vector::ShuffleOp::create(kb.b, kb.loc, vector, vector, lanes)
          .getResult();
    };
    vector = ElementwiseBody::combine(kb, combiner, part(0), part(half));
  }
  return vector::ExtractOp::create(kb.b, kb.loc, vector, 0);
}

void ElementwiseEmitter::emitReducedRow() {
  SmallVector<Value> uniform = loadUniform();
  ArrayRef<Operation *> combiners = body.getCombiners();
  Value zero = kb.index(0), size = getSize(ivs.size());
  Value whole = kb.sub(size, kb.fold<arith::RemUIOp>(size, kb.index(width)));
  SmallVector<Value> sums(ArrayRef(uniform).take_back(combiners.size()));
  auto emitPart = [&](Value from, Value to, int64_t lanes,
                      ArrayRef<Value> inits) {
    return kb.loop(from, to, lanes, inits, [&](Value iv, ValueRange carried) {
      ivs.push_back(iv);
      SmallVector<Value> elements =
          body.emit(kb, loadArguments(uniform, lanes), ivs, lanes);
      ivs.pop_back();
      SmallVector<Value> next;
      for (auto [combiner, sum, element] :
           llvm::zip_equal(combiners, carried, elements))
        next.push_back(ElementwiseBody::combine(kb, combiner, sum, element));
      return next;
    });
  };
  SmallVector<Value> neutral;
  for (auto [combiner, sum] : llvm::zip_equal(combiners, sums))
    neutral.push_back(ElementwiseBody::getNeutral(
        kb, combiner, VectorType::get({width}, sum.getType())));
  SmallVector<Value> lanes = emitPart(zero, whole, width, neutral);
  for (auto [combiner, sum, vector] : llvm::zip_equal(combiners, sums, lanes))
    sum = ElementwiseBody::combine(kb, combiner, sum,
                                   reduceLanes(combiner, vector));
  sums = emitPart(whole, size, 1, sums);
  for (auto [sum, init] : llvm::zip_equal(sums, op.getDpsInitsMutable()))
    memref::StoreOp::create(kb.b, kb.loc, sum, init.get(), indicesOf(init));
}

void ElementwiseEmitter::emitLoop(unsigned loop) {
  if (loop + 1 == op.getNumLoops())
    return body.isReduction() ? emitReducedRow() : emitRow();
  kb.loop(kb.index(0), getSize(loop), 1, [&](Value iv) {
    ivs.push_back(iv);
    emitLoop(loop + 1);
    ivs.pop_back();
  });
}

/// True if any value that `op` computes with is of f64.
static bool usesF64(linalg::LinalgOp op) {
  auto isF64 = [](Type type) { return getElementTypeOrSelf(type).isF64(); };
  if (llvm::any_of(op->getOperandTypes(), isF64))
    return true;
  WalkResult walked = op.getBlock()->walk([&](Operation *inner) {
    return llvm::any_of(inner->getResultTypes(), isF64)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return walked.wasInterrupted();
}

/// linalg.generic ins(%x) outs(%y)
///   ->
/// scf.for %i ... {
///   scf.for %j = 0 to %whole step 16 {
///     %v = vector.load %x[%i, %j] ... vector.store %r, %y[%i, %j]
///   }
///   scf.for %j = %whole to %n step 1 { ... }
/// }
LogicalResult attn::lowerElementwise(RewriterBase &rewriter,
                                     linalg::LinalgOp op,
                                     const TargetInfo &target) {
  FailureOr<ElementwiseBody> body = ElementwiseBody::match(rewriter, op);
  if (failed(body))
    return failure();
  FloatType wide =
      usesF64(op) ? FloatType(rewriter.getF64Type()) : rewriter.getF32Type();
  int64_t width = target.lanes(wide);
  // Short rows take shorter vectors.
  int64_t size = op.getStaticLoopRanges().back();
  if (!ShapedType::isDynamic(size))
    width = std::min<int64_t>(width, llvm::bit_floor<uint64_t>(size));
  if (width <= 1)
    return rewriter.notifyMatchFailure(op, "rows of at most one element");
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  KernelBuilder kb{rewriter, op->getLoc(), target, wide};
  ElementwiseEmitter(kb, op, *body, width).emit();
  rewriter.eraseOp(op);
  return success();
}

namespace {

struct LowerElementwisePass
    : public attn::impl::LowerElementwiseBase<LowerElementwisePass> {
  void runOnOperation() override {
    const TargetInfo *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    ExplainingRewriter rewriter(*this, &getContext());
    for (linalg::LinalgOp op : ops) {
      rewriter.visit(op);
      Location loc = op->getLoc();
      std::string name = op->getName().getStringRef().str();
      if (failed(lowerElementwise(rewriter, op, *target)))
        remark::missed(
            loc, remark::RemarkOpts::name("elementwise").category("attn-cpu"))
            << "'" + name +
                   "' runs as plain loops: " + rewriter.getReason().str();
    }
  }
};

} // namespace
