// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds functions that show what a mask does for one head: the class of every
// tile, from the geometry and the classifier that tiling uses, and the mask's
// value for every query and key. Runs just before tiling.

#include "passes/Passes.h"
#include "passes/analysis/ScalarClone.h"
#include "passes/convention/Convention.h"
#include "passes/tile/SideFunction.h"
#include "passes/tile/Tile.h"
#include "passes/tile/TileGeometry.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::attn {
#define GEN_PASS_DEF_MAPMASK
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// What the elements of NAME.maskK.tiles mean.
enum class TileKind : int8_t { skipped, plain, masked, beyond };

/// The tiles of one version of an op.
struct VersionMap {
  VersionMap(OpBuilder &builder, SoftmaxFamilyInterface op,
             const TileVersion &version)
      : shape(version.shape), isNeeded(version.isNeeded),
        geometry(builder, op, {version.shape, Value()}), mask(builder, op) {}

  TileShape shape;
  Value isNeeded;
  TileGeometry geometry;
  TileMask mask;
};

/// Emits the result of one of the functions in front of the op.
class MaskMapper {
public:
  MaskMapper(OpBuilder &builder, SoftmaxFamilyInterface op,
             const TargetInfo &target, Value batch, Value head)
      : b(builder), op(op), loc(op->getLoc()), batch(batch), head(head) {
    for (const TileVersion &version : emitTileVersions(builder, op, target))
      versions.push_back(std::make_unique<VersionMap>(builder, op, version));
  }

  Value emitSizes();
  Value emitTiles();
  Value emitElements();

private:
  /// What `emit` gives for the version that the call takes.
  Value choose(function_ref<Value(VersionMap &)> emit) {
    Value chosen;
    for (const auto &version : llvm::reverse(versions)) {
      Value value = emit(*version);
      chosen = chosen ? select(version->isNeeded, value, chosen) : value;
    }
    return chosen;
  }
  /// The position of query row 0.
  Value emitFirstPosition() {
    return choose(
        [&](VersionMap &v) { return getQueryTile(v, index(0)).position; });
  }
  /// The class of the tile at `row` and `column`.
  Value emitKind(VersionMap &version, Value row, Value column);
  Value index(int64_t x) { return arith::ConstantIndexOp::create(b, loc, x); }
  template <typename OpTy> Value apply(Value x, Value y) {
    return b.createOrFold<OpTy>(loc, x, y);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, loc, condition, yes, no);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  Value byte(int8_t x) {
    return arith::ConstantIntOp::create(b, loc, x, /*width=*/8);
  }
  Value byte(TileKind kind) { return byte(static_cast<int8_t>(kind)); }
  Value dim(Value tensor, int64_t d) {
    return getValueOrCreateConstantIndexOp(
        b, loc, tensor::getMixedSize(b, loc, tensor, d));
  }
  Value countTiles(Value rows, int64_t tile) {
    return apply<arith::CeilDivUIOp>(rows, index(tile));
  }
  QueryTile getQueryTile(VersionMap &version, Value number) {
    TileGeometry &geometry = version.geometry;
    return geometry.getQueryTile(b, geometry.getIvs(b, batch, head, number));
  }
  /// A tensor of bytes of `rows` x `columns` from its elements.
  Value generate(Value rows, Value columns,
                 function_ref<Value(Value row, Value column)> element);
  /// What the keep region, mask attributes included, says about a pair of
  /// positions, an i1.
  Value emitKeep(Value i, Value j);

  OpBuilder &b;
  SoftmaxFamilyInterface op;
  Location loc;
  Value batch, head;
  SmallVector<std::unique_ptr<VersionMap>, 2> versions;
};

} // namespace

Value MaskMapper::generate(Value rows, Value columns,
                           function_ref<Value(Value, Value)> element) {
  int64_t dynamic = ShapedType::kDynamic;
  auto type = RankedTensorType::get({dynamic, dynamic}, b.getI8Type());
  auto generated = tensor::GenerateOp::create(
      b, loc, type, ValueRange{rows, columns},
      [&](OpBuilder &inner, Location, ValueRange at) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(inner.getInsertionBlock());
        tensor::YieldOp::create(b, loc, element(at[0], at[1]));
      });
  return generated;
}

Value MaskMapper::emitSizes() {
  Value heads = dim(op.getQuery(), 1), batches = dim(op.getQuery(), 0);
  SmallVector<Value> sizes{batches, heads, dim(op.getQuery(), 2),
                           dim(op.getKey(), 2)};
  // Unsigned, so that a negative number is too large.
  Value exists =
      apply<arith::AndIOp>(compare(arith::CmpIPredicate::ult, batch, batches),
                           compare(arith::CmpIPredicate::ult, head, heads));
  constexpr unsigned numOfTiles = 8;
  SmallVector<Type> types(numOfTiles, b.getIndexType());
  auto branch = scf::IfOp::create(b, loc, types, exists, /*withElse=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    // Lengths and positions of keys are the same in all versions.
    VersionMap &any = *versions.front();
    QueryTile first = getQueryTile(any, index(0));
    KeyTile firstKey = any.geometry.getKeyTile(b, first, index(0));
    scf::YieldOp::create(
        b, loc,
        ValueRange{
            choose([&](VersionMap &v) {
              return countTiles(sizes[2], v.shape.queryRows);
            }),
            choose([&](VersionMap &v) {
              return countTiles(sizes[3], v.shape.keyRows);
            }),
            choose([&](VersionMap &v) { return index(v.shape.queryRows); }),
            choose([&](VersionMap &v) { return index(v.shape.keyRows); }),
            emitFirstPosition(), firstKey.position, first.length,
            choose(
                [&](VersionMap &v) { return v.geometry.getHeadsPerTile(b); })});
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, SmallVector<Value>(numOfTiles, index(0)));
  }
  llvm::append_range(sizes, branch.getResults());
  for (Value &size : sizes)
    size = arith::IndexCastOp::create(b, loc, b.getI64Type(), size);
  return tensor::FromElementsOp::create(b, loc, sizes);
}

Value MaskMapper::emitKind(VersionMap &version, Value row, Value column) {
  QueryTile query = getQueryTile(version, row);
  Value firstKey = apply<arith::MulIOp>(column, index(version.shape.keyRows));
  Value kind = byte(TileKind::plain);
  if (std::optional<MaskClassifier> &classifier = version.mask.classifier) {
    KeyTile key = version.geometry.getKeyTile(b, query, firstKey);
    TileClass tileClass =
        classifier->classify(b, loc, version.geometry.getRanges(b, query, key));
    kind = select(tileClass.canBeFalse, byte(TileKind::masked), kind);
    kind = select(tileClass.canBeTrue, kind, byte(TileKind::skipped));
  }
  Value isInUse = compare(arith::CmpIPredicate::slt, firstKey, query.length);
  return select(isInUse, kind, byte(TileKind::beyond));
}

Value MaskMapper::emitTiles() {
  for (const auto &version : versions)
    if (version->mask.classifier)
      version->mask.classifier->emitTables(b, loc, version->shape.keyRows);
  Value queries = dim(op.getQuery(), 2), keys = dim(op.getKey(), 2);
  Value rows = choose(
      [&](VersionMap &v) { return countTiles(queries, v.shape.queryRows); });
  Value columns =
      choose([&](VersionMap &v) { return countTiles(keys, v.shape.keyRows); });
  return generate(rows, columns, [&](Value row, Value column) {
    return choose([&](VersionMap &v) { return emitKind(v, row, column); });
  });
}

Value MaskMapper::emitKeep(Value i, Value j) {
  Block &block = versions.front()->mask.keep.front();
  IRMapping mapping;
  mapping.map(block.getArguments(), ValueRange{batch, head, i, j});
  for (Operation &inner : block.without_terminator()) {
    SmallVector<Value> operands =
        llvm::map_to_vector(inner.getOperands(), [&](Value operand) {
          return mapping.lookupOrDefault(operand);
        });
    mapping.map(inner.getResult(0), cloneScalar(b, loc, inner, operands));
  }
  return mapping.lookupOrDefault(cast<YieldOp>(block.back()).getValue());
}

Value MaskMapper::emitElements() {
  VersionMap &any = *versions.front();
  QueryTile first = getQueryTile(any, index(0));
  KeyTile firstKey = any.geometry.getKeyTile(b, first, index(0));
  Value position = emitFirstPosition();
  return generate(
      dim(op.getQuery(), 2), dim(op.getKey(), 2), [&](Value row, Value column) {
        Value kept = compare(arith::CmpIPredicate::slt, column, first.length);
        if (any.mask.classifier)
          kept = apply<arith::AndIOp>(
              kept, emitKeep(apply<arith::AddIOp>(position, row),
                             apply<arith::AddIOp>(firstKey.position, column)));
        return arith::ExtUIOp::create(b, loc, b.getI8Type(), kept).getResult();
      });
}

/// Adds the functions for attention `number` of `function`.
static LogicalResult mapMask(func::FuncOp function, size_t number,
                             const TargetInfo &target) {
  auto add = [&](StringRef name, auto emit) -> LogicalResult {
    FailureOr<func::FuncOp> copy =
        createSideFunction(function, "mask" + Twine(number) + "." + name);
    if (failed(copy))
      return failure();
    Location loc = copy->getLoc();
    OpBuilder builder(function.getContext());
    Value batch = copy->getBody().addArgument(builder.getIndexType(), loc);
    Value head = copy->getBody().addArgument(builder.getIndexType(), loc);
    SoftmaxFamilyInterface op = (*findAttention(*copy))[number];
    builder.setInsertionPoint(op);
    MaskMapper mapper(builder, op, target, batch, head);
    return returnInstead(*copy, emit(mapper));
  };
  return failure(
      failed(add("sizes", [](MaskMapper &m) { return m.emitSizes(); })) ||
      failed(add("tiles", [](MaskMapper &m) { return m.emitTiles(); })) ||
      failed(add("elements", [](MaskMapper &m) { return m.emitElements(); })));
}

namespace {

struct MapMaskPass : public attn::impl::MapMaskBase<MapMaskPass> {
  void runOnOperation() override {
    const TargetInfo *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    SmallVector<func::FuncOp> kernels;
    for (auto function : getOperation().getOps<func::FuncOp>())
      // Counts of tiles have no attention left.
      if (isKernel(function))
        kernels.push_back(function);
    for (func::FuncOp function : kernels) {
      auto ops = findAttention(function);
      if (failed(ops))
        return signalPassFailure();
      for (SoftmaxFamilyInterface op : *ops)
        if (op.getQueryStarts()) {
          op->emitOpError() << "query_starts: expected none where a mask is "
                               "mapped";
          return signalPassFailure();
        }
      for (size_t number = 0; number < ops->size(); ++number)
        if (failed(mapMask(function, number, *target)))
          return signalPassFailure();
    }
  }
};

} // namespace
