// cosFormer (Qin et al. 2022, "cosFormer: Rethinking Softmax in Attention",
// section 3.3), causal. Near tokens weigh more than far ones:
//
//   s_tj = max(q_t, 0).max(k_j, 0) cos(pi (t - j) / 2 M)
//   o_t = sum_{j <= t} s_tj v_j / sum_{j <= t} s_tj
//
//   Q, K  B x H x T x 48     M = 128, at least T
//   V, O  B x H x T x Dv
//
// By cos(a - b) = cos a cos b + sin a sin b, s_tj is a product of 2 x 48
// features of q_t and k_j, each of which knows its own position only.

// RUN: attn-opt %s --attn-to-rewrite=target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --check --input='1x8x77x48xf32=normal(0,1)' \
// RUN:   --input='1x8x77x48xf32=normal(0,1)' \
// RUN:   --input='1x8x77x32xf32=normal(0,1)'

// CHECK: attn.linear {{.*}} normalize(token) causal

!keys = tensor<?x?x?x48xf32>
!values = tensor<?x?x?x?xf32>

func.func @main(%q: !keys, %k: !keys, %v: !values) -> !values {
  %o = attn.linear %q, %k, %v feature(#attn.cosformer<length = 128>)
      normalize(token) causal : (!keys, !keys, !values) -> !values
  return %o : !values
}
