// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of clauses. A clause is one line here, beside its operand,
// attribute or region in the definition of the op.

#ifndef ATTN_DIALECT_CLAUSETABLES_H
#define ATTN_DIALECT_CLAUSETABLES_H

#include "dialect/AssemblyFormat.h"
#include "dialect/Clauses.h"

namespace mlir::attn {

/// keyword
constexpr Clause flagClause(llvm::StringLiteral keyword) {
  return {keyword, Clause::Form::Flag};
}

/// keyword `(` operands `:` types `)`
constexpr Clause operandClause(llvm::StringLiteral keyword,
                               unsigned numOperands = 1) {
  return {keyword, Clause::Form::Operands, nullptr, nullptr, numOperands};
}

/// keyword region
constexpr Clause regionClause(llvm::StringLiteral keyword) {
  return {keyword, Clause::Form::Region};
}

template <typename AttrTy>
ParseResult parsePlainAttribute(OpAsmParser &parser, Attribute &out) {
  AttrTy attribute;
  ParseResult parsed = parser.parseAttribute(attribute);
  out = attribute;
  return parsed;
}
inline void printPlainAttribute(OpAsmPrinter &printer, Attribute attribute) {
  printer << attribute;
}

/// keyword `(` attribute `)`
template <typename AttrTy>
constexpr Clause attributeClause(llvm::StringLiteral keyword) {
  return {keyword, Clause::Form::Attribute, parsePlainAttribute<AttrTy>,
          printPlainAttribute};
}

inline ParseResult parseListAttribute(OpAsmParser &parser, Attribute &out) {
  ArrayAttr list;
  ParseResult parsed = parseAttributeList(parser, list);
  out = list;
  return parsed;
}
inline void printListAttribute(OpAsmPrinter &printer, Attribute attribute) {
  printAttributeList(printer, nullptr, cast<ArrayAttr>(attribute));
}

/// keyword `(` attribute (`,` attribute)* `)`
constexpr Clause listClause(llvm::StringLiteral keyword) {
  return {keyword, Clause::Form::Attribute, parseListAttribute,
          printListAttribute};
}

template <typename AttrTy>
ParseResult parseKeywordAttribute(OpAsmParser &parser, Attribute &out) {
  AttrTy attribute;
  ParseResult parsed = parseKeyword(parser, attribute);
  out = attribute;
  return parsed;
}
template <typename AttrTy>
void printKeywordAttribute(OpAsmPrinter &printer, Attribute attribute) {
  printKeyword(printer, nullptr, cast<AttrTy>(attribute));
}

/// keyword `(` name of a case of the enum `)`
template <typename AttrTy>
constexpr Clause keywordClause(llvm::StringLiteral keyword) {
  return {keyword, Clause::Form::Attribute, parseKeywordAttribute<AttrTy>,
          printKeywordAttribute<AttrTy>};
}

inline ParseResult parseFloatAttribute(OpAsmParser &parser, Attribute &out) {
  FloatAttr number;
  ParseResult parsed =
      parser.parseAttribute(number, parser.getBuilder().getF64Type());
  out = number;
  return parsed;
}
inline void printUntypedAttribute(OpAsmPrinter &printer, Attribute attribute) {
  printer.printAttributeWithoutType(attribute);
}

/// keyword `(` number `)`
constexpr Clause floatClause(llvm::StringLiteral keyword) {
  return {keyword, Clause::Form::Attribute, parseFloatAttribute,
          printUntypedAttribute};
}

/// keyword `(` number `)` or keyword `(` operand `:` type `)`
constexpr Clause floatOrValueClause(llvm::StringLiteral keyword) {
  return {keyword, Clause::Form::Number, parseFloatAttribute,
          printUntypedAttribute, 1};
}

inline ParseResult parseIntegerAttribute(OpAsmParser &parser, Attribute &out) {
  IntegerAttr number;
  ParseResult parsed =
      parser.parseAttribute(number, parser.getBuilder().getI64Type());
  out = number;
  return parsed;
}

/// keyword `(` integer `)`
constexpr Clause integerClause(llvm::StringLiteral keyword) {
  return {keyword, Clause::Form::Attribute, parseIntegerAttribute,
          printUntypedAttribute};
}

/// The same clause, without which there is no op.
constexpr Clause required(Clause clause) {
  clause.isRequired = true;
  return clause;
}

inline constexpr Clause softmaxClauses[] = {
    floatOrValueClause("scale"),
    floatOrValueClause("softcap"),
    keywordClause<AlignmentAttr>("align"),
    operandClause("offset"),
    listClause("mask"),
    operandClause("prefix"),
    operandClause("random_blocks"),
    operandClause("alibi"),
    operandClause("bias"),
    operandClause("select"),
    operandClause("lengths"),
    operandClause("key_offset"),
    operandClause("sinks"),
    operandClause("query_starts"),
    operandClause("key_starts"),
    regionClause("score"),
    regionClause("keep")};

inline constexpr Clause linearClauses[] = {
    floatClause("scale"),
    operandClause("decay"),
    operandClause("beta"),
    operandClause("transition", /*numOperands=*/2),
    operandClause("bonus"),
    operandClause("state"),
    operandClause("lengths"),
    operandClause("query_starts"),
    operandClause("key_starts"),
    listClause("feature"),
    keywordClause<NormalizerAttr>("normalize"),
    integerClause("block"),
    flagClause("causal")};

inline constexpr Clause featureMapClauses[] = {
    attributeClause<FeatureAttrInterface>("feature"),
    operandClause("projection"),
    floatClause("scale"),
    operandClause("offset"),
    operandClause("length"),
    operandClause("lengths"),
    flagClause("log"),
    regionClause("map")};

inline constexpr Clause randomFeaturesClauses[] = {
    required(integerClause("seed")), flagClause("orthogonal"),
    keywordClause<NormsAttr>("norms")};

inline constexpr Clause favorClauses[] = {
    required(keywordClause<FavorKindAttr>("kind")), floatClause("scale"),
    floatClause("eps"), operandClause("lengths"), flagClause("causal")};

inline constexpr ClauseTable clauseTables[] = {
    {"attn.softmax", 3, softmaxClauses},
    {"attn.gqa", 3, softmaxClauses},
    {"attn.linear", 3, linearClauses},
    {"attn.feature_map", 1, featureMapClauses},
    {"attn.random_features", 0, randomFeaturesClauses},
    {"attn.favor", 4, favorClauses}};

} // namespace mlir::attn

#endif // ATTN_DIALECT_CLAUSETABLES_H
