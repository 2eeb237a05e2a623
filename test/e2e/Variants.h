// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The masks, score functions and options of the grid: each as IR clauses
// beside the same thing said to the oracle.

#ifndef ATTN_TEST_E2E_VARIANTS_H
#define ATTN_TEST_E2E_VARIANTS_H

#include "test/e2e/Harness.h"

namespace attn::test {

/// Mask attributes, alignments, offsets and lengths.
const std::vector<Variant> &attributeVariants();
/// Clauses with operands that act on single logits.
const std::vector<Variant> &clauseVariants();
/// Score and keep regions, with and without captured tensors.
const std::vector<Variant> &regionVariants();
/// Score regions that read tensors of other types: of f16 and, for operands
/// other than f64, f64; an element per query and key for operands of f32.
const std::vector<Variant> &capturedTypeVariants();
/// By name, from any list; aborts the test program on an unknown name.
const Variant &variantNamed(const std::string &name);

/// The block arguments of a region.
inline const std::string keepArguments =
    "^bb0(%b: index, %h: index, %i: index, %j: index):\n";
inline const std::string scoreArguments =
    "^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):\n";

} // namespace attn::test

#endif // ATTN_TEST_E2E_VARIANTS_H
