// Two texts that crash MLIR's parser are refused before it sees them, from a
// file and from standard input.

// RUN: split-file %s %t
// RUN: not attn-opt %t/array.mlir 2>&1 | FileCheck %s --check-prefix=ARRAY
// RUN: not attn-opt < %t/array.mlir 2>&1 | FileCheck %s --check-prefix=ARRAY
// RUN: not attn-reduce %t/array.mlir --attn-reduction='test=%root/examples/reduce/differs.sh' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ARRAY
// RUN: not attn-opt %t/order.mlir 2>&1 | FileCheck %s --check-prefix=ORDER

// What the stages leave may refer forward, and loops define several values.
// RUN: attn-opt %t/branch.mlir | FileCheck %s --check-prefix=BRANCH
// RUN: attn-opt %t/causal.mlir --attn-to-cpu=target=cpu:avx2 | attn-opt --verify-each=false >/dev/null
// RUN: attn-opt %t/causal.mlir --attn-to-tile=target=cpu:avx2 | attn-opt >/dev/null

// ARRAY: {{(array.mlir|<stdin>)}}: error: line 1: expected no array of index
// ORDER: order.mlir: error: line 3: expected '%a' to be defined above its use
// BRANCH: llvm.func @f

//--- array.mlir
func.func @f() attributes {a = array<index: 1>} { return }

//--- order.mlir
func.func @f() -> i64 {
  %b = arith.addi %a, %a : i64
  %a = arith.constant "no number" : i64
  return %b : i64
}

//--- branch.mlir
llvm.func @f() -> i64 {
  llvm.br ^bb2
^bb1:
  llvm.return %a : i64
^bb2:
  %a = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^bb1
}

//--- causal.mlir
func.func @one(%q: tensor<1x2x8x16xf32>) -> tensor<1x2x8x16xf32> {
  %o = attn.softmax %q, %q, %q align(top_left) mask(#attn.causal)
      : (tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>) -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}
func.func @two(%arg0: tensor<1x2x8x16xf32>, %arg1: index, %arg2: index, %arg3: index, %arg4: index) -> tensor<1x2x8x16xf32> {
  %o = attn.softmax %arg0, %arg0, %arg0 offset(%arg3 : index) mask(#attn.causal)
      : (tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>) -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}
