// RUN: attn-opt %s --split-input-file --attn-tile-attention --verify-diagnostics

module {
  // expected-error @below {{expected module attribute 'attn.target', one of cpu:generic, cpu:avx2, cpu:avx512}}
  func.func @needs_a_target(%q: tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> {
    return %q : tensor<1x1x8x8xf32>
  }
}

// -----

module attributes {attn.target = "cpu:z80"} {
  // expected-error @below {{module attribute 'attn.target': expected one of cpu:generic, cpu:avx2, cpu:avx512, cpu:avx512bf16, cpu:amx, got 'cpu:z80'}}
  func.func @needs_a_known_target(%q: tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> {
    return %q : tensor<1x1x8x8xf32>
  }
}

// -----

module attributes {attn.target = "cpu:avx2"} {
  func.func @clause(%q: tensor<1x1x2x4xf32>, %b: tensor<2xf32>)
      -> tensor<1x1x2x4xf32> {
    // expected-error @below {{'attn.softmax' op expected no softcap value, alibi, bias or select, which attn-expand-clauses makes regions of}}
    %o = attn.softmax %q, %q, %q bias(%b : tensor<2xf32>)
        : (tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>)
        -> tensor<1x1x2x4xf32>
    return %o : tensor<1x1x2x4xf32>
  }
}
