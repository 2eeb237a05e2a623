// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether threads can be had. OpenMP libraries abort where they can't start
// one: a limit on processes, or address space for stacks.

#ifndef ATTN_RUNTIME_STARTTHREADS_H
#define ATTN_RUNTIME_STARTTHREADS_H

#include "runtime/Result.h"

#include <cstddef>

namespace attn {

/// Starts and ends so many threads at once with stacks of `stackBytes`, 0 for
/// those of the system, so that a call that wants them is refused before an
/// OpenMP library tries. Does nothing for at most as many as were started
/// before: the library keeps them.
Result<void> startThreads(int count, size_t stackBytes);

} // namespace attn

#endif // ATTN_RUNTIME_STARTTHREADS_H
