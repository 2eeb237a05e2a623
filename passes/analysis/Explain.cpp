// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Explain.h.

#include "passes/analysis/Explain.h"

using namespace mlir;
using namespace mlir::attn;

namespace {

/// What is being rewritten on a thread. Not in the listener, which several
/// threads may share. Names belong to the context and to the pattern, so that a
/// turn costs nothing while no one asks.
struct Turn {
  StringRef op;
  StringRef pattern; ///< with namespaces and template arguments
  std::string reason;
};

thread_local Turn turn;

} // namespace

void ExplainListener::visit(Operation *op) const {
  turn.op = op->getName().getStringRef();
  turn.pattern = StringRef();
  turn.reason.clear();
}

StringRef ExplainListener::getReason() const { return turn.reason; }

void ExplainListener::notifyPatternBegin(const Pattern &pattern,
                                         Operation *op) {
  visit(op);
  turn.pattern = pattern.getDebugName();
}

void ExplainListener::notifyMatchFailure(
    Location loc, function_ref<void(Diagnostic &)> reasonCallback) {
  if (scope == Scope::attn && !turn.op.starts_with("attn."))
    return;
  Diagnostic diagnostic(loc, DiagnosticSeverity::Remark);
  reasonCallback(diagnostic);
  std::string text = diagnostic.str();
  StringRef reason = text;
  bool isRefusal = !reason.consume_front(kNothingToDo);
  turn.reason = reason.str();
  if (!isRefusal || !loc.getContext()->getRemarkEngine())
    return;
  std::string who = pass.str();
  if (!turn.pattern.empty()) {
    StringRef name = turn.pattern.split('<').first;
    who += ", pattern " + name.drop_front(name.rfind(':') + 1).str();
  }
  remark::missed(
      loc, remark::RemarkOpts::name("left-as-is").category(kExplainCategory))
      << ("'" + turn.op + "' left as it is by " + who + ": " + turn.reason)
             .str();
}

void EmitRemarksOnce::reportRemark(const remark::detail::Remark &remark) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  remark.print(stream, /*printLocation=*/true);
  std::lock_guard<std::mutex> lock(mutex);
  if (emitted.insert(text).second)
    reportImpl(remark);
}

void attn::printRemarks(MLIRContext &context, const std::string &categories) {
  remark::RemarkCategories filter;
  filter.passed = filter.missed = filter.analysis = filter.failed = categories;
  // Without a streamer there is nothing to fail.
  (void)remark::enableOptimizationRemarks(context, /*streamer=*/nullptr,
                                          std::make_unique<EmitRemarksOnce>(),
                                          filter, /*printAsEmitRemarks=*/true);
}
