// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What products of matrices and the forms of linear attention cost: the one
// place where the compiler compares ways to compute the same thing. Costs are
// those of one core at nominal rates, for comparison with each other only.

#ifndef ATTN_PASSES_ANALYSIS_COSTMODEL_H
#define ATTN_PASSES_ANALYSIS_COSTMODEL_H

#include "dialect/Attn.h"
#include "passes/analysis/TargetInfo.h"

namespace mlir::attn {

//===- choices ------------------------------------------------------------===//

/// How attn.linear is computed: all pairs at once, in chunks that hand on a
/// state, or token by token.
enum class LinearForm { quadratic, chunk, recurrent };

StringRef toString(LinearForm form);
/// The form of this name; none for "auto" and all else.
std::optional<LinearForm> parseLinearForm(StringRef name);

/// Name of the attribute of attn.linear that records its form.
inline constexpr StringLiteral kFormAttrName = "attn.form";

/// Whether (A B) C may become A (B C), which changes rounding.
enum class Reassociation { automatic, always, never };

/// "auto", "always" or "never".
std::optional<Reassociation> parseReassociation(StringRef name);

//===- costs --------------------------------------------------------------===//

/// What stands for a length that only a call knows.
inline constexpr int64_t kUnknownLength = 4096;
/// What stands for a number of features or columns that only a call knows.
inline constexpr int64_t kUnknownWidth = 64;

struct Cost {
  double flops = 0;
  double seconds = 0;

  Cost &operator+=(const Cost &other) {
    flops += other.flops;
    seconds += other.seconds;
    return *this;
  }
};

/// (A B) C with A of rows x features, B of features x keys and C of keys x
/// columns, `batch` times.
struct ChainShape {
  /// A product of sizes, which may be beyond 64 bits.
  double batch = 1;
  int64_t rows = 1, keys = 1, features = 1, columns = 1;
  /// Elementwise operations between the products.
  int64_t passes = 0;
  /// The type in which the operands are read.
  Type element;
};

/// One head of attn.linear, `heads` times.
struct LinearProblem {
  enum class Decay { none, scalar, perFeature };

  /// Heads of all batch entries, which may be beyond 64 bits.
  double heads = 1;
  int64_t queries = 1, keys = 1, features = 1, columns = 1;
  Type element;
  bool isCausal = true;
  bool hasTransition = false; ///< beta, or a and b
  bool hasBlocks = false;     ///< `block`, whose sizes are part of the meaning
  Decay decay = Decay::none;
};

/// The shape of `op`, with what stands for unknown sizes.
LinearProblem getLinearProblem(LinearOp op);

/// The costs of the forms; none where a form does not exist.
struct LinearCosts {
  std::optional<Cost> quadratic, chunk, recurrent;

  const std::optional<Cost> &get(LinearForm form) const;
  /// The form that takes the least time.
  LinearForm choose() const;
};

LinearCosts estimateLinear(const LinearProblem &shape,
                           const TargetInfo &target);

/// Tokens of a chunk.
int64_t chooseLinearChunk(const LinearProblem &problem);

/// (A B) C as it is written, and A (B C).
Cost estimateChain(const ChainShape &shape, const TargetInfo &target);
Cost estimateReassociated(const ChainShape &shape, const TargetInfo &target);

/// The least number of rows from 1 to 2^24 for which `pays` is true, if it is
/// true of all greater ones.
std::optional<int64_t> findCrossover(function_ref<bool(int64_t)> pays);

/// "12.9 MFLOP".
std::string formatFlops(double flops);

} // namespace mlir::attn

#endif // ATTN_PASSES_ANALYSIS_COSTMODEL_H
