// RWKV-7 (Peng et al. 2025, "RWKV-7 'Goose' with Expressive Dynamic State
// Evolution"). The state forgets by feature, and loses, at a rate eta by
// feature, what it holds at a removal key kappa, which is not the key it adds:
//
//   S_t = (diag(w_t) - (kappa_t .* eta_t)^T kappa_t) S_{t-1} + k_t^T v_t
//   o_t = r_t S_t                           w_t = exp(-exp(-1/2) sigmoid(d_t))
//
//   R, K, kappa  B x H x T x N, kappa of length 1
//   eta, D       B x H x T x N, eta in (0, 1), D a projection of the tokens
//   V, O         B x H x T x N
//
// O goes on to a norm of each head, the bonus of the token and the gate.

// RUN: attn-opt %s --attn-to-rewrite=target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --check --input='1x4x77x32xf32=normal(0,1)' \
// RUN:   --input='1x4x77x32xf32=normal(0,1)' \
// RUN:   --input='1x4x77x32xf32=normal(0,1)' \
// RUN:   --input='1x4x77x32xf32=normal(0,0.17)' \
// RUN:   --input='1x4x77x32xf32=normal(0.5,0.1)' \
// RUN:   --input='1x4x77x32xf32=normal(0,1)'

// CHECK: attn.linear {{.*}} transition(%{{.*}}, %{{.*}} : {{.*}}) causal

!rows = tensor<?x?x?x?xf32>

#row = affine_map<(b, h, t, d) -> (b, h, t, d)>
#by_entry = {indexing_maps = [#row, #row, #row],
  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

func.func @main(%r: !rows, %k: !rows, %v: !rows, %kappa: !rows, %eta: !rows,
                %d: !rows) -> !rows {
  // log w
  %decay = attn.feature_map %d map {
    ^bb0(%x: f32):
      %one = arith.constant 1.0 : f32
      %least = arith.constant -0.60653065971263342 : f32
      %negative = arith.negf %x : f32
      %exp = math.exp %negative : f32
      %sum = arith.addf %one, %exp : f32
      %log = arith.divf %least, %sum : f32
      attn.yield %log : f32
    } : !rows -> !rows
  // The state is read at -kappa, and what is read is written at kappa .* eta.
  %read = attn.feature_map %kappa map {
    ^bb0(%x: f32):
      %negative = arith.negf %x : f32
      attn.yield %negative : f32
    } : !rows -> !rows
  %write = linalg.generic #by_entry
      ins(%kappa, %eta : !rows, !rows) outs(%kappa : !rows) {
  ^bb0(%x: f32, %rate: f32, %_: f32):
    %product = arith.mulf %x, %rate : f32
    linalg.yield %product : f32
  } -> !rows
  %o = attn.linear %r, %k, %v decay(%decay : !rows)
      transition(%read, %write : !rows, !rows) causal
      : (!rows, !rows, !rows) -> !rows
  return %o : !rows
}
