// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random keep regions over integers of every width, as IR and as a function.

#ifndef ATTN_TEST_E2E_RANDOMMASK_H
#define ATTN_TEST_E2E_RANDOMMASK_H

#include "test/e2e/Harness.h"

namespace attn::test {

/// A predicate of (b, h, i, j) built from a seed: positions with integer
/// arithmetic, comparisons, selects, reads of a captured table by i and by j.
/// Divisors and shift amounts are constants for which the result is defined.
Variant randomMask(uint64_t seed);

} // namespace attn::test

#endif // ATTN_TEST_E2E_RANDOMMASK_H
