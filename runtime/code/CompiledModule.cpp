// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What compiled code may call, and where its functions are.

#include "runtime/code/CompiledModule.h"

#include "runtime/KernelMemory.h"
#include "runtime/code/OpenMp.h"

#include <dlfcn.h>

namespace attn {

/// Memory comes from us, threads from our OpenMP library (a host may have one
/// of its own), and the rest, such as memcpy and exp, from the process.
static void *resolveSymbol(const std::string &name, const OpenMp *openMp) {
  if (name == "malloc")
    return reinterpret_cast<void *>(&kernelAllocate);
  if (name == "aligned_alloc")
    return reinterpret_cast<void *>(&kernelAllocateAligned);
  if (name == "free")
    return reinterpret_cast<void *>(&kernelFree);
  if (openMp && OpenMp::owns(name))
    return openMp->lookup(name);
  return dlsym(RTLD_DEFAULT, name.c_str());
}

/// Stores the address of `symbol`; false if there is none.
template <class Function>
static bool bindFunction(const LoadedCode &code, const std::string &symbol,
                         Function &function) {
  function = reinterpret_cast<Function>(code.lookup(symbol));
  return function != nullptr;
}

Result<CompiledModule> linkModule(ModuleImage image) {
  const OpenMp *openMp = nullptr;
  if (image.usesOpenMp) {
    const Result<OpenMp> &library = OpenMp::get();
    if (!library)
      return library.error();
    openMp = &*library;
  }
  auto code = LoadedCode::load(image.object, [&](const std::string &name) {
    return resolveSymbol(name, openMp);
  });
  if (!code)
    return code.error();
  for (CompiledFunction &function : image.functions) {
    const std::string &name = function.signature.function;
    if (!bindFunction(**code, name + ".call", function.kernel) ||
        !bindFunction(**code, name + ".plan", function.plan))
      return Error{ErrorCode::compileFailure,
                   "can't link: expected functions '" + name + ".call' and '" +
                       name + ".plan'"};
    // Compiled on request, and not for every device.
    bindFunction(**code, name + ".tiles.call", function.tiles);
    MaskFunctions mask;
    auto bindMask = [&] {
      std::string prefix =
          name + ".mask" + std::to_string(function.masks.size()) + ".";
      return bindFunction(**code, prefix + "sizes.call", mask.sizes) &&
             bindFunction(**code, prefix + "tiles.call", mask.tiles) &&
             bindFunction(**code, prefix + "elements.call", mask.elements);
    };
    while (bindMask())
      function.masks.push_back(mask);
  }
  CompiledModule module;
  module.functions = std::move(image.functions);
  module.target = std::move(image.target);
  module.remarks = std::move(image.remarks);
  module.usesOpenMp = image.usesOpenMp;
  module.code = std::move(*code);
  return module;
}

} // namespace attn
