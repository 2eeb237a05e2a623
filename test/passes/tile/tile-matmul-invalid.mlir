// RUN: attn-opt %s --attn-tile-matmul --verify-diagnostics

module {
  // expected-error @below {{expected module attribute 'attn.target', one of cpu:generic, cpu:avx2, cpu:avx512}}
  func.func @needs_a_target(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    return %x : tensor<8x8xf32>
  }
}
