// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From text to a checked module: what passes here, the pipelines may rely on.

#ifndef ATTN_RUNTIME_COMPILE_SOURCE_H
#define ATTN_RUNTIME_COMPILE_SOURCE_H

#include "runtime/CompiledFunction.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>

namespace attn {

struct Source {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Public functions in order, with signatures and attention sizes; no code.
  std::vector<CompiledFunction> functions;
};

/// Looks at the text before the parser does: size, nesting, what aliases expand
/// to, and the order of values. Returns what is wrong, or nothing.
std::optional<std::string> checkText(llvm::StringRef text);

/// Whether blocks may branch to one another, as in what the stages leave.
enum class Branches { none, allowed };

/// What would crash MLIR's parser.
struct ParserFault {
  size_t position;     ///< of its first character
  std::string message; ///< "line 3: expected ..."
};

/// The first fault of a text: a value used above its definition, which a valid
/// text only has where it branches, a dense array of index, or a list of
/// dimensions that is none.
std::optional<ParserFault> findParserFault(llvm::StringRef text,
                                           Branches branches = Branches::none);

/// Checks that the module holds only what the pipelines take: functions with
/// bodies and known types, no recursion, ops of known dialects. Emits errors.
mlir::LogicalResult checkModule(mlir::ModuleOp module);

/// The host's view of a type at the boundary of a function, or nothing.
std::optional<Parameter> describeType(mlir::Type type);

/// Parses and checks. Errors are emitted as diagnostics of the context.
std::optional<Source> parseSource(llvm::StringRef text, llvm::StringRef name,
                                  mlir::MLIRContext &context);

} // namespace attn

#endif // ATTN_RUNTIME_COMPILE_SOURCE_H
