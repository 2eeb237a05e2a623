// FLASH (Hua et al. 2022, "Transformer Quality in Linear Time", sections 3.1 to
// 3.3): the gated attention unit in chunks of C = 64 tokens, which are part of
// the model. Tokens attend to their own chunk, up to themselves, by a squared
// ReLU, and to the chunks before it by linear attention:
//
//   a_tj = max(q_t.k_j / C + bias_tj, 0)^2
//   o_t  = u_t .* (sum_(own chunk, j <= t) a_tj v_j
//                  + ql_t sum_(earlier chunks) kl_j^T v_j / C)
//
//   Q, K, Ql, Kl  B x H x N x C x S: N chunks of four affine maps of one
//                 projection; the paper has one head
//   V, U          B x H x N x C x E
//   O             B x H x N C x E
//   bias          C x C

// RUN: attn-opt %s --attn-to-rewrite=target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --check --input='2x1x3x64x32xf32=normal(0,1)' \
// RUN:   --input='2x1x3x64x32xf32=normal(0,1)' \
// RUN:   --input='2x1x3x64x32xf32=normal(0,1)' \
// RUN:   --input='2x1x3x64x32xf32=normal(0,1)' \
// RUN:   --input='2x1x3x64x96xf32=normal(0,1)' \
// RUN:   --input='2x1x3x64x96xf32=normal(0,1)' \
// RUN:   --input='64x64xf32=normal(0,0.1)'

// CHECK: attn.linear {{.*}} scale(1.562500e-02) block(64) causal

!chunks = tensor<?x?x?x64x?xf32>
!rows = tensor<?x?x?x?xf32>
!weights = tensor<?x?x?x64x64xf32>

#query = affine_map<(b, h, n, i, j, d) -> (b, h, n, i, d)>
#key = affine_map<(b, h, n, i, j, d) -> (b, h, n, j, d)>
#pair = affine_map<(b, h, n, i, j, d) -> (b, h, n, i, j)>
#bias = affine_map<(b, h, n, i, j) -> (i, j)>
#weight = affine_map<(b, h, n, i, j) -> (b, h, n, i, j)>
#by_pair = {indexing_maps = [#bias, #weight],
  iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
#row = affine_map<(b, h, t, e) -> (b, h, t, e)>
#by_entry = {indexing_maps = [#row, #row, #row],
  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

// The chunks in a line: B x H x N C x D.
func.func private @flatten(%x: !chunks) -> !rows {
  %rows = tensor.collapse_shape %x [[0], [1], [2, 3], [4]]
      : !chunks into !rows
  return %rows : !rows
}

func.func @main(%q: !chunks, %k: !chunks, %ql: !chunks, %kl: !chunks,
                %v: !chunks, %u: !chunks, %bias: tensor<64x64xf32>) -> !rows {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %v, %c0 : !chunks
  %h = tensor.dim %v, %c1 : !chunks
  %n = tensor.dim %v, %c2 : !chunks
  %e = tensor.dim %v, %c4 : !chunks

  // The own chunk: all pairs, as weights.
  %pairs = tensor.empty(%b, %h, %n) : !weights
  %none = linalg.fill ins(%zero : f32) outs(%pairs : !weights) -> !weights
  %scores = linalg.contract indexing_maps = [#query, #key, #pair]
      ins(%q, %k : !chunks, !chunks) outs(%none : !weights) -> !weights
  %a = linalg.generic #by_pair
      ins(%bias : tensor<64x64xf32>) outs(%scores : !weights) {
  ^bb0(%shift: f32, %score: f32):
    %scale = arith.constant 0.015625 : f32
    %i = linalg.index 3 : index
    %j = linalg.index 4 : index
    %past = arith.cmpi sle, %j, %i : index
    %scaled = arith.mulf %score, %scale : f32
    %shifted = arith.addf %scaled, %shift : f32
    %positive = arith.maximumf %shifted, %zero : f32
    %square = arith.mulf %positive, %positive : f32
    %kept = arith.select %past, %square, %zero : f32
    linalg.yield %kept : f32
  } -> !weights
  %empty = tensor.empty(%b, %h, %n, %e) : !chunks
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : !chunks) -> !chunks
  %near = linalg.contract indexing_maps = [#pair, #key, #query]
      ins(%a, %v : !weights, !chunks) outs(%zeros : !chunks) -> !chunks

  // Earlier chunks: the state from before the own one, through rows in a line.
  %ql_rows = call @flatten(%ql) : (!chunks) -> !rows
  %kl_rows = call @flatten(%kl) : (!chunks) -> !rows
  %v_rows = call @flatten(%v) : (!chunks) -> !rows
  %far = attn.linear %ql_rows, %kl_rows, %v_rows scale(0.015625) block(64)
      causal : (!rows, !rows, !rows) -> !rows

  %near_rows = call @flatten(%near) : (!chunks) -> !rows
  %u_rows = call @flatten(%u) : (!chunks) -> !rows
  %o = linalg.generic #by_entry
      ins(%near_rows, %u_rows : !rows, !rows) outs(%far : !rows) {
  ^bb0(%one: f32, %gate: f32, %other: f32):
    %sum = arith.addf %one, %other : f32
    %gated = arith.mulf %gate, %sum : f32
    linalg.yield %gated : f32
  } -> !rows
  return %o : !rows
}
