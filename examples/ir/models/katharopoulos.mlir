// Linear attention (Katharopoulos et al. 2020, "Transformers are RNNs", section
// 3.4). The exponential of softmax becomes a product of features, phi(q).phi(k)
// with phi(x) = elu(x) + 1, so that sums over keys are a state:
//
//   S_t = S_{t-1} + phi(k_t)^T v_t        z_t = z_{t-1} + phi(k_t)
//   o_t = phi(q_t) S_t / phi(q_t).z_t
//
//   Q, K          B x H x T x D
//   V, O          B x H x T x Dv
//   state (S, z)  B x H x D x (Dv + 1)
//
// The state goes in and comes out: one function serves a prompt, with a state
// of zeros, and then token after token.

// RUN: attn-opt %s --attn-to-rewrite=target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --check --input='1x8x77x64xf32=normal(0,1)' \
// RUN:   --input='1x8x77x64xf32=normal(0,1)' \
// RUN:   --input='1x8x77x32xf32=normal(0,1)' --input=1x8x64x33xf32=0

// CHECK: attn.linear {{.*}} normalize(token) causal

!rows = tensor<?x?x?x?xf32>

func.func @main(%q: !rows, %k: !rows, %v: !rows, %s0: !rows) -> (!rows, !rows) {
  // z is the last column of the state: the sum for values of 1.
  %o, %s1 = attn.linear %q, %k, %v state(%s0 : !rows) feature(#attn.elu1)
      normalize(token) causal : (!rows, !rows, !rows) -> (!rows, !rows)
  return %o, %s1 : !rows, !rows
}
