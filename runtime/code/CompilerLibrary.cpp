// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dlopen of libattn-compiler.so. It stays open for the life of the process:
// LLVM can't be taken away.

#include "runtime/code/CompilerLibrary.h"

#include "runtime/code/ForeignSymbols.h"
#include "runtime/code/KeepSuccess.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <unistd.h>

namespace attn {

static Error unavailable(const std::string &reason) {
  return Error{ErrorCode::ioFailure,
               "expected the compiler's library: " + reason};
}

/// The file that this code was loaded from, a program or a library. Not from
/// dladdr, which for a program repeats how it was called.
static std::string ownFile() {
  auto own = reinterpret_cast<uintptr_t>(&ownFile);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    int path = 0;
    // Addresses, rights, offset, device and inode come before the path.
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %*s %*s %*s %n", &begin, &end,
                    &path) == 2 &&
        begin <= own && own < end)
      return line.substr(path);
  }
  return "";
}

Result<std::string> CompilerLibrary::path() {
  std::string folder = ownFile();
  folder.resize(folder.rfind('/') + 1);
  // Beside the library of the runtime, or where programs have their libraries:
  // as installed, and as built.
  std::string tried;
  for (const char *from : {"", ATTN_LIBRARIES_FROM_PROGRAMS "/", "../lib/"}) {
    std::string path = folder + from + "libattn-compiler.so";
    if (tried.find("'" + path + "'") != std::string::npos)
      continue;
    if (access(path.c_str(), R_OK) == 0)
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
  std::string foreign = findForeignSymbol(library);
  if (!foreign.empty())
    return Error{ErrorCode::unsupported,
                 "the compiler's library would call " + foreign +
                     ": expected a process that exports no LLVM of its own"};
  return result;
}

const Result<CompilerLibrary> &CompilerLibrary::get() {
  return keepSuccess<&CompilerLibrary::open>();
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
