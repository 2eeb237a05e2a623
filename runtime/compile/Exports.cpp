// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler behind the functions of its library.

#include "runtime/code/BuildId.h"
#include "runtime/code/CompilerInterface.h"
#include "runtime/compile/Compiler.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/TargetParser/Host.h"

#include <dlfcn.h>

using namespace attn;

/// The file that a function of ours, of LLVM or of MLIR was loaded from.
template <class Function> static std::string fileOf(Function *function) {
  Dl_info info;
  bool isKnown = dladdr(reinterpret_cast<void *>(function), &info) != 0;
  return isKnown ? info.dli_fname : "";
}

/// The libraries that are really in use, whichever the environment made the
/// dynamic linker choose.
static const std::string &compilerInUse() {
  static const std::string ids = [] {
    Result<std::string> ids =
        readBuildIds({fileOf(&attnCompile), fileOf(&llvm::sys::getHostCPUName),
                      fileOf(&mlir::translateModuleToLLVMIR)});
    return ids ? *ids : std::string();
  }();
  return ids;
}

/// Replies with what `answer` makes of the request.
template <class Function>
static void serve(const char *bytes, size_t size, AttnReceiver receive,
                  void *receiver, Function answer) {
  Result<CompileRequest> request = decodeRequest({bytes, size});
  Result<std::string> result = Error{};
  if (request)
    result = answer(*request);
  else
    result = request.error();
  std::string reply = encodeReply(result);
  receive(receiver, reply.data(), reply.size());
}

uint64_t attnCompilerVersion() { return attnInterfaceVersion; }

void attnCompile(const char *request, size_t size, AttnReceiver receive,
                 void *receiver) {
  serve(request, size, receive, receiver,
        [](const CompileRequest &request) -> Result<std::string> {
          if (!request.output.empty() && request.output != "ahead")
            return emitModule(request);
          Result<ModuleImage> image = compile(request);
          if (!image)
            return image.error();
          image->compiler = compilerInUse();
          return encode(*image);
        });
}

void attnCheckOptions(const char *request, size_t size, AttnReceiver receive,
                      void *receiver) {
  serve(request, size, receive, receiver,
        [](const CompileRequest &request) -> Result<std::string> {
          Result<void> usable = checkOptions(request);
          if (!usable)
            return usable.error();
          return std::string();
        });
}
