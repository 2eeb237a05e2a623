// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler behind the functions of its library.

#include "runtime/code/CompilerInterface.h"
#include "runtime/compile/Compiler.h"

using namespace attn;

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
          if (!request.output.empty())
            return emitModule(request);
          Result<ModuleImage> image = compile(request);
          if (!image)
            return image.error();
          return encode(*image);
        });
}

void attnCheckOptions(const char *request, size_t size, AttnReceiver receive,
                      void *receiver) {
  serve(request, size, receive, receiver,
        [](const CompileRequest &request) -> Result<std::string> {
          Result<void> usable = checkOptions(request.options);
          if (!usable)
            return usable.error();
          return std::string();
        });
}
