// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dlopen of libattn-compiler.so. It stays open for the life of the process:
// LLVM can't be taken away.

#include "runtime/code/CompilerLibrary.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

namespace attn {

static Error unavailable(const std::string &reason) {
  return Error{ErrorCode::unsupported,
               "expected the compiler's library: " + reason};
}

/// ../lib/libattn-compiler.so as seen from the running program.
static std::string besideProgram() {
  char program[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program);
  if (length <= 0 || length == sizeof program)
    return "";
  std::string path(program, length);
  path.resize(path.rfind('/') + 1);
  return path + "../lib/libattn-compiler.so";
}

Result<std::string> CompilerLibrary::path() {
  // A program that was moved with its library, then the place where both were
  // built.
  std::string tried;
  for (const std::string &path :
       {besideProgram(), std::string(ATTN_COMPILER_PATH)}) {
    if (!path.empty() && access(path.c_str(), R_OK) == 0)
      return path;
    tried +=
        (tried.empty() ? "'" : ", '") + path + "': " + std::strerror(errno);
  }
  return unavailable(tried);
}

Result<CompilerLibrary> CompilerLibrary::open() {
  Result<std::string> file = path();
  if (!file)
    return file.error();
  void *library = dlopen(file->c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library)
    return unavailable(dlerror());
  auto version =
      reinterpret_cast<uint64_t (*)()>(dlsym(library, "attnCompilerVersion"));
  CompilerLibrary result;
  result.compileFunction =
      reinterpret_cast<AttnCompilerFunction>(dlsym(library, "attnCompile"));
  result.checkFunction = reinterpret_cast<AttnCompilerFunction>(
      dlsym(library, "attnCheckOptions"));
  if (!version || !result.compileFunction || !result.checkFunction)
    return unavailable("'" + *file + "' is another library");
  if (version() != attnInterfaceVersion)
    return unavailable("'" + *file + "': expected version " +
                       std::to_string(attnInterfaceVersion) + ", got " +
                       std::to_string(version()));
  return result;
}

const Result<CompilerLibrary> &CompilerLibrary::get() {
  static const Result<CompilerLibrary> library = open();
  return library;
}

static Result<std::string> call(AttnCompilerFunction function,
                                const CompileRequest &request) {
  std::string encoded = encode(request), reply;
  auto receive = [](void *to, const char *bytes, size_t size) {
    static_cast<std::string *>(to)->assign(bytes, size);
  };
  function(encoded.data(), encoded.size(), receive, &reply);
  return decodeReply(reply);
}

Result<std::string>
CompilerLibrary::compile(const CompileRequest &request) const {
  return call(compileFunction, request);
}

Result<void> CompilerLibrary::checkOptions(const EngineOptions &options) const {
  Result<std::string> reply =
      call(checkFunction, CompileRequest::forOptions(options));
  if (!reply)
    return reply.error();
  return {};
}

} // namespace attn
