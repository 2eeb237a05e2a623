// Kimi delta attention (Kimi Team 2025, "Kimi Linear: An Expressive, Efficient
// Attention Architecture", section 3): as in gated-deltanet.mlir, but each
// feature of the key forgets by a factor of its own.
//
//   S_t = (I - beta_t k_t^T k_t) diag(alpha_t) S_{t-1} + beta_t k_t^T v_t
//   o_t = q_t S_t                      alpha_t = exp(-exp(A_log) softplus(a_t))
//
//   Q, K, A  B x H x T x D, Q and K of length 1, A a projection of the tokens
//   V, O     B x H x T x Dv
//   beta     B x H x T, in (0, 1)
//   A_log    H

// RUN: attn-opt %s --attn-to-rewrite=target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --check --input='1x4x77x32xf32=normal(0,0.17)' \
// RUN:   --input='1x4x77x32xf32=normal(0,0.17)' \
// RUN:   --input='1x4x77x64xf32=normal(0,1)' \
// RUN:   --input='1x4x77x32xf32=normal(0,1)' \
// RUN:   --input='1x4x77xf32=normal(0.5,0.1)' --input=4xf32=-2,-1,0,1

// CHECK: attn.linear {{.*}} decay(%{{.*}}) beta(%{{.*}}) causal

!rows = tensor<?x?x?x?xf32>
!tokens = tensor<?x?x?xf32>
!heads = tensor<?xf32>

#head = affine_map<(b, h, t, d) -> (h)>
#row = affine_map<(b, h, t, d) -> (b, h, t, d)>
#by_entry = {indexing_maps = [#row, #head, #row],
  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

func.func @main(%q: !rows, %k: !rows, %v: !rows, %a: !rows, %beta: !tokens,
                %a_log: !heads) -> !rows {
  // log alpha, with softplus(x) = max(x, 0) + log(1 + exp(-|x|))
  %decay = linalg.generic #by_entry
      ins(%a, %a_log : !rows, !heads) outs(%a : !rows) {
  ^bb0(%x: f32, %log: f32, %_: f32):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %positive = arith.maximumf %x, %zero : f32
    %magnitude = math.absf %x : f32
    %negative = arith.negf %magnitude : f32
    %exp = math.exp %negative : f32
    %sum = arith.addf %one, %exp : f32
    %tail = math.log %sum : f32
    %softplus = arith.addf %positive, %tail : f32
    %rate = math.exp %log : f32
    %product = arith.mulf %rate, %softplus : f32
    %result = arith.negf %product : f32
    linalg.yield %result : f32
  } -> !rows
  %o = attn.linear %q, %k, %v decay(%decay : !rows) beta(%beta : !tokens) causal
      : (!rows, !rows, !rows) -> !rows
  return %o : !rows
}
