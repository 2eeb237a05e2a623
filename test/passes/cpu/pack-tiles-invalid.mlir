// RUN: attn-opt %s --attn-pack-tiles --verify-diagnostics

module attributes {attn.target = "cpu:avx2"} {
  func.func @tile_of_another_target(%q: tensor<1x?x40xf32>, %k: tensor<?x40xf32>, %v: tensor<?x40xf32>,
      %acc: tensor<48x48xf32>, %max: tensor<48xf32>, %sum: tensor<48xf32>, %i: index, %scale: f32) -> tensor<48x48xf32> {
    // expected-error @below {{query tile: expected a multiple of 8 rows up to 24 for cpu:avx2, got 48}}
    %u:3 = attn.online_softmax ins(%q, %k, %v : tensor<1x?x40xf32>, tensor<?x40xf32>, tensor<?x40xf32>)
      outs(%acc, %max, %sum : tensor<48x48xf32>, tensor<48xf32>, tensor<48xf32>) at(%i, %i, %i, %i) key_tile(64) scale(%scale)
      -> tensor<48x48xf32>, tensor<48xf32>, tensor<48xf32>
    return %u#0 : tensor<48x48xf32>
  }
}
