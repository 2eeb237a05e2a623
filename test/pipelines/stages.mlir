// Every stage can be dumped, and a dump resumes with the next stage for the
// target that it was made for.

// RUN: rm -rf %t && attn-opt %s --attn-to-cpu='target=cpu:avx2 dump=%t' -o %t.whole
// RUN: attn-opt %t/1-rewrite.mlir --attn-tile | FileCheck %s --check-prefix=TILE
// RUN: attn-opt %t/2-tile.mlir --attn-cpu -o %t.resumed && diff %t.whole %t.resumed
// RUN: FileCheck %s --check-prefix=LLVM < %t/3-llvm.mlir
// RUN: attn-opt %s --attn-to-decompose | FileCheck %s --check-prefix=DECOMPOSE
// RUN: attn-opt %s --attn-to-reference | FileCheck %s --check-prefix=LLVM

// TILE:      attn.target = "cpu:avx2"
// TILE:      attn.online_softmax
// TILE-SAME: tensor<8xf32>
// TILE:      attn.online_softmax
// TILE-SAME: tensor<24xf32>

// LLVM-DAG: llvm.func @attend.call(
// LLVM-DAG: llvm.func @attend.plan(

// DECOMPOSE:     linalg.generic
// DECOMPOSE-NOT: = attn.gqa
func.func @attend(%q: tensor<?x4x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf32>) -> tensor<?x4x?x64xf32> {
  %o = attn.gqa %q, %k, %v align(bottom_right) mask(#attn.causal) : (tensor<?x4x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>) -> tensor<?x4x?x64xf32>
  return %o : tensor<?x4x?x64xf32>
}
