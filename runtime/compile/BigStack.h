// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing and compiling recurse as deep as the program is nested. They run on
// a stack that holds whatever the checks on the text let through, so that the
// caller's stack does not matter.

#ifndef ATTN_RUNTIME_COMPILE_BIGSTACK_H
#define ATTN_RUNTIME_COMPILE_BIGSTACK_H

#include <functional>

namespace attn {

/// Runs `work` on a thread of its own and waits for it; on this thread if no
/// other can be made.
void runOnBigStack(const std::function<void()> &work);

} // namespace attn

#endif // ATTN_RUNTIME_COMPILE_BIGSTACK_H
