// mLSTM (Beck et al. 2024, "xLSTM: Extended Long Short-Term Memory", section
// 2.3), with exponential input gates, and the soft cap of xLSTM 7B (Beck et al.
// 2025) on both gates:
//
//   S_t = sigmoid(c(f_t)) S_{t-1} + exp(c(i_t)) k_t^T v_t
//   n_t = sigmoid(c(f_t)) n_{t-1} + exp(c(i_t)) k_t
//   o_t = q_t S_t / max(|q_t.n_t|, 1)                    c(x) = 15 tanh(x / 15)
//
//   Q, K  B x H x T x D, with 1/sqrt(D) in K
//   V, O  B x H x T x Dv
//   I, F  B x H x T, the gates before their functions
//
// The paper divides S_t, n_t and the 1 by exp(m_t), m_t being a running maximum
// of logarithms of gates, which cancels in the quotient. In f32 it is needed
// only where exp(i_t) could overflow: the cap keeps it below 3.3 million.

// RUN: attn-opt %s --attn-to-rewrite=target=cpu:avx2 | FileCheck %s
// Sums q.n whose terms cancel would make the quotient ill-conditioned.
// RUN: attn-run %s --check --input='1x4x77x32xf32=normal(0.5,0.3)' \
// RUN:   --input='1x4x77x32xf32=normal(0.1,0.06)' \
// RUN:   --input='1x4x77x64xf32=normal(0,1)' \
// RUN:   --input='1x4x77xf32=normal(0,4)' --input='1x4x77xf32=normal(3,1)'

// CHECK-COUNT-2: attn.linear {{.*}} decay(%{{.*}} : tensor<?x?x?xf32>) causal

!tokens = tensor<?x?x?xf32>
!rows = tensor<?x?x?x?xf32>
!sums = tensor<?x?x?x1xf32>

#token = affine_map<(b, h, t) -> (b, h, t)>
#at_token = affine_map<(b, h, t, d) -> (b, h, t)>
#row = affine_map<(b, h, t, d) -> (b, h, t, d)>
#by_token = {indexing_maps = [#token, #token],
  iterator_types = ["parallel", "parallel", "parallel"]}
#by_entry = {indexing_maps = [#row, #at_token, #row],
  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

func.func @main(%q: !rows, %k: !rows, %v: !rows, %i: !tokens, %f: !tokens)
    -> !rows {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f32
  %b = tensor.dim %i, %c0 : !tokens
  %h = tensor.dim %i, %c1 : !tokens
  %t = tensor.dim %i, %c2 : !tokens

  // log sigmoid(x) = min(x, 0) - log(1 + exp(-|x|)) of x = 15 tanh(f / 15)
  %decay = linalg.generic #by_token ins(%f : !tokens) outs(%f : !tokens) {
  ^bb0(%gate: f32, %_: f32):
    %zero = arith.constant 0.0 : f32
    %cap = arith.constant 15.0 : f32
    %small = arith.divf %gate, %cap : f32
    %tanh = math.tanh %small : f32
    %x = arith.mulf %tanh, %cap : f32
    %smaller = arith.minimumf %x, %zero : f32
    %magnitude = math.absf %x : f32
    %negative = arith.negf %magnitude : f32
    %exp = math.exp %negative : f32
    %sum = arith.addf %one, %exp : f32
    %tail = math.log %sum : f32
    %log = arith.subf %smaller, %tail : f32
    linalg.yield %log : f32
  } -> !tokens
  // exp(15 tanh(i / 15)) k
  %gated = linalg.generic #by_entry
      ins(%k, %i : !rows, !tokens) outs(%k : !rows) {
  ^bb0(%x: f32, %gate: f32, %_: f32):
    %cap = arith.constant 15.0 : f32
    %small = arith.divf %gate, %cap : f32
    %tanh = math.tanh %small : f32
    %capped = arith.mulf %tanh, %cap : f32
    %exp = math.exp %capped : f32
    %product = arith.mulf %x, %exp : f32
    linalg.yield %product : f32
  } -> !rows
  %s = attn.linear %q, %gated, %v decay(%decay : !tokens) causal
      : (!rows, !rows, !rows) -> !rows
  // q.n is the same for values of 1.
  %empty = tensor.empty(%b, %h, %t) : !sums
  %ones = linalg.fill ins(%one : f32) outs(%empty : !sums) -> !sums
  %n = attn.linear %q, %gated, %ones decay(%decay : !tokens) causal
      : (!rows, !rows, !sums) -> !sums
  %sums = tensor.collapse_shape %n [[0], [1], [2, 3]] : !sums into !tokens
  %o = linalg.generic #by_entry
      ins(%s, %sums : !rows, !tokens) outs(%s : !rows) {
  ^bb0(%x: f32, %sum: f32, %_: f32):
    %magnitude = math.absf %sum : f32
    %divisor = arith.maximumf %magnitude, %one : f32
    %quotient = arith.divf %x, %divisor : f32
    linalg.yield %quotient : f32
  } -> !rows
  return %o : !rows
}
