// RUN: attn-opt %s --split-input-file --attn-expand-random-features --verify-diagnostics

func.func @too_many() -> tensor<4097x4096xf32> {
  // expected-error @below {{'attn.random_features' op result: expected at most 16777216 entries, got 'tensor<4097x4096xf32>'}}
  %w = attn.random_features seed(1) : tensor<4097x4096xf32>
  return %w : tensor<4097x4096xf32>
}
