// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Engine and Program over the compiler and the call checks.

#include "runtime/Engine.h"

#include "runtime/Call.h"
#include "runtime/Files.h"
#include "runtime/ahead/Header.h"
#include "runtime/cache/ModuleCache.h"
#include "runtime/code/CompilerLibrary.h"
#include "runtime/code/OpenMp.h"

#include <functional>

namespace attn {

// Source files are text written by people or tools, not data.
static constexpr uint64_t maxFileBytes = uint64_t(64) << 20;
// Programs kept per engine; the oldest goes first.
static constexpr size_t maxCached = 1024;
static constexpr int maxThreads = 1024;

struct Engine::Impl {
  EngineOptions options;
  // Programs come back for their tile counters.
  std::shared_ptr<ModuleCache> cache = std::make_shared<ModuleCache>(maxCached);
};

struct Program::Impl {
  std::shared_ptr<ModuleCache> cache;
  CompileRequest request;
  std::shared_ptr<const CompiledModule> module;

  using Body = std::function<Result<void>(const CompiledFunction &)>;
  /// Runs `body` on the function of that name under the call's options.
  Result<void> run(std::string_view name, CallOptions options,
                   const Body &body) const;
};

static Result<const CompiledFunction *> find(const CompiledModule &module,
                                             std::string_view name) {
  std::string known;
  for (const CompiledFunction &function : module.functions) {
    if (function.signature.function == name)
      return &function;
    known += known.empty() ? "" : ", ";
    known += function.signature.function;
  }
  return Error{ErrorCode::invalidArgument, "function: expected one of " +
                                               known + ", got '" +
                                               std::string(name) + "'"};
}

Engine::Engine(EngineOptions options) : impl(std::make_shared<Impl>()) {
  impl->options = std::move(options);
}

Result<Engine> Engine::create(EngineOptions options) {
  // Every machine has them; the compiler, which knows the others, takes longer
  // to open than programs take to load from the disk cache.
  bool isKnown = options.device == "cpu" || options.device == "reference";
  if (isKnown && options.target == "host" &&
      options.referenceStage == "source" && options.reassociate == "auto" &&
      options.linearForm == "auto" && options.linearChunk == 0)
    return Engine(std::move(options));
  const Result<CompilerLibrary> &compiler = CompilerLibrary::get();
  if (!compiler)
    return compiler.error();
  if (Result<void> usable = compiler->checkOptions(options); !usable)
    return usable.error();
  return Engine(std::move(options));
}

const EngineOptions &Engine::options() const { return impl->options; }

Result<Program> Engine::compileText(std::string_view text,
                                    const std::string &name) const {
  auto program = std::make_shared<Program::Impl>();
  program->cache = impl->cache;
  program->request = CompileRequest::forOptions(impl->options);
  program->request.text = text;
  program->request.name = name;
  ModuleResult module = impl->cache->find(program->request);
  if (!module)
    return module.error();
  program->module = *module;
  return Program(std::move(program));
}

Result<Program> Engine::compileFile(const std::string &path) const {
  Result<std::string> text = readFile(path, maxFileBytes);
  if (!text)
    return text.error();
  return compileText(*text, path);
}

Result<Program> Engine::compile(const AttentionSpec &spec) const {
  Result<std::string> text = buildAttention(spec);
  if (!text)
    return text.error();
  return compileText(*text, "attention '" + spec.name + "'");
}

Program::Program(std::shared_ptr<const Impl> impl) : impl(std::move(impl)) {}

Result<void> Program::Impl::run(std::string_view name, CallOptions options,
                                const Body &body) const {
  if (options.threads < 0 || options.threads > maxThreads)
    return Error{ErrorCode::invalidArgument,
                 "option threads: expected 0 to " + std::to_string(maxThreads) +
                     ", got " + std::to_string(options.threads)};
  Result<const CompiledFunction *> function = find(*module, name);
  if (!function)
    return function.error();
  if (!module->usesOpenMp)
    return body(**function);
  // Linking has opened the library.
  const OpenMp &openMp = *OpenMp::get();
  if (Result<void> done = openMp.startThreads(options.threads); !done)
    return done.error();
  ThreadCount threads(openMp, options.threads);
  return body(**function);
}

Result<std::vector<Tensor>> Program::call(std::string_view name,
                                          const std::vector<Value> &inputs,
                                          CallOptions options) const {
  std::vector<Tensor> results;
  Result<void> done = impl->run(
      name, options, [&](const CompiledFunction &function) -> Result<void> {
        Result<std::vector<Tensor>> tensors = callFunction(function, inputs);
        if (!tensors)
          return tensors.error();
        results = std::move(*tensors);
        return {};
      });
  if (!done)
    return done.error();
  return results;
}

Result<void> Program::callInto(std::string_view name,
                               const std::vector<Value> &inputs,
                               const std::vector<TensorView> &outputs,
                               CallOptions options) const {
  return impl->run(name, options, [&](const CompiledFunction &function) {
    return callFunctionInto(function, inputs, outputs);
  });
}

std::vector<std::string> Program::functions() const {
  std::vector<std::string> names;
  for (const CompiledFunction &function : impl->module->functions)
    names.push_back(function.signature.function);
  return names;
}

Result<Signature> Program::signature(std::string_view name) const {
  Result<const CompiledFunction *> function = find(*impl->module, name);
  if (!function)
    return function.error();
  return (*function)->signature;
}

Result<std::vector<std::vector<int64_t>>>
Program::resultSizes(std::string_view name,
                     const std::vector<Value> &inputs) const {
  Result<const CompiledFunction *> function = find(*impl->module, name);
  if (!function)
    return function.error();
  return planFunction(**function, inputs);
}

Result<std::array<int64_t, 3>>
Program::tiles(std::string_view name, const std::vector<Value> &inputs) const {
  // The counters are code of their own, compiled only for those who ask.
  std::shared_ptr<const CompiledModule> module = impl->module;
  if (!impl->request.options.countTiles) {
    CompileRequest request = impl->request;
    request.options.countTiles = true;
    ModuleResult counting = impl->cache->find(request);
    if (!counting)
      return counting.error();
    module = *counting;
  }
  Result<const CompiledFunction *> function = find(*module, name);
  if (!function)
    return function.error();
  if (!module->usesOpenMp)
    return countTiles(**function, inputs);
  ThreadCount threads(*OpenMp::get(), 1);
  return countTiles(**function, inputs);
}

Result<MaskMap> Program::maskMap(std::string_view name,
                                 const std::vector<Value> &inputs,
                                 MaskPlace place, int64_t maxElements) const {
  CompileRequest request = impl->request;
  request.options.mapMask = true;
  ModuleResult module = impl->cache->find(request);
  if (!module)
    return module.error();
  Result<const CompiledFunction *> function = find(**module, name);
  if (!function)
    return function.error();
  if (!(*module)->usesOpenMp)
    return mapMask(**function, inputs, place, maxElements);
  ThreadCount threads(*OpenMp::get(), 1);
  return mapMask(**function, inputs, place, maxElements);
}

Result<double> Program::flops(std::string_view name,
                              const std::vector<Value> &inputs) const {
  Result<const CompiledFunction *> function = find(*impl->module, name);
  if (!function)
    return function.error();
  return countFlops(**function, inputs);
}

double Program::compileMillis() const { return impl->module->compileMillis; }

const CacheUse &Program::cacheUse() const { return impl->module->cacheUse; }

const std::string &Program::target() const { return impl->module->target; }

const std::string &Program::remarks() const { return impl->module->remarks; }

static Result<std::string> emit(CompileRequest request, std::string_view kind) {
  if (kind != "llvm" && kind != "asm" && kind != "obj")
    return Error{ErrorCode::invalidArgument,
                 "kind of output: expected llvm, asm or obj, got '" +
                     std::string(kind) + "'"};
  const Result<CompilerLibrary> &compiler = CompilerLibrary::get();
  if (!compiler)
    return compiler.error();
  request.output = kind;
  return compiler->compile(request);
}

Result<std::string> Program::emit(std::string_view kind) const {
  return attn::emit(impl->request, kind);
}

Result<AheadModule> Engine::compileAhead(const std::string &path,
                                         const std::string &prefix) const {
  if (!isIdentifier(prefix))
    return Error{ErrorCode::invalidArgument,
                 "prefix: expected a name in C and C++, got '" + prefix + "'"};
  Result<std::string> text = readFile(path, maxFileBytes);
  if (!text)
    return text.error();
  const Result<CompilerLibrary> &compiler = CompilerLibrary::get();
  if (!compiler)
    return compiler.error();
  CompileRequest request = CompileRequest::forOptions(impl->options);
  request.text = std::move(*text);
  request.name = path;
  request.output = "ahead";
  request.prefix = prefix;
  Result<std::string> reply = compiler->compile(request);
  if (!reply)
    return reply.error();
  Result<ModuleImage> image = decodeImage(*reply);
  if (!image)
    return image.error();
  Result<std::string> header = aheadHeader(prefix, *image);
  if (!header)
    return header.error();
  return AheadModule{std::move(image->object), std::move(*header),
                     std::move(image->target)};
}

Result<std::string> Engine::emitFile(const std::string &path,
                                     std::string_view kind) const {
  Result<std::string> text = readFile(path, maxFileBytes);
  if (!text)
    return text.error();
  CompileRequest request = CompileRequest::forOptions(impl->options);
  request.text = std::move(*text);
  request.name = path;
  return attn::emit(std::move(request), kind);
}

} // namespace attn
