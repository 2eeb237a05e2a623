// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime's library shows to programs; everything else in it is
// hidden.

#ifndef ATTN_RUNTIME_API_H
#define ATTN_RUNTIME_API_H

/// Marks a function, or a class with all its functions, for programs.
#define ATTN_API __attribute__((visibility("default")))

#endif // ATTN_RUNTIME_API_H
