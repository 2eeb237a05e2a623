// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kinds of programs of the family of products.

#ifndef ATTN_TEST_FUZZ_FAMILIES_PRODUCTSFAMILY_H
#define ATTN_TEST_FUZZ_FAMILIES_PRODUCTSFAMILY_H

#include "test/fuzz/families/RandomProgram.h"
#include "test/oracle/LinearOracle.h"

namespace attn::fuzz {

/// A product of matrices in any form, with elementwise code around it.
RandomProgram makeMatrixProduct(Random &random);
/// Two products with something between them (test/e2e/ProductChains.h).
RandomProgram makeChain(Random &random);
RandomProgram makeFeatureMap(Random &random);
RandomProgram makeFavor(Random &random);
RandomProgram makeMerge(Random &random);

//===- what these have in common ------------------------------------------===//

std::string sizesText(const std::vector<int64_t> &sizes);
/// The size that the compiler knows, or one for a call.
inline int64_t sizeOr(int64_t known, int64_t drawn) {
  return known >= 0 ? known : drawn;
}
/// Elements in [-most, most) for an array.
oracle::Array drawArray(Random &random, DType dtype, oracle::Array array,
                        double most);
void addArray(test::Arguments &arguments, DType dtype, const oracle::Array &a);
/// An array as a result, without a wobble.
Wanted wantedOf(const std::string &name, DType dtype, DType precision,
                const oracle::Array &a);

} // namespace attn::fuzz

#endif // ATTN_TEST_FUZZ_FAMILIES_PRODUCTSFAMILY_H
