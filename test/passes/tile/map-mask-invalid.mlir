// RUN: attn-opt %s --attn-map-mask --split-input-file --verify-diagnostics

module attributes {attn.target = "cpu:avx2"} {
  func.func @main(%q: tensor<1x1x8x4xf32>) -> tensor<1x1x8x4xf32> {
    %o = attn.softmax %q, %q, %q : (tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>) -> tensor<1x1x8x4xf32>
    return %o : tensor<1x1x8x4xf32>
  }
  // expected-error @below {{'func.func' op name: expected none that 'main' needs beside it, got main.mask0.tiles}}
  func.func @main.mask0.tiles() { return }
}

// -----

module attributes {attn.target = "cpu:avx2"} {
  func.func @main(%q: tensor<1x1x8x4xf32>, %n: index) -> tensor<1x1x8x4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %q) -> tensor<1x1x8x4xf32> {
      // expected-error @below {{'attn.softmax' op expected it directly in a function, got it in 'scf.for'}}
      %o = attn.softmax %x, %q, %q : (tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>) -> tensor<1x1x8x4xf32>
      scf.yield %o : tensor<1x1x8x4xf32>
    }
    return %r : tensor<1x1x8x4xf32>
  }
}
