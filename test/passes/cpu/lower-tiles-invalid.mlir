// RUN: attn-opt %s --attn-lower-tiles --verify-diagnostics

module attributes {attn.target = "cpu:avx2"} {
  func.func @needs_a_packed_query(%q: memref<1x?x64xf32>, %k: memref<?x64xf32>, %v: memref<?x64xf32>,
      %acc: memref<64x24xf32>, %max: memref<24xf32>, %sum: memref<24xf32>, %i: index, %s: f32) {
    // expected-error @below {{expected buffers and a packed query}}
    attn.online_softmax ins(%q, %k, %v : memref<1x?x64xf32>, memref<?x64xf32>, memref<?x64xf32>)
      outs(%acc, %max, %sum : memref<64x24xf32>, memref<24xf32>, memref<24xf32>) at(%i, %i, %i, %i) key_tile(64) scale(%s)
    return
  }
}
