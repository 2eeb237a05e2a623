// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps in order: parse and check, run the pipelines, translate to LLVM
// IR, optimise, generate code.

#include "runtime/compile/Compiler.h"

#include "runtime/compile/Ahead.h"
#include "runtime/compile/BigStack.h"
#include "runtime/compile/CodeGen.h"
#include "runtime/compile/Diagnostics.h"
#include "runtime/compile/Source.h"

#include "passes/Pipelines.h"
#include "passes/Registration.h"
#include "passes/analysis/CostModel.h"
#include "passes/analysis/Explain.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"

using namespace mlir;

namespace attn {

namespace {
/// Rule texts are on the plan functions as long as those are func.func; this
/// picks them up after the pass that writes them.
class CollectRules : public PassInstrumentation {
public:
  explicit CollectRules(llvm::StringMap<std::vector<std::string>> &rules)
      : rules(rules) {}
  void runAfterPass(Pass *, Operation *op) override;

private:
  llvm::StringMap<std::vector<std::string>> &rules;
};

/// One compilation; lives on the big stack.
class Compilation {
public:
  explicit Compilation(const CompileRequest &request);

  Result<void> lower();
  Result<std::string> generate(llvm::CodeGenFileType kind);
  Result<ModuleImage> finish();
  std::string printLlvm() const;

private:
  Error failure(const std::string &fallback) const;
  Result<void> runPipelines(const std::string &target);
  void remarkOnTarget();

  const CompileRequest &request;
  MLIRContext context;
  Diagnostics diagnostics;
  std::optional<Source> source;
  llvm::StringMap<std::vector<std::string>> rules;
  std::optional<HostTarget> target;
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> llvmModule;
  std::unique_ptr<llvm::TargetMachine> machine;
};
} // namespace

void CollectRules::runAfterPass(Pass *, Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return;
  for (Operation &function : module.getOps()) {
    auto texts = function.getAttrOfType<ArrayAttr>("attn.rules");
    auto name = SymbolTable::getSymbolName(&function);
    if (!texts || !name || rules.contains(name))
      continue;
    for (auto text : texts.getAsRange<StringAttr>())
      rules[name].push_back(text.str());
  }
}

static const DialectRegistry &registry() {
  static const DialectRegistry all = [] {
    DialectRegistry registry;
    mlir::attn::registerAttn(registry);
    return registry;
  }();
  return all;
}

Compilation::Compilation(const CompileRequest &request)
    : request(request), context(registry(), MLIRContext::Threading::DISABLED),
      diagnostics(context) {
  // Messages carry locations; the op itself can be very long.
  context.printOpOnDiagnostic(false);
  diagnostics.attach(llvmContext);
  // Printed as diagnostics, the remarks end up with ours.
  std::string categories = request.options.remarks ? "attn-.*" : "";
  if (request.options.explain)
    categories +=
        (categories.empty() ? "" : "|") + mlir::attn::kExplainCategory.str();
  if (!categories.empty())
    mlir::attn::printRemarks(context, categories);
}

static Result<HostTarget> findTarget(const CompileRequest &request) {
  // What is linked may run elsewhere: the target is what its name promises, not
  // all that this CPU has.
  if (request.output == "ahead" && request.options.target == "host") {
    Result<HostTarget> host = resolveHostTarget("host", request.whyNoTiles);
    if (!host)
      return host.error();
    return resolveHostTarget(host->name, request.whyNoTiles, TargetUse::emit);
  }
  return resolveHostTarget(request.options.target, request.whyNoTiles,
                           request.output.empty() ? TargetUse::run
                                                  : TargetUse::emit);
}

/// "host" is without tiles where the process can't use them: says why, since
/// it may only lack a permission.
void Compilation::remarkOnTarget() {
  if (!request.options.remarks || target->name != "cpu:avx512bf16" ||
      request.options.target != "host" || request.whyNoTiles.empty())
    return;
  mlir::emitRemark(NameLoc::get(StringAttr::get(&context, request.name)))
      << "target: " << target->name << ", not cpu:amx: " << request.whyNoTiles;
}

Error Compilation::failure(const std::string &fallback) const {
  return Error{ErrorCode::compileFailure, diagnostics.hasErrors()
                                              ? diagnostics.errors()
                                              : request.name + ": " + fallback};
}

Result<void> Compilation::runPipelines(const std::string &targetName) {
  mlir::attn::PipelineOptions options;
  options.target = targetName;
  options.dump = request.options.dumpDir;
  options.exact = request.options.exact;
  options.favor = request.options.favor;
  options.reassociate = request.options.reassociate;
  options.linearForm = request.options.linearForm;
  options.linearChunk = request.options.linearChunk;
  options.countTiles = request.options.countTiles;
  options.mapMask = request.options.mapMask;
  PassManager passes(&context);
  passes.enableVerifier(false);
  passes.addInstrumentation(std::make_unique<CollectRules>(rules));
  mlir::attn::buildSource(passes, options);
  bool isReference = request.options.device == "reference";
  StringRef last = "cpu";
  if (isReference)
    last = request.options.referenceStage;
  if (last != "source")
    mlir::attn::buildRewrite(passes, options);
  if (last == "tile" || last == "cpu")
    mlir::attn::buildTile(passes, options);
  if (isReference) {
    mlir::attn::buildDecompose(passes, options);
    mlir::attn::buildReference(passes, options);
  } else {
    mlir::attn::buildCpu(passes, options);
  }
  if (failed(passes.run(*source->module)))
    return failure("the passes failed without a message");
  return {};
}

Result<void> Compilation::lower() {
  Result<HostTarget> resolved = findTarget(request);
  if (!resolved)
    return resolved.error();
  target = std::move(*resolved);
  remarkOnTarget();
  source = parseSource(request.text, request.name, context);
  if (!source)
    return failure("the text was refused without a message");
  if (Result<void> done = runPipelines(target->name); !done)
    return done.error();
  llvmModule = translateModuleToLLVMIR(*source->module, llvmContext, "attn",
                                       /*disableVerification=*/true);
  if (!llvmModule)
    return failure("the module has no translation to LLVM IR");
  auto prepared = prepareForTarget(*llvmModule, *target,
                                   request.output == "ahead" ? CodeUse::link
                                                             : CodeUse::load);
  if (!prepared)
    return prepared.error();
  machine = std::move(*prepared);
  return {};
}

Result<std::string> Compilation::generate(llvm::CodeGenFileType kind) {
  Result<std::string> code = generateCode(*llvmModule, *machine, kind);
  if (code && diagnostics.hasErrors())
    return failure("");
  return code;
}

std::string Compilation::printLlvm() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvmModule->print(stream, nullptr);
  return text;
}

/// True if compiled code calls into the OpenMP library.
static bool callsOpenMp(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &function) {
    return function.isDeclaration() &&
           (function.getName().starts_with("__kmpc_") ||
            function.getName().starts_with("omp_"));
  });
}

Result<ModuleImage> Compilation::finish() {
  ModuleImage image;
  image.usesOpenMp = callsOpenMp(*llvmModule);
  image.functions = std::move(source->functions);
  for (CompiledFunction &function : image.functions)
    function.rules = rules.lookup(function.signature.function + ".plan");
  image.target = target->name;
  if (request.output == "ahead")
    exportAhead(*llvmModule, image, request.prefix);
  Result<std::string> object = generate(llvm::CodeGenFileType::ObjectFile);
  if (!object)
    return object.error();
  image.object = std::move(*object);
  if (request.options.remarks || request.options.explain)
    image.remarks = diagnostics.remarks();
  return image;
}

/// What is wrong with the options of passes, or empty.
static std::string findBadPassOption(const EngineOptions &options) {
  auto got = [](const std::string &value) { return ", got '" + value + "'"; };
  if (!mlir::attn::parseReassociation(options.reassociate))
    return "option reassociate: expected auto, always or never" +
           got(options.reassociate);
  if (options.linearForm != "auto" &&
      !mlir::attn::parseLinearForm(options.linearForm))
    return "option linearForm: expected auto, quadratic, chunk or recurrent" +
           got(options.linearForm);
  if (options.linearChunk < 0)
    return "option linearChunk: expected 0 or a number of tokens" +
           got(std::to_string(options.linearChunk));
  return "";
}

Result<void> checkOptions(const CompileRequest &request) {
  const EngineOptions &options = request.options;
  if (options.device != "cpu" && options.device != "reference")
    return Error{ErrorCode::unsupported,
                 "option device: expected cpu or reference, got '" +
                     options.device + "'"};
  if (options.favor != "exact" && options.favor != "textbook")
    return Error{ErrorCode::invalidArgument,
                 "option favor: expected exact or textbook, got '" +
                     options.favor + "'"};
  StringRef stage = options.referenceStage;
  if (stage != "source" && stage != "rewrite" && stage != "tile")
    return Error{ErrorCode::invalidArgument,
                 "option referenceStage: expected source, rewrite or tile, "
                 "got '" +
                     options.referenceStage + "'"};
  if (stage != "source" && options.device != "reference")
    return Error{ErrorCode::invalidArgument,
                 "option referenceStage: expected device reference beside '" +
                     options.referenceStage + "', got " + options.device};
  if (std::string bad = findBadPassOption(options); !bad.empty())
    return Error{ErrorCode::invalidArgument, bad};
  Result<HostTarget> target = findTarget(request);
  if (!target)
    return target.error();
  return {};
}

Result<ModuleImage> compile(const CompileRequest &request) {
  if (Result<void> usable = checkOptions(request); !usable)
    return usable.error();
  Result<ModuleImage> result = Error{};
  runOnBigStack([&] {
    Compilation compilation(request);
    Result<void> lowered = compilation.lower();
    result = lowered ? compilation.finish() : lowered.error();
  });
  return result;
}

Result<std::string> emitModule(const CompileRequest &request) {
  if (Result<void> usable = checkOptions(request); !usable)
    return usable.error();
  Result<std::string> result = Error{};
  runOnBigStack([&] {
    Compilation compilation(request);
    if (Result<void> lowered = compilation.lower(); !lowered)
      result = lowered.error();
    else if (request.output == "llvm")
      result = compilation.printLlvm();
    else
      result = compilation.generate(request.output == "asm"
                                        ? llvm::CodeGenFileType::AssemblyFile
                                        : llvm::CodeGenFileType::ObjectFile);
  });
  return result;
}

} // namespace attn
