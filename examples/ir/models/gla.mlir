// GLA (Yang et al. 2024, "Gated Linear Attention Transformers with Hardware-
// Efficient Training", section 4): each feature of the state forgets at a rate
// that each token sets.
//
//   S_t = diag(alpha_t) S_{t-1} + k_t^T v_t     alpha_t = sigmoid(a_t)^(1/16)
//   o_t = q_t S_t / sqrt(32)
//
//   Q, K, A  B x H x T x 32, A being the low-rank projection of the tokens
//   V, O     B x H x T x Dv
//
// O goes on to a norm of each head, the swish gate and the projection.

// RUN: attn-opt %s --attn-to-rewrite=target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --check --input='1x4x77x32xf32=normal(0,1)' \
// RUN:   --input='1x4x77x32xf32=normal(0,1)' \
// RUN:   --input='1x4x77x64xf32=normal(0,1)' \
// RUN:   --input='1x4x77x32xf32=normal(0,4)'

// CHECK: attn.linear {{.*}} decay(%{{.*}} : tensor<?x?x?x32xf32>) causal

!keys = tensor<?x?x?x32xf32>
!values = tensor<?x?x?x?xf32>

func.func @main(%q: !keys, %k: !keys, %v: !values, %a: !keys) -> !values {
  // log alpha = (min(a, 0) - log(1 + exp(-|a|))) / 16, finite for every a
  %decay = attn.feature_map %a map {
    ^bb0(%x: f32):
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1.0 : f32
      %power = arith.constant 0.0625 : f32
      %smaller = arith.minimumf %x, %zero : f32
      %magnitude = math.absf %x : f32
      %negative = arith.negf %magnitude : f32
      %exp = math.exp %negative : f32
      %sum = arith.addf %one, %exp : f32
      %tail = math.log %sum : f32
      %log = arith.subf %smaller, %tail : f32
      %scaled = arith.mulf %log, %power : f32
      attn.yield %scaled : f32
    } : !keys -> !keys
  %o = attn.linear %q, %k, %v scale(0.17677669529663687)
      decay(%decay : !keys) causal : (!keys, !keys, !values) -> !values
  return %o : !values
}
