// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why a pattern or a pass left an operation as it is. MLIR's own output of
// match failures is left out of builds without assertions, such as Debian's;
// these are remarks, of category `explain`.

#ifndef ATTN_PASSES_ANALYSIS_EXPLAIN_H
#define ATTN_PASSES_ANALYSIS_EXPLAIN_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"

#include "llvm/ADT/StringSet.h"

#include <mutex>

namespace mlir::attn {

/// The category of the remarks.
constexpr StringLiteral kExplainCategory = "explain";

/// How the reason begins of a pattern that found nothing of what it is about:
/// no such clause, or one in its final form. Nobody asks why that was left.
constexpr StringLiteral kNothingToDo = "nothing to do: ";

/// Makes a remark of every match failure whose reason is a refusal. One
/// instance may serve several threads.
class ExplainListener : public RewriterBase::Listener {
public:
  /// Whose operations count: MLIR's patterns have reasons that only say which
  /// operation defines an operand.
  enum class Scope { all, attn };

  /// `pass` is the flag of the pass; it has to outlive the listener.
  explicit ExplainListener(StringRef pass, Scope scope = Scope::all)
      : pass(pass), scope(scope) {}

  /// Says whose turn it is, for passes that go through operations themselves.
  void visit(Operation *op) const;
  /// The reason of the last match failure on this thread without kNothingToDo,
  /// or empty.
  StringRef getReason() const;

  void notifyPatternBegin(const Pattern &pattern, Operation *op) override;
  void
  notifyMatchFailure(Location loc,
                     function_ref<void(Diagnostic &)> reasonCallback) override;

private:
  StringRef pass;
  Scope scope;
};

/// The rewriter of a pass that goes through operations itself.
class ExplainingRewriter : public IRRewriter {
public:
  explicit ExplainingRewriter(Pass &pass, MLIRContext *context)
      : IRRewriter(context, &listener), listener(pass.getArgument()) {}

  void visit(Operation *op) const { listener.visit(op); }
  StringRef getReason() const { return listener.getReason(); }

private:
  ExplainListener listener;
};

/// Emits every remark once: patterns are tried again and again.
class EmitRemarksOnce : public remark::detail::RemarkEmittingPolicyBase {
public:
  void reportRemark(const remark::detail::Remark &remark) override;
  void finalize() override {}

private:
  std::mutex mutex; ///< functions are compiled in parallel
  llvm::StringSet<> emitted;
};

/// Has remarks of `context` whose category matches the regular expression
/// `categories` printed as diagnostics, each once.
void printRemarks(MLIRContext &context, const std::string &categories);

} // namespace mlir::attn

#endif // ATTN_PASSES_ANALYSIS_EXPLAIN_H
