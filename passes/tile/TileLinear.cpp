// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles linear attention over heads, columns of the values and tokens. Before
// this pass it is one op on whole tensors; after it, parallel loops that carry
// a state over chunks of tokens.

#include "passes/Passes.h"
#include "passes/analysis/Explain.h"
#include "passes/tile/LinearTiler.h"

#include "mlir/IR/Remarks.h"

namespace mlir::attn {
#define GEN_PASS_DEF_TILELINEAR
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Tokens that the form takes at a time.
static int64_t chooseRows(LinearOp op, LinearForm form, int64_t wanted) {
  // Rows of a block read the state from before it: they are one chunk.
  if (std::optional<uint64_t> block = op.getBlock())
    return *block;
  if (form == LinearForm::quadratic && op.getCausal())
    return ShapedType::kDynamic;
  if (wanted > 0)
    return wanted;
  return chooseLinearChunk(getLinearProblem(op));
}

/// Loops over tiles have about so many iterations at least, where that can be.
static constexpr int64_t kTasks = 8;

/// States that have tiles of their own, at least; many where the number of
/// heads is not known.
static int64_t countStates(LinearOp op) {
  RankedTensorType value = op.getValue().getType();
  int64_t batch = value.isDynamicDim(0) ? 1 : value.getDimSize(0);
  int64_t heads = value.isDynamicDim(1) ? kTasks : value.getDimSize(1);
  return std::max<int64_t>(batch * heads, 1);
}

LinearShape attn::chooseLinearShape(LinearOp op, const TargetInfo &target,
                                    LinearForm form, int64_t rows) {
  LinearShape shape;
  shape.form = form;
  shape.rows = chooseRows(op, form, rows);
  int64_t keys = op.getKey().getType().getDimSize(2);
  if (!ShapedType::isDynamic(keys)) {
    int64_t most = std::max<int64_t>(keys, 1);
    shape.rows =
        ShapedType::isDynamic(shape.rows) ? most : std::min(shape.rows, most);
  }
  // The state of a tile stays in a cache; in the first one where a token has
  // little else to do than to pass over it.
  constexpr int64_t kMostColumns = 128, kColumnsIfUnknown = 64;
  int64_t most =
      form == LinearForm::recurrent ? kColumnsIfUnknown : kMostColumns;
  int64_t extra = op.getNumExtraColumns();
  int64_t width = target.lanes(op.getComputeType());
  int64_t columns = op.getValue().getType().getDimSize(3);
  if (ShapedType::isDynamic(columns)) {
    shape.columns = kColumnsIfUnknown;
    shape.valueColumns = shape.columns - extra;
    return shape;
  }
  columns = std::max<int64_t>(columns, 1);
  // Few heads are spread over threads by tiles of two vectors and more. That
  // changes no bit: each column is computed as it is in any other tile.
  int64_t tiles = std::max<int64_t>(
      llvm::divideCeil(columns, most),
      std::min<int64_t>(llvm::divideCeil(kTasks, countStates(op)),
                        columns / (2 * width)));
  shape.columns =
      llvm::alignTo(llvm::divideCeil(columns, tiles) + extra, width);
  shape.valueColumns = shape.columns - extra;
  return shape;
}

/// Sets the segments that `op` asks for, if it can have them: transitions have
/// no short form of what several tokens do to a state.
static LogicalResult addSegments(LinearOp op, const TargetInfo &target,
                                 LinearShape &shape) {
  Attribute attribute = op->getAttr(kSegmentsAttrName);
  if (!attribute)
    return success();
  auto number = dyn_cast<IntegerAttr>(attribute);
  constexpr int64_t kMost = 1024;
  if (!number || number.getInt() < 1 || number.getInt() > kMost)
    return op.emitOpError() << "attn.segments: expected a number from 1 to "
                            << kMost << ", got " << attribute;
  if (!op.getCausal() || op.getBeta() || op.getRead() || op.getBlock() ||
      op.getQueryStarts())
    return op.emitOpError() << "attn.segments: expected causal attention "
                               "without beta, transition, block and "
                               "query_starts";
  shape.segments = number.getInt();
  // A column more, for the decays, in a vector more.
  if (shape.segments > 1)
    shape.columns += target.lanes(op.getComputeType());
  return success();
}

LogicalResult attn::tileLinear(RewriterBase &rewriter, LinearOp op,
                               const TargetInfo &target, int64_t rows) {
  if (op.getFeature())
    return op.emitOpError() << "expected no feature maps, which "
                               "attn-expand-features makes operations of";
  LinearForm form = LinearForm::chunk;
  if (auto name = op->getAttrOfType<StringAttr>(kFormAttrName)) {
    std::optional<LinearForm> named = parseLinearForm(name);
    if (!named)
      return op.emitOpError() << "attn.form: expected quadratic, chunk or "
                                 "recurrent, got "
                              << name;
    form = *named;
  }
  LinearShape shape = chooseLinearShape(op, target, form, rows);
  if (failed(addSegments(op, target, shape)))
    return failure();
  remark::analysis(op.getLoc(),
                   remark::RemarkOpts::name("tile-sizes").category("attn-tile"))
      << ("'attn.linear' " + toString(form) + " form, " +
          (ShapedType::isDynamic(shape.rows) ? Twine("all tokens")
                                             : Twine(shape.rows) + " tokens") +
          " at a time, states of " + Twine(shape.columns) + " columns")
             .str();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  SmallVector<Value> results = LinearTiler(rewriter, op, target, shape).run();
  rewriter.replaceOp(op, castToResults(rewriter, op, results));
  return success();
}

namespace {

struct TileLinearPass : public attn::impl::TileLinearBase<TileLinearPass> {
  using TileLinearBase::TileLinearBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (chunk >= 0)
      return success();
    return emitError(UnknownLoc::get(context))
           << "attn-tile-linear: chunk: expected a number of tokens, or 0, got "
           << int64_t(chunk);
  }

  void runOnOperation() override {
    const TargetInfo *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    SmallVector<LinearOp> ops;
    getOperation().walk([&](LinearOp op) { ops.push_back(op); });
    ExplainingRewriter rewriter(*this, &getContext());
    for (LinearOp op : ops) {
      rewriter.visit(op);
      if (failed(tileLinear(rewriter, op, *target, chunk)))
        return signalPassFailure();
    }
  }
};

} // namespace
