// RUN: attn-opt %s --split-input-file --attn-lower-matmul --verify-diagnostics

module attributes {attn.target = "cpu:avx2"} {
  func.func @needs_panels_of_the_target(%a: memref<4x8xf32>, %b: memref<8x5xf32>, %c: memref<4x5xf32>) {
    // expected-error @below {{'attn.matmul_tile' op panel: expected a multiple of 8 columns up to 24 for cpu:avx2, got 48}}
    attn.matmul_tile ins(%a, %b : memref<4x8xf32>, memref<8x5xf32>) outs(%c : memref<4x5xf32>) tile(256, 192) panel(48)
    return
  }
}

// -----

module attributes {attn.target = "cpu:avx2"} {
  func.func @needs_buffers(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>, %c: tensor<4x5xf32>) -> tensor<4x5xf32> {
    // expected-error @below {{'attn.matmul_tile' op expected buffers with rows of unit stride, got 'tensor<4x8xf32>'}}
    %r = attn.matmul_tile ins(%a, %b : tensor<4x8xf32>, tensor<8x5xf32>) outs(%c : tensor<4x5xf32>) tile(256, 192) panel(24) -> tensor<4x5xf32>
    return %r : tensor<4x5xf32>
  }
}

// -----

module attributes {attn.target = "cpu:avx2"} {
  func.func @needs_unit_strides(%a: memref<4x8xf32, strided<[1, 4]>>, %b: memref<8x5xf32>, %c: memref<4x5xf32>) {
    // expected-error @below {{'attn.matmul_tile' op expected buffers with rows of unit stride, got 'memref<4x8xf32, strided<[1, 4]>>'}}
    attn.matmul_tile ins(%a, %b : memref<4x8xf32, strided<[1, 4]>>, memref<8x5xf32>) outs(%c : memref<4x5xf32>) tile(256, 192) panel(24)
    return
  }
}
