// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parser and printer of ops with clauses.

#include "dialect/Clauses.h"

#include "dialect/ClauseTables.h"

using namespace mlir;
using namespace mlir::attn;

static constexpr llvm::StringLiteral kSegments = "operandSegmentSizes";

static const ClauseTable &getTable(OperationName op) {
  const auto *table = llvm::find_if(clauseTables, [&](const ClauseTable &t) {
    return t.op == op.getStringRef();
  });
  assert(table != std::end(clauseTables) && "expected an op with a table");
  return *table;
}

static bool hasSegments(OperationName op) {
  return op.hasTrait<OpTrait::AttrSizedOperandSegments>();
}

//===- parsing ------------------------------------------------------------===//

namespace {

/// Parses one op.
class ClauseParser {
public:
  ClauseParser(OpAsmParser &parser, OperationState &result)
      : parser(parser), result(result), table(getTable(result.name)),
        entries(table.clauses.size()) {}

  ParseResult parse();

private:
  /// What was read of one clause.
  struct Entry {
    bool isThere = false;
    SmallVector<OpAsmParser::UnresolvedOperand, 2> operands;
    SmallVector<Type, 2> types;
    std::unique_ptr<Region> region;
  };

  /// Ends `error` with the clauses that the op has.
  ParseResult listClauses(InFlightDiagnostic error);
  ParseResult refuseUnknown(SMLoc loc, StringRef keyword);
  ParseResult parseClause(const Clause &clause, Entry &entry);
  ParseResult parseOperands(const Clause &clause, Entry &entry);
  ParseResult parseAttribute(const Clause &clause);
  ParseResult parseAttributes();
  ParseResult parseTypes();
  ParseResult resolveOperands();

  OpAsmParser &parser;
  OperationState &result;
  const ClauseTable &table;
  SmallVector<Entry> entries;
  SmallVector<OpAsmParser::UnresolvedOperand, 4> operands;
  SmallVector<Type, 4> types;
  SMLoc begin;
};

} // namespace

ParseResult ClauseParser::listClauses(InFlightDiagnostic error) {
  error << ", expected one of ";
  llvm::interleaveComma(table.clauses, error,
                        [&](const Clause &c) { error << c.keyword; });
  return error;
}

ParseResult ClauseParser::refuseUnknown(SMLoc loc, StringRef keyword) {
  SmallVector<StringRef> owners;
  for (const ClauseTable &other : clauseTables)
    if (llvm::any_of(other.clauses,
                     [&](const Clause &c) { return c.keyword == keyword; }))
      owners.push_back(other.op);
  InFlightDiagnostic error = parser.emitError(loc);
  if (owners.empty())
    return listClauses(
        std::move(error << "unknown clause '" << keyword << "'"));
  error << "has no clause '" << keyword << "', which is one of ";
  llvm::interleave(owners, error, " and ");
  return listClauses(std::move(error));
}

ParseResult ClauseParser::parseOperands(const Clause &clause, Entry &entry) {
  for (unsigned i = 0; i < clause.numOperands; ++i)
    if ((i > 0 && parser.parseComma()) ||
        parser.parseOperand(entry.operands.emplace_back()))
      return failure();
  if (parser.parseColon())
    return failure();
  for (unsigned i = 0; i < clause.numOperands; ++i)
    if ((i > 0 && parser.parseComma()) ||
        parser.parseType(entry.types.emplace_back()))
      return failure();
  return success();
}

ParseResult ClauseParser::parseAttribute(const Clause &clause) {
  Attribute attribute;
  if (clause.parse(parser, attribute))
    return failure();
  result.addAttribute(clause.keyword, attribute);
  return success();
}

ParseResult ClauseParser::parseClause(const Clause &clause, Entry &entry) {
  using Form = Clause::Form;
  switch (clause.form) {
  case Form::Flag:
    result.addAttribute(clause.keyword, parser.getBuilder().getUnitAttr());
    return success();
  case Form::Region:
    entry.region = std::make_unique<Region>();
    return parser.parseRegion(*entry.region);
  case Form::Attribute:
    return failure(parser.parseLParen() || parseAttribute(clause) ||
                   parser.parseRParen());
  case Form::Operands:
    return failure(parser.parseLParen() || parseOperands(clause, entry) ||
                   parser.parseRParen());
  case Form::Number:
    break;
  }
  if (parser.parseLParen())
    return failure();
  OptionalParseResult isValue =
      parser.parseOptionalOperand(entry.operands.emplace_back());
  if (!isValue.has_value()) {
    entry.operands.clear();
    return failure(parseAttribute(clause) || parser.parseRParen());
  }
  return failure(failed(*isValue) ||
                 parser.parseColonType(entry.types.emplace_back()) ||
                 parser.parseRParen());
}

/// The attributes that are no clauses, or spell one as an attribute.
ParseResult ClauseParser::parseAttributes() {
  NamedAttrList attributes;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(attributes))
    return failure();
  for (auto [clause, entry] : llvm::zip(table.clauses, entries))
    if (entry.isThere && attributes.get(clause.keyword))
      return parser.emitError(loc)
             << "clause '" << clause.keyword << "' given twice";
  if (hasSegments(result.name) && attributes.get(kSegments))
    return parser.emitError(loc) << "expected no attribute '" << kSegments
                                 << "', which follows from the clauses";
  result.attributes.append(attributes.begin(), attributes.end());
  for (auto [clause, entry] : llvm::zip(table.clauses, entries))
    if (clause.isRequired && !result.attributes.get(clause.keyword))
      return parser.emitError(begin)
             << "expected clause '" << clause.keyword << "'";
  return result.name.verifyInherentAttrs(result.attributes,
                                         [&] { return parser.emitError(loc); });
}

/// types ::= type, or `(` types `)` if there are several operands
ParseResult ClauseParser::parseTypes() {
  if (parser.parseColon())
    return failure();
  if (table.numOperands > 1 && parser.parseLParen())
    return failure();
  for (unsigned i = 0; i < table.numOperands; ++i)
    if ((i > 0 && parser.parseComma()) ||
        parser.parseType(types.emplace_back()))
      return failure();
  if ((table.numOperands > 1 && parser.parseRParen()) ||
      (table.numOperands > 0 && parser.parseArrow()))
    return failure();
  Type first, second;
  if (parseResultTypes(parser, first, second))
    return failure();
  result.addTypes(first);
  if (second)
    result.addTypes(second);
  return success();
}

ParseResult ClauseParser::resolveOperands() {
  if (parser.resolveOperands(operands, types, begin, result.operands))
    return failure();
  SmallVector<int32_t> segments(table.numOperands, 1);
  for (auto [clause, entry] : llvm::zip(table.clauses, entries)) {
    segments.append(clause.numOperands, entry.operands.empty() ? 0 : 1);
    if (parser.resolveOperands(entry.operands, entry.types, begin,
                               result.operands))
      return failure();
  }
  if (hasSegments(result.name))
    result.addAttribute(kSegments,
                        parser.getBuilder().getDenseI32ArrayAttr(segments));
  return success();
}

ParseResult ClauseParser::parse() {
  begin = parser.getCurrentLocation();
  for (unsigned i = 0; i < table.numOperands; ++i)
    if ((i > 0 && parser.parseComma()) ||
        parser.parseOperand(operands.emplace_back()))
      return failure();
  StringRef keyword;
  for (SMLoc loc = parser.getCurrentLocation();
       succeeded(parser.parseOptionalKeyword(&keyword));
       loc = parser.getCurrentLocation()) {
    const auto *clause = llvm::find_if(
        table.clauses, [&](const Clause &c) { return c.keyword == keyword; });
    if (clause == table.clauses.end())
      return refuseUnknown(loc, keyword);
    Entry &entry = entries[clause - table.clauses.begin()];
    if (entry.isThere)
      return parser.emitError(loc) << "clause '" << keyword << "' given twice";
    entry.isThere = true;
    if (parseClause(*clause, entry))
      return failure();
  }
  if (parseAttributes() || parseTypes() || resolveOperands())
    return failure();
  for (auto [clause, entry] : llvm::zip(table.clauses, entries))
    if (clause.form == Clause::Form::Region)
      result.addRegion(entry.region ? std::move(entry.region)
                                    : std::make_unique<Region>());
  return success();
}

ParseResult attn::parseClauses(OpAsmParser &parser, OperationState &result) {
  return ClauseParser(parser, result).parse();
}

//===- printing -----------------------------------------------------------===//

void attn::printClauses(OpAsmPrinter &printer, Operation *op) {
  const ClauseTable &table = getTable(op->getName());
  OperandRange operands = op->getOperands().take_front(table.numOperands);
  if (!operands.empty())
    printer << ' ' << operands;
  // Without segments there is at most one operand in all clauses.
  SmallVector<int32_t> rest{
      static_cast<int32_t>(op->getNumOperands() - table.numOperands)};
  ArrayRef<int32_t> segments = rest;
  if (auto sizes = op->getAttrOfType<DenseI32ArrayAttr>(kSegments))
    segments = sizes.asArrayRef().drop_front(table.numOperands);
  unsigned nextOperand = table.numOperands, nextRegion = 0;

  SmallVector<StringRef> elided{kSegments};
  for (const Clause &clause : table.clauses) {
    unsigned count = 0;
    for (int32_t size : segments.take_front(clause.numOperands))
      count += size;
    segments = segments.drop_front(clause.numOperands);
    OperandRange values = op->getOperands().slice(nextOperand, count);
    nextOperand += count;
    if (clause.form == Clause::Form::Region) {
      Region &region = op->getRegion(nextRegion++);
      if (!region.empty()) {
        printer << ' ' << clause.keyword << ' ';
        printer.printRegion(region);
      }
      continue;
    }
    elided.push_back(clause.keyword);
    Attribute attribute = op->getAttr(clause.keyword);
    if (!attribute && values.empty())
      continue;
    printer << ' ' << clause.keyword;
    if (clause.form == Clause::Form::Flag)
      continue;
    printer << '(';
    if (values.empty())
      clause.print(printer, attribute);
    else
      printer << values << " : " << values.getTypes();
    printer << ')';
  }

  printer.printOptionalAttrDict(op->getAttrs(), elided);
  printer << " : ";
  if (table.numOperands > 1)
    printer << '(' << operands.getTypes() << ')';
  else
    printer << operands.getTypes();
  if (table.numOperands > 0)
    printer << " -> ";
  printResultTypes(printer, op, op->getResult(0).getType(),
                   op->getNumResults() > 1 ? op->getResult(1).getType()
                                           : Type());
}
