// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing, and the description of public functions: names of arguments and
// results as the text spells them, and the sizes of attention ops.

#include "runtime/compile/Source.h"

#include "dialect/Attn.h"
#include "runtime/compile/Rounding.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace attn {

/// "%q" at `range` without the percent sign.
static std::string nameAt(SMRange range) {
  if (!range.isValid())
    return "";
  StringRef text(range.Start.getPointer(),
                 range.End.getPointer() - range.Start.getPointer());
  return text.consume_front("%") ? text.str() : "";
}

static std::string nameOf(mlir::Value value, const AsmParserState &state) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const auto *block = state.getBlockDef(argument.getOwner());
    if (!block || argument.getArgNumber() >= block->arguments.size())
      return "";
    return nameAt(block->arguments[argument.getArgNumber()].loc);
  }
  auto result = cast<OpResult>(value);
  const auto *op = state.getOpDef(result.getOwner());
  if (!op)
    return "";
  for (size_t i = 0; i < op->resultGroups.size(); ++i) {
    const auto &group = op->resultGroups[i];
    unsigned end = i + 1 < op->resultGroups.size()
                       ? op->resultGroups[i + 1].startIndex
                       : result.getOwner()->getNumResults();
    unsigned number = result.getResultNumber();
    if (number < group.startIndex || number >= end)
      continue;
    std::string name = nameAt(group.definition.loc);
    // %r:2 is used as %r#0 and %r#1.
    if (end - group.startIndex > 1 && !name.empty())
      name += "#" + std::to_string(number - group.startIndex);
    return name;
  }
  return "";
}

std::optional<Parameter> describeType(Type type) {
  Parameter parameter;
  Type element = type;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    element = tensor.getElementType();
    for (int64_t size : tensor.getShape())
      parameter.sizes.push_back(ShapedType::isDynamic(size) ? -1 : size);
  } else if (isa<IndexType>(type)) {
    parameter.kind = Parameter::Kind::index;
    parameter.dtype = DType::i64;
    return parameter;
  } else if (type.isSignlessInteger(64) || type.isSignlessInteger(32) ||
             type.isF32()) {
    parameter.kind = Parameter::Kind::scalar;
  } else {
    return std::nullopt;
  }
  if (auto integer = dyn_cast<IntegerType>(element);
      integer && !integer.isSignless())
    return std::nullopt;
  // The spelling of these types is the same in MLIR and here.
  std::string spelling;
  llvm::raw_string_ostream(spelling) << element;
  Result<DType> dtype = parseDType(spelling);
  if (!dtype)
    return std::nullopt;
  parameter.dtype = *dtype;
  return parameter;
}

/// Where dimension `dim` of `value` comes from.
static SizeSource sizeSource(mlir::Value value, int64_t dim) {
  SizeSource source;
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.isDynamicDim(dim)) {
    source.kind = SizeSource::Kind::constant;
    source.constant = type.getDimSize(dim);
    return source;
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp())) {
    source.kind = SizeSource::Kind::argument;
    source.argument = argument.getArgNumber();
    source.dim = dim;
  }
  return source;
}

static CompiledFunction describeFunction(func::FuncOp function,
                                         const AsmParserState &state) {
  CompiledFunction described;
  Signature &signature = described.signature;
  signature.function = function.getName().str();
  for (BlockArgument argument : function.getArguments()) {
    signature.arguments.push_back(*describeType(argument.getType()));
    signature.arguments.back().name = nameOf(argument, state);
  }
  Operation *terminator = function.front().getTerminator();
  for (mlir::Value result : terminator->getOperands()) {
    signature.results.push_back(*describeType(result.getType()));
    signature.results.back().name = nameOf(result, state);
    Rounding rounding = findRounding(result);
    signature.results.back().rounding = rounding.narrowest;
    signature.results.back().jumps = std::move(rounding.jumps);
    if (auto op = result.getDefiningOp<mlir::attn::SoftmaxFamilyInterface>())
      signature.results.back().isLogSumExp = result == op.getLse();
  }
  function.walk([&](mlir::attn::SoftmaxFamilyInterface op) {
    mlir::Value q = op.getQuery(), v = op.getValue();
    described.attentions.push_back(
        {sizeSource(q, 0), sizeSource(q, 1), sizeSource(q, 2),
         sizeSource(op.getKey(), 2), sizeSource(q, 3), sizeSource(v, 3)});
  });
  return described;
}

std::optional<Source> parseSource(StringRef text, StringRef name,
                                  MLIRContext &context) {
  auto start = FileLineColLoc::get(&context, name, 1, 1);
  if (std::optional<std::string> problem = checkText(text)) {
    emitError(start) << *problem;
    return std::nullopt;
  }
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name),
                               SMLoc());
  Block block;
  AsmParserState state;
  if (failed(parseAsmSourceFile(sourceMgr, &block, ParserConfig(&context),
                                &state)))
    return std::nullopt;
  Source source;
  source.module =
      mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(
          &block, &context, start);
  if (!source.module || failed(checkModule(*source.module)))
    return std::nullopt;
  for (auto function : source.module->getOps<func::FuncOp>())
    if (function.isPublic())
      source.functions.push_back(describeFunction(function, state));
  return source;
}

} // namespace attn
