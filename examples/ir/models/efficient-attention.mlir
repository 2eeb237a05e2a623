// Efficient attention (Shen et al. 2021, "Efficient Attention: Attention with
// Linear Complexities", section 3.2), which is not causal:
//
//   O = rho_q(Q) (rho_k(K)^T V)
//
//   Q, K  B x H x T x D      rho_q: softmax over the D features of a query
//                            rho_k: softmax over the T positions of a feature
//   V, O  B x H x T x Dv
//
// Each row of rho_q(Q) rho_k(K)^T sums to 1, without a normaliser. The product
// in the parentheses, D x Dv, is a summary of the whole sequence.

// RUN: attn-opt %s --attn-to-rewrite=target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --check --input='1x8x77x64xf32=normal(0,1)' \
// RUN:   --input='1x8x77x64xf32=normal(0,1)' \
// RUN:   --input='1x8x77x32xf32=normal(0,1)'

// CHECK: attn.linear

!rows = tensor<?x?x?x?xf32>

func.func @main(%q: !rows, %k: !rows, %v: !rows) -> !rows {
  %o = attn.linear %q, %k, %v
      feature(#attn.softmax_features, #attn.softmax_positions)
      : (!rows, !rows, !rows) -> !rows
  return %o : !rows
}
