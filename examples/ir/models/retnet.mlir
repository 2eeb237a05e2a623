// RetNet (Sun et al. 2023, "Retentive Network: A Successor to Transformer for
// Large Language Models", sections 2.1 and 2.2). The state forgets, at a rate
// of its own for each head h = 0, 1, ...:
//
//   S_t = gamma_h S_{t-1} + k_t^T v_t        gamma_h = 1 - 2^(-5-h)
//   o_t = q_t S_t
//   y_t = (o_t - mean(o_t)) / sqrt(var(o_t) + 1e-5)     GroupNorm of each head
//
//   Q, K     B x 8 x T x 32, after xPos, the caller's rotation by position, and
//            with 1/sqrt(32) in Q
//   V, O, Y  B x 8 x T x 64

// RUN: attn-opt %s --attn-to-rewrite=target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --check --input='1x8x77x32xf32=normal(0,0.2)' \
// RUN:   --input='1x8x77x32xf32=normal(0,1)' \
// RUN:   --input='1x8x77x64xf32=normal(0,1)'

// CHECK: attn.linear {{.*}} decay(%{{.*}} : tensor<8xf32>) causal

!keys = tensor<?x8x?x32xf32>
!values = tensor<?x8x?x64xf32>
!tokens = tensor<?x8x?xf32>

#head = affine_map<(h) -> (h)>
#token = affine_map<(b, h, t, d) -> (b, h, t)>
#row = affine_map<(b, h, t, d) -> (b, h, t, d)>
#by_head = {indexing_maps = [#head], iterator_types = ["parallel"]}
#over_entries = {indexing_maps = [#row, #token],
  iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#by_entry = {indexing_maps = [#row, #token, #row],
  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

// (x - mean(x)) / sqrt(var(x) + 1e-5), of each row.
func.func private @group_norm(%x: !values) -> !values {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %size = arith.constant 64.0 : f32
  %b = tensor.dim %x, %c0 : !values
  %t = tensor.dim %x, %c2 : !values
  %empty = tensor.empty(%b, %t) : !tokens
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : !tokens) -> !tokens
  %sums = linalg.generic #over_entries
      ins(%x : !values) outs(%zeros : !tokens) {
  ^bb0(%entry: f32, %sum: f32):
    %next = arith.addf %sum, %entry : f32
    linalg.yield %next : f32
  } -> !tokens
  %centred = linalg.generic #by_entry
      ins(%x, %sums : !values, !tokens) outs(%x : !values) {
  ^bb0(%entry: f32, %sum: f32, %_: f32):
    %mean = arith.divf %sum, %size : f32
    %difference = arith.subf %entry, %mean : f32
    linalg.yield %difference : f32
  } -> !values
  %squares = linalg.contract indexing_maps = [#row, #row, #token]
      ins(%centred, %centred : !values, !values)
      outs(%zeros : !tokens) -> !tokens
  %y = linalg.generic #by_entry
      ins(%centred, %squares : !values, !tokens) outs(%centred : !values) {
  ^bb0(%entry: f32, %square: f32, %_: f32):
    %epsilon = arith.constant 1.0e-5 : f32
    %variance = arith.divf %square, %size : f32
    %positive = arith.addf %variance, %epsilon : f32
    %deviation = math.sqrt %positive : f32
    %quotient = arith.divf %entry, %deviation : f32
    linalg.yield %quotient : f32
  } -> !values
  return %y : !values
}

func.func @main(%q: !keys, %k: !keys, %v: !values) -> !values {
  // log gamma
  %heads = tensor.empty() : tensor<8xf32>
  %decay = linalg.generic #by_head outs(%heads : tensor<8xf32>) {
  ^bb0(%_: f32):
    %one = arith.constant 1.0 : f32
    %minus_five = arith.constant -5.0 : f32
    %h = linalg.index 0 : index
    %integer = arith.index_cast %h : index to i64
    %number = arith.sitofp %integer : i64 to f32
    %exponent = arith.subf %minus_five, %number : f32
    %power = math.exp2 %exponent : f32
    %gamma = arith.subf %one, %power : f32
    %log = math.log %gamma : f32
    linalg.yield %log : f32
  } -> tensor<8xf32>
  %o = attn.linear %q, %k, %v decay(%decay : tensor<8xf32>) causal
      : (!keys, !keys, !values) -> !values
  %y = call @group_norm(%o) : (!values) -> !values
  return %y : !values
}
