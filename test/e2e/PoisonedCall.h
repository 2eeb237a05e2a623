// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls whose results lie in memory that holds something else: what a function
// does not write is seen.

#ifndef ATTN_TEST_E2E_POISONEDCALL_H
#define ATTN_TEST_E2E_POISONEDCALL_H

#include "runtime/Engine.h"
#include "runtime/Tensor.h"

namespace attn::test {

/// Every byte 0xff: NaN in each type of floats, -1 in each of integers.
inline constexpr int poisonOfNaN = 0xff;
/// Every byte 0x5a: numbers of another size in each type.
inline constexpr int poisonOfNumbers = 0x5a;

/// As Program::call(), once into memory of NaN and once into memory of numbers.
/// Results whose bits differ are an error that names the first such element: it
/// was not written, or two calls do not give the same.
Result<std::vector<Tensor>> callPoisoned(const Program &program,
                                         std::string_view name,
                                         const std::vector<Value> &inputs,
                                         CallOptions options = {});

} // namespace attn::test

#endif // ATTN_TEST_E2E_POISONEDCALL_H
