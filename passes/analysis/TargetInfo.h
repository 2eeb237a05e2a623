// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowerings know about the machine they compile for.

#ifndef ATTN_PASSES_ANALYSIS_TARGETINFO_H
#define ATTN_PASSES_ANALYSIS_TARGETINFO_H

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/BitmaskEnum.h"

#include <array>

namespace mlir::attn {

LLVM_ENABLE_BITMASK_ENUMS_IN_NAMESPACE();

/// Name of the module attribute that records the target.
inline constexpr llvm::StringLiteral kTargetAttrName = "attn.target";

/// Instructions that a target may have beside vectors.
enum class CpuFeatures : uint32_t {
  none = 0,
  /// Fused multiply-add; else multiply and add.
  fma = 1,
  /// AVX-512 F, BW, CD, DQ and VL: masks, and vreduceps and vscalefps, by which
  /// exponentials are range reduced.
  avx512 = 2,
  /// vdpbf16ps, the dot product of pairs of bf16.
  avx512bf16 = 4,
  /// tdpbf16ps, the product of tiles of pairs of bf16; beside avx512bf16.
  amx = 8,
  /// vcvtph2ps and vcvtps2ph, the conversions of f16.
  f16c = 16,
  LLVM_MARK_AS_BITMASK_ENUM(f16c)
};

/// A CPU as the lane form sees it. Queries are lanes: a query tile is up to
/// `maxVectors()` lane vectors wide, and a register block is a number of keys
/// (or value columns) by the vectors of the tile.
struct TargetInfo {
  llvm::StringRef name;       ///< "cpu:avx512", ...
  llvm::StringRef cpu;        ///< LLVM's name of the least CPU that has it
  llvm::StringRef extensions; ///< LLVM's names of features beyond it
  int64_t vectorWidth;        ///< f32 lanes of a vector register
  /// Accumulator rows of the register block of a tile of 1, 2, 3 vectors; 0
  /// where there are not enough registers for it.
  std::array<int64_t, 3> blockRows;
  CpuFeatures features;
  int64_t keyTile; ///< keys per tile, a multiple of each of `blockRows`

  bool has(CpuFeatures feature) const {
    return (features & feature) == feature;
  }

  /// Whether elements of this type are multiplied in pairs.
  bool multipliesPairs(Type element) const {
    return element.isBF16() && has(CpuFeatures::avx512bf16);
  }

  /// Lanes of a vector register that computes in `type`, f32 or f64.
  int64_t lanes(Type type) const {
    return type.isF64() ? vectorWidth / 2 : vectorWidth;
  }

  /// What rows of a transposed buffer come in multiples of: whole vectors and
  /// whole register blocks.
  int64_t rowMultiple() const {
    return std::max(vectorWidth, *llvm::max_element(blockRows));
  }
  /// Up to so many rows a product with a panel of `vectors` vectors is bound by
  /// reading the panel.
  int64_t fewRows(int64_t vectors) const { return 4 * blockRows[vectors - 1]; }
  /// Lane vectors of the widest query tile.
  int64_t maxVectors() const {
    return llvm::count_if(blockRows, [](int64_t rows) { return rows > 0; });
  }
};

/// The target of this name, or null. "host" is not a name here.
const TargetInfo *lookupTarget(llvm::StringRef name);

/// Names of all targets, for messages: "cpu:generic, cpu:avx2, ...".
std::string listTargets();

/// Replaces "host" by the best target that the running CPU has, without AMX
/// unless the process may use its tiles.
llvm::StringRef resolveTarget(llvm::StringRef name, bool mayUseTiles = true);

/// The target recorded on the module around `op`. Emits an error and returns
/// null if there is none or it is unknown.
const TargetInfo *getTarget(Operation *op);

} // namespace mlir::attn

#endif // ATTN_PASSES_ANALYSIS_TARGETINFO_H
