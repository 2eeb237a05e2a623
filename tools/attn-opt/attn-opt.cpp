// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-opt: mlir-opt with the attn dialect, its passes and its pipelines.

#include "tools/attn-opt/OptMain.h"

int main(int argc, char **argv) {
  return attn::optMain(argc, argv, "attention compiler driver\n");
}
