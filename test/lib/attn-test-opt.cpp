// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-test-opt: attn-opt with the passes of the tests.

#include "TestPasses.h"

#include "tools/attn-opt/OptMain.h"

int main(int argc, char **argv) {
  mlir::attn::registerTestPasses();
  return attn::optMain(argc, argv, "test driver\n");
}
