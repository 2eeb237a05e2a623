// DeltaNet (Yang et al. 2024, "Parallelizing Linear Transformers with the Delta
// Rule over Sequence Length", section 2). A token replaces, by a part beta,
// what the state holds at its key, instead of adding to it:
//
//   S_t = S_{t-1} + beta_t k_t^T (v_t - k_t S_{t-1})
//   o_t = q_t S_t
//
//   Q, K  B x 4 x T x 32, which are brought to length 1 here
//   V, O  B x 4 x T x 64
//   beta  B x 4 x T, in (0, 1)

// RUN: attn-opt %s --attn-to-rewrite=target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --check --input='1x4x77x32xf32=normal(0,1)' \
// RUN:   --input='1x4x77x32xf32=normal(0,1)' \
// RUN:   --input='1x4x77x64xf32=normal(0,1)' \
// RUN:   --input='1x4x77xf32=normal(0.5,0.1)'

// CHECK: attn.linear {{.*}} beta(%{{.*}} : tensor<?x4x?xf32>) causal

!keys = tensor<?x4x?x32xf32>
!values = tensor<?x4x?x64xf32>
!tokens = tensor<?x4x?xf32>

#token = affine_map<(b, h, t, d) -> (b, h, t)>
#row = affine_map<(b, h, t, d) -> (b, h, t, d)>
#by_entry = {indexing_maps = [#row, #token, #row],
  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

// x / |x|, of each row; a row of zeros stays one.
func.func private @normalize(%x: !keys) -> !keys {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : !keys
  %t = tensor.dim %x, %c2 : !keys
  %empty = tensor.empty(%b, %t) : !tokens
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : !tokens) -> !tokens
  %squares = linalg.contract indexing_maps = [#row, #row, #token]
      ins(%x, %x : !keys, !keys) outs(%zeros : !tokens) -> !tokens
  %y = linalg.generic #by_entry
      ins(%x, %squares : !keys, !tokens) outs(%x : !keys) {
  ^bb0(%entry: f32, %square: f32, %_: f32):
    %epsilon = arith.constant 1.0e-12 : f32
    %positive = arith.addf %square, %epsilon : f32
    %length = math.sqrt %positive : f32
    %quotient = arith.divf %entry, %length : f32
    linalg.yield %quotient : f32
  } -> !keys
  return %y : !keys
}

func.func @main(%q: !keys, %k: !keys, %v: !values, %beta: !tokens) -> !values {
  %unit_q = call @normalize(%q) : (!keys) -> !keys
  %unit_k = call @normalize(%k) : (!keys) -> !keys
  %o = attn.linear %unit_q, %unit_k, %v beta(%beta : !tokens) causal
      : (!keys, !keys, !values) -> !values
  return %o : !values
}
