// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The key is made without the compiler: its libraries are not opened, only
// asked for their build ids.

#include "runtime/cache/CacheKey.h"

#include "runtime/cache/CpuIdentity.h"
#include "runtime/code/BuildId.h"
#include "runtime/code/Bytes.h"
#include "runtime/code/CompilerLibrary.h"
#include "runtime/code/KeepSuccess.h"

namespace attn {

static Result<Maker> identifyMaker() {
  Result<std::string> library = CompilerLibrary::path();
  if (!library)
    return library.error();
  Result<std::string> compiler =
      readBuildIds({*library, ATTN_LLVM_PATH, ATTN_MLIR_PATH});
  if (!compiler)
    return compiler.error();
  Maker maker{*compiler, cpuIdentity()};
  if (maker.cpu.empty())
    return Error{ErrorCode::unsupported, "expected an x86-64 CPU"};
  return maker;
}

const Result<Maker> &Maker::get() { return keepSuccess<&identifyMaker>(); }

std::string cacheKey(const CompileRequest &request, const Maker &maker) {
  CompileRequest relevant = request;
  if (!request.options.remarks && !request.options.explain)
    relevant.name.clear();
  ByteWriter bytes;
  bytes.text("attn " ATTN_VERSION);
  bytes.number(attnInterfaceVersion);
  bytes.text(maker.compiler);
  bytes.text(maker.cpu);
  bytes.text(encode(relevant));
  return bytes.take();
}

} // namespace attn
