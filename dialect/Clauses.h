// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The clauses of whole-attention ops: one table per op says how each is
// written, and one parser and printer reads all tables.

#ifndef ATTN_DIALECT_CLAUSES_H
#define ATTN_DIALECT_CLAUSES_H

#include "mlir/IR/OpImplementation.h"

namespace mlir::attn {

/// One clause of an op. An attribute has the name of its clause.
struct Clause {
  enum class Form {
    Flag,      ///< keyword, a unit attribute
    Attribute, ///< keyword `(` attribute `)`
    Operands,  ///< keyword `(` operands `:` types `)`
    Number,    ///< keyword `(` number `)` or keyword `(` operand `:` type `)`
    Region     ///< keyword region
  };
  llvm::StringLiteral keyword;
  Form form;
  /// Of an attribute.
  ParseResult (*parse)(OpAsmParser &, Attribute &) = nullptr;
  void (*print)(OpAsmPrinter &, Attribute) = nullptr;
  /// Operands of the op that the clause holds.
  unsigned numOperands = 0;
  /// Whether the op needs it.
  bool isRequired = false;
};

/// The assembly of an op:
///
///     operands clause* attr-dict `:` types `->` result-types
///
/// The clauses stand in the order in which they are printed, which is that of
/// their operands and of their regions in the op's definition.
struct ClauseTable {
  llvm::StringLiteral op;
  /// Operands in front of the clauses. None have types of their own, so that
  /// only the result has one.
  unsigned numOperands;
  ArrayRef<Clause> clauses;
};

/// Parses and prints an op that has a table, which is found by its name.
ParseResult parseClauses(OpAsmParser &parser, OperationState &result);
void printClauses(OpAsmPrinter &printer, Operation *op);

} // namespace mlir::attn

#endif // ATTN_DIALECT_CLAUSES_H
