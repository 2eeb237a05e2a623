// RUN: attn-opt %s --attn-count-tiles --split-input-file --verify-diagnostics

module attributes {attn.target = "cpu:generic"} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  // expected-error @below {{'func.func' op name: expected none that 'main' needs beside it, got main.tiles}}
  func.func @main.tiles(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

module attributes {attn.target = "cpu:generic"} {
  func.func @attention_in_a_loop(%q: tensor<1x1x2x4xf32>, %n: index)
      -> tensor<1x1x2x4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %q)
        -> tensor<1x1x2x4xf32> {
      // expected-error @below {{'attn.softmax' op expected it directly in a function, got it in 'scf.for'}}
      %o = attn.softmax %x, %q, %q
          : (tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>)
          -> tensor<1x1x2x4xf32>
      scf.yield %o : tensor<1x1x2x4xf32>
    }
    return %r : tensor<1x1x2x4xf32>
  }
}
