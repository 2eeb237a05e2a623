// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of the compiler's library, libattn-compiler.so. It holds all
// that needs LLVM and MLIR, and is opened when something has to be compiled.
// Only bytes cross the border, so that neither side depends on how the other
// one was built. Internal; no LLVM.

#ifndef ATTN_RUNTIME_CODE_COMPILERINTERFACE_H
#define ATTN_RUNTIME_CODE_COMPILERINTERFACE_H

#include <cstddef>
#include <cstdint>

extern "C" {

/// Takes a reply, as decodeReply() reads it, before the function returns.
using AttnReceiver = void (*)(void *receiver, const char *bytes, size_t size);

/// Does what the encoded request asks for.
using AttnCompilerFunction = void (*)(const char *request, size_t size,
                                      AttnReceiver receive, void *receiver);

/// Raised when the bytes change: requests, replies or images, which are also in
/// object files that were compiled ahead of time.
static constexpr uint64_t attnInterfaceVersion = 7;

/// What the library was built with.
uint64_t attnCompilerVersion();

/// Replies with the image of the module, or the output that is asked for.
void attnCompile(const char *request, size_t size, AttnReceiver receive,
                 void *receiver);

/// Replies with an error if the request's device or target can't be used.
void attnCheckOptions(const char *request, size_t size, AttnReceiver receive,
                      void *receiver);
}

#endif // ATTN_RUNTIME_CODE_COMPILERINTERFACE_H
