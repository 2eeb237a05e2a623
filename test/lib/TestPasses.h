// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that show analyses to lit tests.

#ifndef ATTN_TEST_LIB_TESTPASSES_H
#define ATTN_TEST_LIB_TESTPASSES_H

namespace mlir::attn {

void registerTestPasses();

} // namespace mlir::attn

#endif // ATTN_TEST_LIB_TESTPASSES_H
