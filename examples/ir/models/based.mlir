// Based (Arora et al. 2024, "Simple linear attention language models balance
// the recall-throughput tradeoff", section 3): layers of two kinds, next to
// each other here. Linear attention, by the series of exp to second order, sees
// all, dimly,
//
//   s_tj = 1 + x + x^2 / 2  with  x = q_t.k_j / sqrt(16)
//   o_t = sum_{j <= t} s_tj v_j / sum_{j <= t} s_tj
//
// and softmax attention over the last 64 tokens sees those sharply.
//
//   Q, K          B x H x T x 16, which give 1 + 16 + 16 17 / 2 features
//   Qw, Kw, V, O  B x H x T x D

// RUN: attn-opt %s --attn-to-rewrite=target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --check --input='1x8x77x16xf32=normal(0,1)' \
// RUN:   --input='1x8x77x16xf32=normal(0,1)' \
// RUN:   --input='1x8x77x64xf32=normal(0,1)' \
// RUN:   --input='1x8x77x64xf32=normal(0,1)' \
// RUN:   --input='1x8x77x64xf32=normal(0,1)' \
// RUN:   --input='1x8x77x64xf32=normal(0,1)'

// CHECK: attn.linear {{.*}} normalize(token) causal
// CHECK: attn.softmax {{.*}} mask(#attn.causal, #attn.window<left = 63>)

!short = tensor<?x?x?x16xf32>
!rows = tensor<?x?x?x?xf32>

func.func @main(%q: !short, %k: !short, %v: !rows,
                %qw: !rows, %kw: !rows, %vw: !rows) -> (!rows, !rows) {
  %far = attn.linear %q, %k, %v feature(#attn.taylor2) normalize(token) causal
      : (!short, !short, !rows) -> !rows
  // The token itself and 63 before it.
  %near = attn.softmax %qw, %kw, %vw align(top_left)
      mask(#attn.causal, #attn.window<left = 63>)
      : (!rows, !rows, !rows) -> !rows
  return %far, %near : !rows, !rows
}
