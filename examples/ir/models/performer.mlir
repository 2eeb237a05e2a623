// Performer (Choromanski et al. 2021, "Rethinking Attention with Performers",
// section 2): FAVOR+, causal. With x = q / D^(1/4) and y = k / D^(1/4), the
// exp(q.k / sqrt(D)) of softmax is the mean of phi(x).phi(y) over random W:
//
//   phi(x) = M^(-1/2) exp(W x - |x|^2 / 2)
//   o_t = sum_{j <= t} phi(x_t).phi(y_j) v_j / sum_{j <= t} phi(x_t).phi(y_j)
//
//   Q, K, V, O  B x H x T x 64
//   W           256 x 64, four blocks of 64 orthogonal rows

// RUN: attn-opt %s --attn-to-rewrite=target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --check --input='1x8x77x64xf32=normal(0,1)' \
// RUN:   --input='1x8x77x64xf32=normal(0,1)' \
// RUN:   --input='1x8x77x64xf32=normal(0,1)'

// CHECK: attn.linear {{.*}} causal

!rows = tensor<?x?x?x64xf32>

func.func @main(%q: !rows, %k: !rows, %v: !rows) -> !rows {
  // The same numbers in every call and on every machine, drawn at compile time.
  %w = attn.random_features seed(7) orthogonal norms(chi) : tensor<256x64xf32>
  %o = attn.favor %q, %k, %v, %w kind(positive) causal
      : (!rows, !rows, !rows, tensor<256x64xf32>) -> !rows
  return %o : !rows
}
