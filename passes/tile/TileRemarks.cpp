// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tiling decides about an attention op, as remarks.

#include "passes/tile/Tile.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::attn;

void attn::remarkOnTiles(SoftmaxFamilyInterface op, const TileShape &shape,
                         const std::optional<MaskClassifier> &classifier,
                         bool areKeysSplit) {
  Location loc = op.getLoc();
  std::string name = ("'" + op->getName().getStringRef() + "' ").str();
  auto opts = [](StringRef remark) {
    return remark::RemarkOpts::name(remark).category("attn-tile");
  };
  remark::analysis(loc, opts("tile-sizes"))
      << (name + "query tile " + Twine(shape.queryRows) + ", key tile " +
          Twine(shape.keyRows))
             .str();
  if (areKeysSplit)
    remark::analysis(loc, opts("key-loop"))
        << (name + "one query tile per key head: keys in parallel parts of " +
            Twine(shape.splitKeys) + ", then merged")
               .str();
  else
    remark::analysis(loc, opts("key-loop"))
        << (name + "keys one tile after the other, query tiles in parallel");
  if (!classifier) {
    remark::analysis(loc, opts("mask-classes"))
        << (name + "no mask: every tile runs without mask code");
  } else if (Operation *cause = classifier->getUnknownCause()) {
    remark::missed(loc, opts("mask-classification"))
        << (name + "every tile runs with its mask, for '" +
            cause->getName().getStringRef() + "' cannot be classified")
               .str();
  } else {
    remark::analysis(loc, opts("mask-classes"))
        << (name + "tiles are classified: skipped, run without mask code, or "
                   "run with it");
  }
}
