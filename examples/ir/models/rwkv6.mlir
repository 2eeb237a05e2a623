// RWKV-6 (Peng et al. 2024, "Eagle and Finch: RWKV with Matrix-Valued States
// and Dynamic Recurrence"), the time mixing of Finch. The receptance r_t reads
// the state from before its token, and the token itself with a bonus u:
//
//   o_t = r_t (S_{t-1} + (u .* k_t)^T v_t)
//   S_t = diag(w_t) S_{t-1} + k_t^T v_t           w_t = exp(-exp(d_t))
//
//   R, K, D  B x H x T x N, D being the low-rank projection of the tokens
//   V, O     B x H x T x N
//   U        H x N
//
// O goes on to a norm of each head, the gate and the projection.

// RUN: attn-opt %s --attn-to-rewrite=target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --check --input='1x4x77x64xf32=normal(0,1)' \
// RUN:   --input='1x4x77x64xf32=normal(0,1)' \
// RUN:   --input='1x4x77x64xf32=normal(0,1)' \
// RUN:   --input='1x4x77x64xf32=normal(-1,1)' --input='4x64xf32=normal(0,1)'

// CHECK: attn.linear {{.*}} bonus(%{{.*}} : tensor<?x?xf32>) causal

!rows = tensor<?x?x?x?xf32>
!heads = tensor<?x?xf32>

func.func @main(%r: !rows, %k: !rows, %v: !rows, %d: !rows, %u: !heads)
    -> !rows {
  // log w
  %decay = attn.feature_map %d map {
    ^bb0(%x: f32):
      %exp = math.exp %x : f32
      %log = arith.negf %exp : f32
      attn.yield %log : f32
    } : !rows -> !rows
  %o = attn.linear %r, %k, %v decay(%decay : !rows) bonus(%u : !heads) causal
      : (!rows, !rows, !rows) -> !rows
  return %o : !rows
}
