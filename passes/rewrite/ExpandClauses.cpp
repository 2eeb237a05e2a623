// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clauses that change or mask single logits are regions: after this pass there
// is one mechanism by which a logit is changed, so that only it is classified,
// tiled and vectorised.

#include "passes/rewrite/Rewrite.h"

#include "passes/Passes.h"
#include "passes/analysis/Explain.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EXPANDCLAUSES
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Builds the regions of one op.
class ClauseExpander {
public:
  ClauseExpander(OpBuilder &builder, SoftmaxFamilyInterface op)
      : builder(builder), op(op), loc(op.getLoc()) {}

  /// The clauses over the logit `args[0]` at (b, h, i, j).
  Value buildScore(ValueRange args);
  /// The select clause and the keep region at (b, h, i, j).
  Value buildKeep(ValueRange args);
  /// What both need of the op, in front of it.
  void emitSizes();

private:
  /// The element of `operand`, which broadcasts to B x Hq x Sq x Skv, at
  /// positions (b, h, i, j).
  Value readBroadcast(Value operand, ValueRange position);
  /// `value` as the type of the logits.
  Value toLogit(Value value, Type type);

  OpBuilder &builder;
  SoftmaxFamilyInterface op;
  Location loc;
  Value queryRows, keyRows; ///< index; null where no row is asked for
};

} // namespace

void ClauseExpander::emitSizes() {
  if (!op.getBias() && !op.getSelect())
    return;
  if (op.getAlign() != Alignment::BottomRight)
    return;
  queryRows = builder.createOrFold<tensor::DimOp>(loc, op.getQuery(), 2);
  keyRows = builder.createOrFold<tensor::DimOp>(loc, op.getKey(), 2);
}

Value ClauseExpander::readBroadcast(Value operand, ValueRange position) {
  Value b = position[0], r = position[2], t = position[3];
  if (Value offset = op.getOffset()) {
    r = arith::SubIOp::create(builder, loc, r,
                              buildPerBatch(builder, loc, offset, b));
  } else if (op.getAlign() == Alignment::BottomRight) {
    Value length = buildKeyLength(op, builder, loc, b, keyRows);
    Value offset = arith::SubIOp::create(builder, loc, length, queryRows);
    r = arith::SubIOp::create(builder, loc, r, offset);
  }
  if (Value keyOffset = op.getKeyOffset())
    t = arith::SubIOp::create(builder, loc, t, keyOffset);

  // A size of 1 that is only found at run time needs no code: indices of reads
  // are clamped to the tensor.
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<Value> indices{b, position[1], r, t};
  indices.erase(indices.begin(), indices.end() - type.getRank());
  for (auto [size, index] : llvm::zip_equal(type.getShape(), indices))
    if (size == 1)
      index = arith::ConstantIndexOp::create(builder, loc, 0);
  return tensor::ExtractOp::create(builder, loc, operand, indices);
}

Value ClauseExpander::toLogit(Value value, Type type) {
  if (value.getType() == type)
    return value;
  return arith::ExtFOp::create(builder, loc, type, value);
}

Value ClauseExpander::buildScore(ValueRange args) {
  Value score = args.front();
  Type type = score.getType();
  if (Value cap = op.getSoftcapValue()) {
    cap = toLogit(cap, type);
    Value ratio = arith::DivFOp::create(builder, loc, score, cap);
    Value bounded = math::TanhOp::create(builder, loc, ratio);
    score = arith::MulFOp::create(builder, loc, cap, bounded);
  }
  if (!op.getScore().empty()) {
    SmallVector<Value> inner(args);
    inner.front() = score;
    score = inlineRegion(op.getScore(), builder, inner);
  }
  ValueRange position = args.drop_front();
  if (Value slopes = op.getAlibi()) {
    Value slope = toLogit(
        tensor::ExtractOp::create(builder, loc, slopes, position[1]), type);
    Value distance =
        arith::SubIOp::create(builder, loc, position[3], position[2]);
    Value asInt = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                             distance);
    Value asFloat = arith::SIToFPOp::create(builder, loc, type, asInt);
    Value term = arith::MulFOp::create(builder, loc, slope, asFloat);
    score = arith::AddFOp::create(builder, loc, score, term);
  }
  if (Value bias = op.getBias())
    score = arith::AddFOp::create(builder, loc, score,
                                  toLogit(readBroadcast(bias, position), type));
  return score;
}

Value ClauseExpander::buildKeep(ValueRange args) {
  Value keep = readBroadcast(op.getSelect(), args);
  if (!keep.getType().isInteger(1)) {
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(keep.getType(), 0));
    keep = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, keep,
                                 zero);
  }
  if (op.getKeep().empty())
    return keep;
  Value other = inlineRegion(op.getKeep(), builder, args);
  return arith::AndIOp::create(builder, loc, keep, other);
}

/// Replaces `region` by a block of `types` that yields what `build` gives for
/// its arguments.
static void rebuildRegion(RewriterBase &rewriter, Location loc, Region &region,
                          TypeRange types,
                          function_ref<Value(ValueRange)> build) {
  OpBuilder::InsertionGuard guard(rewriter);
  Region rebuilt;
  Block *block = rewriter.createBlock(&rebuilt, rebuilt.end(), types,
                                      SmallVector<Location>(types.size(), loc));
  Value result = build(block->getArguments());
  YieldOp::create(rewriter, loc, result);
  region.takeBody(rebuilt);
}

/// Says which clauses become a part of which region.
static void remarkOnClauses(SoftmaxFamilyInterface op) {
  auto report = [&](StringRef region, bool isThere, StringRef clause) {
    if (isThere)
      remark::passed(op.getLoc(), remark::RemarkOpts::name("clauses").category(
                                      "attn-rewrite"))
          << ("'" + op->getName().getStringRef() + "' " + clause +
              ": part of the " + region + " region")
                 .str();
  };
  report("score", static_cast<bool>(op.getSoftcapValue()), "softcap");
  report("score", static_cast<bool>(op.getAlibi()), "alibi");
  report("score", static_cast<bool>(op.getBias()), "bias");
  report("keep", static_cast<bool>(op.getSelect()), "select");
}

LogicalResult attn::expandClauses(RewriterBase &rewriter,
                                  SoftmaxFamilyInterface op) {
  bool changesScore = op.getSoftcapValue() || op.getAlibi() || op.getBias();
  if (!changesScore && !op.getSelect())
    return rewriter.notifyMatchFailure(
        op, "nothing to do: no clause that a region can say");
  remarkOnClauses(op);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Type index = rewriter.getIndexType();
  ClauseExpander expander(rewriter, op);
  expander.emitSizes();
  rewriter.modifyOpInPlace(op, [&] {
    if (changesScore)
      rebuildRegion(rewriter, loc, op.getScore(),
                    {getComputeType(op), index, index, index, index},
                    [&](ValueRange args) { return expander.buildScore(args); });
    if (op.getSelect())
      rebuildRegion(rewriter, loc, op.getKeep(), {index, index, index, index},
                    [&](ValueRange args) { return expander.buildKeep(args); });
    op.dropRegionClauses();
  });
  return success();
}

namespace {

struct ExpandClausesPass
    : public attn::impl::ExpandClausesBase<ExpandClausesPass> {
  void runOnOperation() override {
    SmallVector<SoftmaxFamilyInterface> ops;
    getOperation().walk([&](SoftmaxFamilyInterface op) { ops.push_back(op); });
    ExplainingRewriter rewriter(*this, &getContext());
    for (SoftmaxFamilyInterface op : ops) {
      rewriter.visit(op);
      (void)expandClauses(rewriter, op);
    }
  }
};

} // namespace
