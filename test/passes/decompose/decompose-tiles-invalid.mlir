// RUN: attn-opt %s --attn-decompose-tiles --verify-diagnostics

func.func @packed(%q: tensor<2x5x4xf32>, %packed: tensor<4x16xf32>, %s: f32) -> tensor<4x16xf32> {
  // expected-error @below {{'attn.pack_query' op expected tensors and a query that is not packed}}
  %r = attn.pack_query ins(%q : tensor<2x5x4xf32>) outs(%packed : tensor<4x16xf32>) scale(%s) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}
