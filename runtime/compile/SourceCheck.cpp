// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The language that the pipelines compile, checked on the parsed module. What
// is refused here either has no lowering or would let a program reach past the
// runtime: calls into the process, traps, attributes that change code
// generation.

#include "runtime/compile/Source.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace attn {

// Far above any attention program; compile time grows faster than the count.
static constexpr int64_t maxOps = 20000;
static constexpr int64_t maxRank = 16;
// Sizes times a few bytes are within 64 bits.
static constexpr int64_t maxElements = (int64_t(1) << 59) - 1;
static constexpr size_t maxParameters = 1024;
// Constants become part of the object code, splats element by element.
static constexpr int64_t maxConstantBytes = int64_t(64) << 20;

static bool isKnownDialect(StringRef dialect) {
  return llvm::is_contained(
      {"affine", "arith", "attn", "func", "linalg", "math", "scf", "tensor"},
      dialect);
}

static bool isElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() &&
           llvm::is_contained({1, 8, 16, 32, 64}, integer.getWidth());
  return isa<IndexType, Float64Type, Float32Type, Float16Type, BFloat16Type>(
      type);
}

/// What is wrong with a type of values, as "expected ..., got ...", or nothing.
static std::optional<std::string> findBadType(Type type) {
  auto expected = [&](const std::string &what) {
    std::string text = "expected " + what + ", got ";
    llvm::raw_string_ostream(text) << type;
    return text;
  };
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!isElementType(getElementTypeOrSelf(type)) ||
      (isa<ShapedType>(type) && !tensor))
    return expected("a number or a tensor of numbers of at most 64 bits");
  if (!tensor)
    return std::nullopt;
  if (tensor.getEncoding())
    return expected("a tensor without an encoding");
  if (tensor.getRank() > maxRank)
    return expected("a tensor of at most " + std::to_string(maxRank) +
                    " dimensions");
  std::vector<int64_t> sizes;
  for (int64_t size : tensor.getShape())
    sizes.push_back(ShapedType::isDynamic(size) ? 1 : size);
  std::optional<int64_t> count = numElements(sizes);
  if (!count || *count > maxElements)
    return expected("a tensor of at most 2^59 elements");
  return std::nullopt;
}

/// Names become symbols of object code.
static bool isSymbolName(StringRef name) {
  auto isNameChar = [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$';
  };
  return !name.empty() && name.size() <= 256 && !llvm::isDigit(name[0]) &&
         llvm::all_of(name, isNameChar);
}

/// Later stages leave plans, and what stage cpu leaves is code.
static LogicalResult checkIsSource(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  bool isPlan = op->hasAttr("attn.rules");
  if (!isPlan && dialect != "llvm" && dialect != "omp")
    return success();
  std::string got =
      isPlan ? "a plan" : "'" + op->getName().getStringRef().str() + "'";
  return op->emitError() << "expected a source, not what a stage of the "
                            "compiler leaves, got "
                         << got;
}

static LogicalResult checkOp(Operation *op) {
  if (!isKnownDialect(op->getName().getDialectNamespace()))
    return op->emitError() << "expected ops of affine, arith, attn, func, "
                              "linalg, math, scf or tensor, got '"
                           << op->getName() << "'";
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (attribute.getName().getValue().starts_with("llvm."))
      return op->emitError() << "attribute '" << attribute.getName().getValue()
                             << "' is not supported";
  for (Type type : op->getResultTypes())
    if (std::optional<std::string> bad = findBadType(type))
      return op->emitOpError() << "result: " << *bad;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (std::optional<std::string> bad = findBadType(argument.getType()))
          return emitError(argument.getLoc()) << "block argument: " << *bad;
  return success();
}

/// Bytes that the tensor constants of `op` take in the object code, at most.
static int64_t constantBytes(Operation *op) {
  int64_t bytes = 0;
  for (NamedAttribute attribute : op->getAttrs())
    if (auto elements = dyn_cast<ElementsAttr>(attribute.getValue()))
      // The sum of types that were checked does not wrap.
      bytes += elements.getNumElements() * 8;
  return bytes;
}

/// Attributes on functions and arguments reach LLVM, where some change the
/// meaning of code (naked, align, writable).
static LogicalResult checkFunctionAttributes(func::FuncOp function) {
  for (NamedAttribute attribute : function->getDiscardableAttrs())
    return function.emitOpError()
           << "attribute '" << attribute.getName().getValue()
           << "' is not supported";
  auto check = [&](ArrayAttr all, const char *what) -> LogicalResult {
    if (!all)
      return success();
    for (auto [index, attributes] : llvm::enumerate(all))
      if (!cast<DictionaryAttr>(attributes).empty())
        return function.emitOpError()
               << what << " " << index << ": attributes are not supported";
    return success();
  };
  if (failed(check(function.getArgAttrsAttr(), "argument")))
    return failure();
  return check(function.getResAttrsAttr(), "result");
}

static LogicalResult checkFunction(func::FuncOp function) {
  if (function.isExternal())
    return function.emitOpError() << "expected a body";
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError() << "expected one block, got "
                                  << function.getBody().getBlocks().size();
  if (failed(checkFunctionAttributes(function)))
    return failure();
  if (!isSymbolName(function.getName()))
    return function.emitOpError() << "expected a name of letters, digits, _, . "
                                     "and $";
  if (!function.isPublic())
    return success();
  FunctionType type = function.getFunctionType();
  if (type.getNumInputs() > maxParameters ||
      type.getNumResults() > maxParameters)
    return function.emitOpError()
           << "expected at most " << maxParameters << " arguments and results";
  for (auto [index, input] : llvm::enumerate(type.getInputs()))
    if (!describeType(input))
      return function.emitOpError()
             << "argument " << index
             << ": expected a tensor of f64, f32, f16, bf16, i1, i8, i32 or "
                "i64, or index, i64, i32 or f32, got "
             << input;
  for (auto [index, result] : llvm::enumerate(type.getResults()))
    if (!describeType(result) || !isa<RankedTensorType>(result))
      return function.emitOpError()
             << "result " << index
             << ": expected a tensor of f64, f32, f16, bf16, i1, i8, i32 or "
                "i64, got "
             << result;
  return success();
}

/// Follows calls depth first; `open` holds the functions on the way.
static LogicalResult checkCalls(func::FuncOp function, ModuleOp module,
                                llvm::StringSet<> &open,
                                llvm::StringSet<> &done) {
  if (done.contains(function.getName()))
    return success();
  open.insert(function.getName());
  WalkResult result = function.walk([&](func::CallOp call) {
    if (open.contains(call.getCallee())) {
      call.emitOpError() << "expected no recursion, got a call of '"
                         << call.getCallee() << "' from within itself";
      return WalkResult::interrupt();
    }
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee || failed(checkCalls(callee, module, open, done)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  open.erase(function.getName());
  done.insert(function.getName());
  return failure(result.wasInterrupted());
}

LogicalResult checkModule(ModuleOp module) {
  for (NamedAttribute attribute : module->getDiscardableAttrs())
    if (attribute.getName().getValue() != "attn.target")
      return module.emitOpError()
             << "attribute '" << attribute.getName().getValue()
             << "' is not supported";
  int64_t count = 0, constants = 0;
  WalkResult walked =
      module.getBodyRegion().walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (++count > maxOps) {
          op->emitError() << "expected at most " << maxOps
                          << " operations in a module";
          return WalkResult::interrupt();
        }
        bool isTopLevel = op->getParentOp() == module;
        if (isTopLevel && failed(checkIsSource(op)))
          return WalkResult::interrupt();
        if (isTopLevel != isa<func::FuncOp>(op)) {
          op->emitError() << "expected functions (func.func) in a module and "
                             "none elsewhere, got '"
                          << op->getName() << "'";
          return WalkResult::interrupt();
        }
        if (failed(checkOp(op)))
          return WalkResult::interrupt();
        constants += std::min(constantBytes(op), maxConstantBytes + 1);
        if (constants > maxConstantBytes) {
          op->emitError() << "expected at most " << maxConstantBytes
                          << " bytes of constants in a module";
          return WalkResult::interrupt();
        }
        return WalkResult::advance();
      });
  if (walked.wasInterrupted())
    return failure();
  bool hasPublic = false;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (failed(checkFunction(function)))
      return failure();
    hasPublic |= function.isPublic();
  }
  if (!hasPublic)
    return module.emitOpError() << "expected a public function";
  llvm::StringSet<> open, done;
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(checkCalls(function, module, open, done)))
      return failure();
  return success();
}

} // namespace attn
