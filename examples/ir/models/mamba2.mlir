// Mamba-2 (Dao and Gu 2024, "Transformers are SSMs: Generalized Models and
// Efficient Algorithms Through Structured State Space Duality"), the state
// space model of each head, discretised with the step dt_t of a token:
//
//   h_t = exp(dt_t A) h_{t-1} + B_t^T (dt_t x_t)        A = -exp(A_log)
//   y_t = C_t h_t + D x_t
//
//   B, C       B x 2 x T x 16, as key and query: one of two for 3 heads each
//   X, Y       B x 6 x T x 24, as value and output
//   dt         B x 6 x T, positive
//   A_log, D   6
//
// Six heads of values share two of keys (the "multi-value attention" of section
// 7.2). Convolution, softplus of dt, gate and norm are the caller's.

// RUN: attn-opt %s --attn-to-rewrite=target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --check --input='1x6x77x24xf32=normal(0,1)' \
// RUN:   --input='1x6x77xf32=normal(0.5,0.1)' \
// RUN:   --input=6xf32=-1,0,0.5,1,1.5,2 \
// RUN:   --input='1x2x77x16xf32=normal(0,1)' \
// RUN:   --input='1x2x77x16xf32=normal(0,1)' --input='6xf32=normal(1,0.1)'

// CHECK: attn.linear {{.*}} decay(%{{.*}} : tensor<?x6x?xf32>) causal

!keys = tensor<?x2x?x16xf32>
!values = tensor<?x6x?x24xf32>
!tokens = tensor<?x6x?xf32>

#of_token = affine_map<(b, h, t) -> (h)>
#token = affine_map<(b, h, t) -> (b, h, t)>
#of_row = affine_map<(b, h, t, p) -> (h)>
#at_token = affine_map<(b, h, t, p) -> (b, h, t)>
#row = affine_map<(b, h, t, p) -> (b, h, t, p)>
#by_token = {indexing_maps = [#token, #of_token, #token],
  iterator_types = ["parallel", "parallel", "parallel"]}
#by_step = {indexing_maps = [#row, #at_token, #row],
  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#by_head = {indexing_maps = [#row, #of_row, #row],
  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

func.func @main(%x: !values, %dt: !tokens, %a_log: tensor<6xf32>, %b: !keys,
                %c: !keys, %d: tensor<6xf32>) -> !values {
  // dt A
  %decay = linalg.generic #by_token
      ins(%dt, %a_log : !tokens, tensor<6xf32>) outs(%dt : !tokens) {
  ^bb0(%step: f32, %log: f32, %_: f32):
    %rate = math.exp %log : f32
    %product = arith.mulf %step, %rate : f32
    %negative = arith.negf %product : f32
    linalg.yield %negative : f32
  } -> !tokens
  // dt x
  %v = linalg.generic #by_step
      ins(%x, %dt : !values, !tokens) outs(%x : !values) {
  ^bb0(%entry: f32, %step: f32, %_: f32):
    %product = arith.mulf %entry, %step : f32
    linalg.yield %product : f32
  } -> !values
  %o = attn.linear %c, %b, %v decay(%decay : !tokens) causal
      : (!keys, !keys, !values) -> !values
  // + D x
  %y = linalg.generic #by_head
      ins(%x, %d : !values, tensor<6xf32>) outs(%o : !values) {
  ^bb0(%entry: f32, %skip: f32, %out: f32):
    %product = arith.mulf %entry, %skip : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  } -> !values
  return %y : !values
}
