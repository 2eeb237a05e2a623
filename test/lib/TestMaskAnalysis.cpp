// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass that shows what the classifier emits: for every function NAME with one
// attention op, NAME.classify takes the function's arguments and the corners of
// a tile and returns whether the mask can be true, can be false, and whether
// its values fit 32 bits.

#include "TestPasses.h"

#include "passes/Passes.h"
#include "passes/analysis/MaskAnalysis.h"
#include "passes/tile/Tile.h"

using namespace mlir;
using namespace mlir::attn;

/// The one attention op of `function`, or null.
static SoftmaxFamilyInterface getOnlyAttention(func::FuncOp function) {
  SoftmaxFamilyInterface only;
  unsigned count = 0;
  function.walk([&](SoftmaxFamilyInterface op) {
    only = op;
    ++count;
  });
  return count == 1 ? only : SoftmaxFamilyInterface();
}

static void emitClassify(func::FuncOp source, int64_t blockSize) {
  func::FuncOp function = source.clone();
  function.setSymName((source.getSymName() + ".classify").str());
  OpBuilder builder(source);
  builder.setInsertionPointAfter(source);
  builder.insert(function);
  SoftmaxFamilyInterface op = getOnlyAttention(function);
  Location loc = op->getLoc();

  SmallVector<Value> corners;
  for (unsigned n = 0; n < 7; ++n)
    corners.push_back(
        function.getBody().addArgument(builder.getIndexType(), loc));
  builder.setInsertionPoint(op);
  TileMask mask(builder, op);
  MaskClassifier &classifier = *mask.classifier;
  classifier.emitTables(builder, loc, blockSize);
  TileRanges ranges{corners[0], corners[1], corners[2], corners[3],
                    corners[4], corners[5], corners[6]};
  TileClass tileClass = classifier.classify(builder, loc, ranges);
  Value fits = emitFitsInt32(builder, loc, mask.keep.front(), ranges);
  if (Operation *cause = classifier.getUnknownCause())
    cause->emitRemark("cannot be classified");

  Operation *terminator = function.getBody().front().getTerminator();
  builder.setInsertionPoint(terminator);
  SmallVector<Value> results{tileClass.canBeTrue, tileClass.canBeFalse, fits};
  func::ReturnOp::create(builder, loc, results);
  terminator->erase();
  function.setFunctionType(builder.getFunctionType(
      function.getBody().getArgumentTypes(), ValueRange(results).getTypes()));
}

namespace {

struct TestMaskAnalysisPass
    : public PassWrapper<TestMaskAnalysisPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestMaskAnalysisPass)

  TestMaskAnalysisPass() = default;
  TestMaskAnalysisPass(const TestMaskAnalysisPass &other)
      : PassWrapper(other) {}

  StringRef getArgument() const override { return "test-attn-classify"; }
  StringRef getDescription() const override {
    return "emit the classifier of a mask as a function";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<arith::ArithDialect, scf::SCFDialect, tensor::TensorDialect>();
  }
  void runOnOperation() override {
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      SoftmaxFamilyInterface op = getOnlyAttention(function);
      if (op && hasMask(op))
        emitClassify(function, blockSize);
    }
  }

  Option<int64_t> blockSize{*this, "block-size",
                            llvm::cl::desc("positions that a tile may span"),
                            llvm::cl::init(64)};
};

} // namespace

void attn::registerTestPasses() { PassRegistration<TestMaskAnalysisPass>(); }
