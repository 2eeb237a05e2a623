// Causal self-attention with grouped heads: 8 query heads share 2 key and value
// heads. Query row r stands at position r (top_left) and sees keys 0 to r.
// Every size is static, so attn-run can make up the operands.

// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --attn-to-tile=target=cpu:avx2 \
// RUN:   | FileCheck %s --check-prefix=TILE
// RUN: attn-run %s --check

// CHECK: attn.gqa {{.*}} align(top_left) mask(#attn.causal)
// TILE-LABEL: func.func @main
// TILE: scf.for
// TILE: attn.online_softmax
// TILE-NOT: attn.gqa
func.func @main(%q: tensor<1x8x500x64xf32>, %k: tensor<1x2x500x64xf32>,
                %v: tensor<1x2x500x64xf32>) -> tensor<1x8x500x64xf32> {
  %o = attn.gqa %q, %k, %v align(top_left) mask(#attn.causal)
      : (tensor<1x8x500x64xf32>, tensor<1x2x500x64xf32>,
         tensor<1x2x500x64xf32>) -> tensor<1x8x500x64xf32>
  return %o : tensor<1x8x500x64xf32>
}
