// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pieces of assembly that several ops have in common, for the generated
// parsers and printers.

#ifndef ATTN_DIALECT_ASSEMBLYFORMAT_H
#define ATTN_DIALECT_ASSEMBLYFORMAT_H

#include "dialect/Attn.h"

#include "mlir/IR/Builders.h"

namespace mlir::attn {

/// attributes ::= attribute (`,` attribute)*
inline ParseResult parseAttributeList(OpAsmParser &parser, ArrayAttr &list) {
  SmallVector<Attribute> attributes;
  if (parser.parseCommaSeparatedList(
          [&] { return parser.parseAttribute(attributes.emplace_back()); }))
    return failure();
  list = parser.getBuilder().getArrayAttr(attributes);
  return success();
}

inline void printAttributeList(OpAsmPrinter &printer, Operation *,
                               ArrayAttr list) {
  llvm::interleaveComma(list, printer);
}

/// keyword ::= the name of a case of the enum. A custom directive, because the
/// attribute's own printer starts with a blank.
template <typename AttrTy>
ParseResult parseKeyword(OpAsmParser &parser, AttrTy &attribute) {
  using Enum = decltype(attribute.getValue());
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Enum> value = symbolizeEnum<Enum>(keyword);
  if (!value) {
    SmallVector<StringRef> names;
    for (int i = 0; !stringifyEnum(static_cast<Enum>(i)).empty(); ++i)
      names.push_back(stringifyEnum(static_cast<Enum>(i)));
    InFlightDiagnostic error = parser.emitError(loc, "expected ");
    llvm::interleave(names, error, " or ");
    return error << ", got " << keyword;
  }
  attribute = AttrTy::get(parser.getContext(), *value);
  return success();
}

template <typename AttrTy>
void printKeyword(OpAsmPrinter &printer, Operation *, AttrTy attribute) {
  printer << stringifyEnum(attribute.getValue());
}

/// result-types ::= type | `(` type (`,` type)? `)`
inline ParseResult parseResultTypes(OpAsmParser &parser, Type &first,
                                    Type &second) {
  if (failed(parser.parseOptionalLParen()))
    return parser.parseType(first);
  if (parser.parseType(first))
    return failure();
  if (succeeded(parser.parseOptionalComma()) && parser.parseType(second))
    return failure();
  return parser.parseRParen();
}

inline void printResultTypes(OpAsmPrinter &printer, Operation *, Type first,
                             Type second) {
  if (second)
    printer << "(" << first << ", " << second << ")";
  else
    printer << first;
}

} // namespace mlir::attn

#endif // ATTN_DIALECT_ASSEMBLYFORMAT_H
