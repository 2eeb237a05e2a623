// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// placeholder until the tiling lands
#include "passes/Passes.h"

namespace mlir::attn {
#define GEN_PASS_DEF_TILEATTENTION
#include "passes/Passes.h.inc"
} // namespace mlir::attn
using namespace mlir;
namespace {
struct TileAttentionPass : public attn::impl::TileAttentionBase<TileAttentionPass> {
  void runOnOperation() override {}
};
}
