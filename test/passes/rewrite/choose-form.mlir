// RUN: attn-opt %s --attn-set-target=target=cpu:avx2 --attn-choose-form | FileCheck %s
// RUN: attn-opt %s --attn-set-target=target=cpu:avx2 --attn-choose-form=form=recurrent | FileCheck %s --check-prefix=FORCED
// RUN: attn-opt %s --attn-to-rewrite='target=cpu:avx2 linear-form=quadratic' | FileCheck %s --check-prefix=PIPELINE
// RUN: attn-opt %s --attn-set-target=target=cpu:avx2 --attn-choose-form=form=recurrent --remarks-filter='attn.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: not attn-opt %s --attn-set-target=target=cpu:avx2 --attn-choose-form=form=fast 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: attn-choose-form: form: expected auto, quadratic, chunk or recurrent, got 'fast'

// Sums of all keys are the one form of what is not causal.
// CHECK-LABEL: func @bidirectional
// CHECK: attn.linear {{.*}}attn.form = "chunk"
// FORCED-LABEL: func @bidirectional
// FORCED: attn.linear {{.*}}attn.form = "chunk"
// PIPELINE-LABEL: func @bidirectional
// PIPELINE: attn.linear {{.*}}attn.form = "chunk"
// REMARK: [Missed] linear-form | Category:attn-rewrite | Remark="'attn.linear' has no recurrent form without causal"
// REMARK: [Analysis] linear-form | Category:attn-rewrite | Remark="'attn.linear' chunk form; nominal costs: chunk 67.1 MFLOP in
func.func @bidirectional(%q: tensor<1x2x2048x64xf32>) -> tensor<1x2x2048x64xf32> {
  %o = attn.linear %q, %q, %q : (tensor<1x2x2048x64xf32>, tensor<1x2x2048x64xf32>, tensor<1x2x2048x64xf32>) -> tensor<1x2x2048x64xf32>
  return %o : tensor<1x2x2048x64xf32>
}

// CHECK-LABEL: func @long
// CHECK: attn.linear {{.*}}attn.form = "chunk"
// FORCED-LABEL: func @long
// FORCED: attn.linear {{.*}}attn.form = "recurrent"
// PIPELINE-LABEL: func @long
// PIPELINE: attn.linear {{.*}}attn.form = "quadratic"
// REMARK: 'attn.linear' recurrent form; nominal costs: quadratic {{.*}}, chunk {{.*}}, recurrent 268 MFLOP in
func.func @long(%q: tensor<1x2x2048x128xf32>) -> tensor<1x2x2048x128xf32> {
  %o = attn.linear %q, %q, %q causal : (tensor<1x2x2048x128xf32>, tensor<1x2x2048x128xf32>, tensor<1x2x2048x128xf32>) -> tensor<1x2x2048x128xf32>
  return %o : tensor<1x2x2048x128xf32>
}

// A small state stays in the first level of cache.
// CHECK-LABEL: func @small_state
// CHECK: attn.linear {{.*}}attn.form = "recurrent"
func.func @small_state(%q: tensor<1x2x2048x32xf32>) -> tensor<1x2x2048x32xf32> {
  %o = attn.linear %q, %q, %q causal : (tensor<1x2x2048x32xf32>, tensor<1x2x2048x32xf32>, tensor<1x2x2048x32xf32>) -> tensor<1x2x2048x32xf32>
  return %o : tensor<1x2x2048x32xf32>
}

// CHECK-LABEL: func @written
// CHECK: attn.linear {{.*}}attn.form = "quadratic"
// FORCED-LABEL: func @written
// FORCED: attn.linear {{.*}}attn.form = "recurrent"
func.func @written(%q: tensor<1x2x2048x32xf32>) -> tensor<1x2x2048x32xf32> {
  %o = attn.linear %q, %q, %q causal {attn.form = "quadratic"} : (tensor<1x2x2048x32xf32>, tensor<1x2x2048x32xf32>, tensor<1x2x2048x32xf32>) -> tensor<1x2x2048x32xf32>
  return %o : tensor<1x2x2048x32xf32>
}

// Tokens that only a call knows count as many.
// CHECK-LABEL: func @unknown_length
// CHECK: attn.linear {{.*}}attn.form = "chunk"
func.func @unknown_length(%q: tensor<1x2x?x128xf32>) -> tensor<1x2x?x128xf32> {
  %o = attn.linear %q, %q, %q causal : (tensor<1x2x?x128xf32>, tensor<1x2x?x128xf32>, tensor<1x2x?x128xf32>) -> tensor<1x2x?x128xf32>
  return %o : tensor<1x2x?x128xf32>
}

// CHECK-LABEL: func @one_token
// CHECK: attn.linear {{.*}}attn.form = "recurrent"
func.func @one_token(%q: tensor<1x2x1x64xf32>, %s: tensor<1x2x64x64xf32>) -> (tensor<1x2x1x64xf32>, tensor<1x2x64x64xf32>) {
  %o:2 = attn.linear %q, %q, %q state(%s : tensor<1x2x64x64xf32>) causal : (tensor<1x2x1x64xf32>, tensor<1x2x1x64xf32>, tensor<1x2x1x64xf32>) -> (tensor<1x2x1x64xf32>, tensor<1x2x64x64xf32>)
  return %o#0, %o#1 : tensor<1x2x1x64xf32>, tensor<1x2x64x64xf32>
}

// Blocks whose sizes are part of the meaning are the chunks.
// CHECK-LABEL: func @blocks
// CHECK: attn.linear {{.*}}attn.form = "chunk"
// FORCED-LABEL: func @blocks
// FORCED: attn.linear {{.*}}attn.form = "chunk"
// REMARK: 'attn.linear' has no recurrent form beside block
func.func @blocks(%q: tensor<1x2x1x64xf32>) -> tensor<1x2x1x64xf32> {
  %o = attn.linear %q, %q, %q block(16) causal : (tensor<1x2x1x64xf32>, tensor<1x2x1x64xf32>, tensor<1x2x1x64xf32>) -> tensor<1x2x1x64xf32>
  return %o : tensor<1x2x1x64xf32>
}
