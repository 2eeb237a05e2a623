// RUN: attn-opt %s --split-input-file --attn-pack-tiles | FileCheck %s

// CHECK-LABEL: func @packs_outside_the_loop_over_keys
// CHECK-SAME:    %[[Q:.*]]: tensor<1x?x40xf32>
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<48x48xf32>
// CHECK:         %[[PACKED:.*]] = attn.pack_query ins(%[[Q]] : tensor<1x?x40xf32>) outs(%[[EMPTY]] : tensor<48x48xf32>) scale(%[[SCALE:.*]])
// CHECK:         scf.for
// CHECK:           attn.online_softmax ins(%[[PACKED]],
// CHECK-NOT:         scale
module attributes {attn.target = "cpu:avx512"} {
  func.func @packs_outside_the_loop_over_keys(%q: tensor<1x?x40xf32>, %k: tensor<?x40xf32>, %v: tensor<?x40xf32>,
      %acc: tensor<48x48xf32>, %max: tensor<48xf32>, %sum: tensor<48xf32>, %n: index, %scale: f32) -> (tensor<48x48xf32>, tensor<48xf32>, tensor<48xf32>) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %r:3 = scf.for %k0 = %c0 to %n step %c64 iter_args(%a = %acc, %m = %max, %s = %sum) -> (tensor<48x48xf32>, tensor<48xf32>, tensor<48xf32>) {
      %u:3 = attn.online_softmax ins(%q, %k, %v : tensor<1x?x40xf32>, tensor<?x40xf32>, tensor<?x40xf32>)
        outs(%a, %m, %s : tensor<48x48xf32>, tensor<48xf32>, tensor<48xf32>) at(%c0, %c0, %c0, %k0) key_tile(64) scale(%scale)
        -> tensor<48x48xf32>, tensor<48xf32>, tensor<48xf32>
      scf.yield %u#0, %u#1, %u#2 : tensor<48x48xf32>, tensor<48xf32>, tensor<48xf32>
    }
    return %r#0, %r#1, %r#2 : tensor<48x48xf32>, tensor<48xf32>, tensor<48xf32>
  }
}

// -----

// With dot products of bf16 pairs, lanes hold pairs and the scale stays with
// the scores.

// CHECK-LABEL: func @packs_pairs_of_bf16
// CHECK-SAME:    %[[Q:.*]]: tensor<1x?x40xbf16>
// CHECK-SAME:    %[[SCALE:[a-z0-9]+]]: f32
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<32x64xbf16>
// CHECK:         %[[PACKED:.*]] = attn.pack_query ins(%[[Q]] : tensor<1x?x40xbf16>) outs(%[[EMPTY]] : tensor<32x64xbf16>)
// CHECK-NOT:       scale
// CHECK:         attn.online_softmax ins(%[[PACKED]],
// CHECK-SAME:      scale(%[[SCALE]])
module attributes {attn.target = "cpu:avx512bf16"} {
  func.func @packs_pairs_of_bf16(%q: tensor<1x?x40xbf16>, %k: tensor<?x40xbf16>, %v: tensor<?x40xbf16>,
      %acc: tensor<48x32xf32>, %max: tensor<32xf32>, %sum: tensor<32xf32>, %i: index, %scale: f32) -> tensor<48x32xf32> {
    %u:3 = attn.online_softmax ins(%q, %k, %v : tensor<1x?x40xbf16>, tensor<?x40xbf16>, tensor<?x40xbf16>)
      outs(%acc, %max, %sum : tensor<48x32xf32>, tensor<32xf32>, tensor<32xf32>) at(%i, %i, %i, %i) key_tile(64) scale(%scale)
      -> tensor<48x32xf32>, tensor<32xf32>, tensor<32xf32>
    return %u#0 : tensor<48x32xf32>
  }
}
