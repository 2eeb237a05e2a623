// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowerings know about the machine they compile for.

#ifndef ATTN_PASSES_ANALYSIS_TARGETINFO_H
#define ATTN_PASSES_ANALYSIS_TARGETINFO_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::attn {

/// Name of the module attribute that records the target.
inline constexpr llvm::StringLiteral kTargetAttrName = "attn.target";

/// A CPU as the lane form sees it. Queries are lanes: a register block is
/// `blockRows` keys (or value columns) by `blockVectors` lane vectors.
struct TargetInfo {
  llvm::StringRef name; ///< "cpu:avx512", ...
  llvm::StringRef cpu;  ///< LLVM's name of the least CPU that has it
  int64_t vectorWidth;  ///< f32 lanes of a vector register
  int64_t blockRows;    ///< accumulator rows of the register block
  int64_t blockVectors; ///< accumulator vectors per row
  bool hasFma;          ///< fused multiply-add; else multiply and add
  int64_t keyTile;      ///< keys per tile

  /// Query rows per tile.
  int64_t queryTile() const { return vectorWidth * blockVectors; }
};

/// The target of this name, or null. "host" is not a name here.
const TargetInfo *lookupTarget(llvm::StringRef name);

/// Names of all targets, for messages: "cpu:generic, cpu:avx2, cpu:avx512".
std::string listTargets();

/// Replaces "host" by the best target that the running CPU has.
llvm::StringRef resolveTarget(llvm::StringRef name);

/// The target recorded on the module around `op`. Emits an error and returns
/// null if there is none or it is unknown.
const TargetInfo *getTarget(Operation *op);

} // namespace mlir::attn

#endif // ATTN_PASSES_ANALYSIS_TARGETINFO_H
