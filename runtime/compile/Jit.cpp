// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLJIT as a linker: the object was made elsewhere.

#include "runtime/compile/Jit.h"

#include "runtime/KernelMemory.h"
#include "runtime/compile/OpenMp.h"

#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm::orc;

namespace attn {

static Error linkError(llvm::Error error) {
  return Error{ErrorCode::compileFailure,
               "can't link: " + toString(std::move(error))};
}

Result<std::unique_ptr<Jit>>
Jit::load(const HostTarget &target, llvm::StringRef object, bool needsOpenMp) {
  auto jit = LLJITBuilder().setJITTargetMachineBuilder(target.builder).create();
  if (!jit)
    return linkError(jit.takeError());
  auto define = [&](const char *name, auto *function) {
    return (*jit)->getMainJITDylib().define(absoluteSymbols(
        {{(*jit)->mangleAndIntern(name),
          {ExecutorAddr::fromPtr(function),
           llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable}}}));
  };
  llvm::Error defined =
      joinErrors(define("malloc", &kernelAllocate),
                 joinErrors(define("aligned_alloc", &kernelAllocateAligned),
                            define("free", &kernelFree)));
  if (defined)
    return linkError(std::move(defined));
  if (needsOpenMp) {
    const Result<OpenMp> &openMp = OpenMp::get();
    if (!openMp)
      return openMp.error();
    auto symbols = DynamicLibrarySearchGenerator::Load(
        openMp->path().c_str(), (*jit)->getDataLayout().getGlobalPrefix());
    if (!symbols)
      return linkError(symbols.takeError());
    (*jit)->getMainJITDylib().addGenerator(std::move(*symbols));
  }
  if (llvm::Error error = (*jit)->addObjectFile(
          llvm::MemoryBuffer::getMemBufferCopy(object, "attn")))
    return linkError(std::move(error));
  auto loaded = std::make_unique<Jit>();
  // By default the session prints to the standard error stream. What it
  // reports says more than the error that the lookup returns.
  std::string *failure = &loaded->failure;
  (*jit)->getExecutionSession().setErrorReporter([failure](llvm::Error error) {
    *failure += toString(std::move(error)) + "; ";
  });
  loaded->jit = std::move(*jit);
  return loaded;
}

void *Jit::lookup(llvm::StringRef name) {
  failure.clear();
  auto address = jit->lookup(name);
  if (!address) {
    failure += toString(address.takeError());
    return nullptr;
  }
  return address->toPtr<void *>();
}

} // namespace attn
