// TransNormerLLM with Lightning Attention-2 (Qin et al. 2023, "TransNormerLLM:
// A Faster and Better Large Language Model with Improved TransNormer", section
// 3). For heads h = 0 to 7 of layer l of L:
//
//   S_t = lambda_h S_{t-1} + swish(k_t)^T v_t
//   o_t = swish(q_t) S_t               lambda_h = exp(-h (1 - l / L))
//   y_t = SRMSNorm(o_t) .* u_t         SRMSNorm(x) = sqrt(n) x / |x|
//
//   Q, K, V, U, O, Y  B x 8 x T x 64;  the norm is that of all n = 512 entries
//   depth             l / L
//
// The slope is 8 h / H of the paper with H = 8. Q and K of the first layer come
// with the caller's rotation by position (LRPE).

// RUN: attn-opt %s --attn-to-rewrite=target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --check --input='1x8x77x64xf32=normal(0,1)' \
// RUN:   --input='1x8x77x64xf32=normal(0,1)' \
// RUN:   --input='1x8x77x64xf32=normal(0,1)' \
// RUN:   --input='1x8x77x64xf32=normal(0,1)' --input=f32=0.25

// CHECK: attn.linear {{.*}} decay(%{{.*}} : tensor<8xf32>) causal

!rows = tensor<?x8x?x64xf32>

#head = affine_map<(h) -> (h)>
#position = affine_map<(b, h, t, d) -> (b, t)>
#row = affine_map<(b, h, t, d) -> (b, h, t, d)>
#by_head = {indexing_maps = [#head], iterator_types = ["parallel"]}
#by_entry = {indexing_maps = [#row, #position, #row, #row],
  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

func.func private @swish(%x: !rows) -> !rows {
  %y = attn.feature_map %x map {
    ^bb0(%entry: f32):
      %one = arith.constant 1.0 : f32
      %negative = arith.negf %entry : f32
      %exp = math.exp %negative : f32
      %divisor = arith.addf %one, %exp : f32
      %quotient = arith.divf %entry, %divisor : f32
      attn.yield %quotient : f32
    } : !rows -> !rows
  return %y : !rows
}

func.func @main(%q: !rows, %k: !rows, %v: !rows, %u: !rows, %depth: f32)
    -> !rows {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %b = tensor.dim %q, %c0 : !rows
  %t = tensor.dim %q, %c2 : !rows

  // log lambda = h (depth - 1)
  %slope = arith.subf %depth, %one : f32
  %heads = tensor.empty() : tensor<8xf32>
  %decay = linalg.generic #by_head outs(%heads : tensor<8xf32>) {
  ^bb0(%_: f32):
    %h = linalg.index 0 : index
    %integer = arith.index_cast %h : index to i64
    %number = arith.sitofp %integer : i64 to f32
    %log = arith.mulf %number, %slope : f32
    linalg.yield %log : f32
  } -> tensor<8xf32>
  %features_q = call @swish(%q) : (!rows) -> !rows
  %features_k = call @swish(%k) : (!rows) -> !rows
  %o = attn.linear %features_q, %features_k, %v
      decay(%decay : tensor<8xf32>) causal : (!rows, !rows, !rows) -> !rows

  // SRMSNorm over heads and their entries, times the gate
  %empty = tensor.empty(%b, %t) : tensor<?x?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  %squares = linalg.contract indexing_maps = [#row, #row, #position]
      ins(%o, %o : !rows, !rows) outs(%zeros : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  %y = linalg.generic #by_entry
      ins(%o, %squares, %u : !rows, tensor<?x?xf32>, !rows) outs(%o : !rows) {
  ^bb0(%entry: f32, %square: f32, %gate: f32, %_: f32):
    %size = arith.constant 512.0 : f32
    %epsilon = arith.constant 1.0e-6 : f32
    %mean = arith.divf %square, %size : f32
    %positive = arith.addf %mean, %epsilon : f32
    %root = math.sqrt %positive : f32
    %normal = arith.divf %entry, %root : f32
    %gated = arith.mulf %normal, %gate : f32
    linalg.yield %gated : f32
  } -> !rows
  return %y : !rows
}
