// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mask attributes: assembly, verification and the predicate each stands for.

#include "dialect/Attn.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::attn;

//===- causal -------------------------------------------------------------===//

static Value buildCausal(OpBuilder &builder, Location loc,
                         const MaskCoordinates &at) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, at.j,
                               at.i);
}

Value CausalAttr::buildKeep(OpBuilder &builder, Location loc,
                            MaskCoordinates at) const {
  return buildCausal(builder, loc, at);
}

//===- prefix -------------------------------------------------------------===//

bool PrefixAttr::usesPrefix() const { return true; }

Value PrefixAttr::buildKeep(OpBuilder &builder, Location loc,
                            MaskCoordinates at) const {
  Value inPrefix = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, at.j, at.prefix);
  return arith::OrIOp::create(builder, loc, inPrefix,
                              buildCausal(builder, loc, at));
}

//===- window -------------------------------------------------------------===//

/// window ::= `<` bound (`,` bound)? `>`, bound ::= (`left`|`right`) `=`
/// integer
Attribute WindowAttr::parse(AsmParser &parser, Type) {
  std::optional<int64_t> left, right;
  auto parseBound = [&]() -> ParseResult {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<int64_t> *bound = keyword == "left"    ? &left
                                    : keyword == "right" ? &right
                                                         : nullptr;
    if (!bound)
      return parser.emitError(loc)
             << "window: expected 'left' or 'right', got '" << keyword << "'";
    if (*bound)
      return parser.emitError(loc) << "window: '" << keyword << "' given twice";
    int64_t value;
    if (parser.parseEqual() || parser.parseInteger(value))
      return failure();
    *bound = value;
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseBound))
    return {};
  return parser.getChecked<WindowAttr>(loc, parser.getContext(), left, right);
}

void WindowAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (getLeft())
    printer << "left = " << *getLeft();
  if (getLeft() && getRight())
    printer << ", ";
  if (getRight())
    printer << "right = " << *getRight();
  printer << ">";
}

LogicalResult WindowAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 std::optional<int64_t> left,
                                 std::optional<int64_t> right) {
  if (left && *left < 0)
    return emitError() << "window left: expected a bound >= 0, got " << *left;
  if (right && *right < 0)
    return emitError() << "window right: expected a bound >= 0, got " << *right;
  return success();
}

bool WindowAttr::keepsAll() const { return !getLeft() && !getRight(); }

/// -left <= j - i <= right. The difference of two positions fits where their
/// sum with a bound may not.
Value WindowAttr::buildKeep(OpBuilder &builder, Location loc,
                            MaskCoordinates at) const {
  using arith::CmpIPredicate;
  Value keep;
  Value distance = arith::SubIOp::create(builder, loc, at.j, at.i);
  auto addBound = [&](CmpIPredicate predicate, int64_t bound) {
    Value limit = arith::ConstantIndexOp::create(builder, loc, bound);
    Value holds =
        arith::CmpIOp::create(builder, loc, predicate, distance, limit);
    keep = keep ? arith::AndIOp::create(builder, loc, keep, holds).getResult()
                : holds;
  };
  if (getLeft())
    addBound(CmpIPredicate::sge, -*getLeft());
  if (getRight())
    addBound(CmpIPredicate::sle, *getRight());
  if (!keep)
    keep = arith::ConstantIntOp::create(builder, loc, /*value=*/1, /*width=*/1);
  return keep;
}
