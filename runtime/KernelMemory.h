// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that compiled code allocates for itself. Compiled code does not look
// at what malloc returns; when memory runs out here, the kernel is left and
// what it had allocated is released. Internal; no LLVM.

#ifndef ATTN_RUNTIME_KERNELMEMORY_H
#define ATTN_RUNTIME_KERNELMEMORY_H

#include <cstddef>

namespace attn {

using Kernel = void (*)(void **arguments);

/// Runs a kernel. False if it ran out of memory: then its results are not
/// complete, and it holds no memory any more.
bool runKernel(Kernel kernel, void **arguments);

/// What compiled code calls malloc, aligned_alloc and free.
void *kernelAllocate(size_t bytes);
void *kernelAllocateAligned(size_t alignment, size_t bytes);
void kernelFree(void *memory);

/// Tells whether the calling thread is within a parallel region, which can't
/// be left.
void setParallelProbe(int (*isInParallel)());

} // namespace attn

#endif // ATTN_RUNTIME_KERNELMEMORY_H
