// RUN: attn-opt %s --attn-tile=target=cpu:avx512 --split-input-file --verify-diagnostics
// RUN: not attn-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(attn-tile-linear{chunk=-1}))' 2>&1 | FileCheck %s --check-prefix=CHUNK

// CHUNK: attn-tile-linear: chunk: expected a number of tokens, or 0, got -1

func.func @features(%q: tensor<1x2x9x4xf32>) -> tensor<1x2x9x4xf32> {
  // expected-error @below {{'attn.linear' op expected no feature maps, which attn-expand-features makes operations of}}
  %o = attn.linear %q, %q, %q feature(#attn.elu1) causal : (tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>) -> tensor<1x2x9x4xf32>
  return %o : tensor<1x2x9x4xf32>
}

// -----

func.func @form(%q: tensor<1x2x9x4xf32>) -> tensor<1x2x9x4xf32> {
  // expected-error @below {{'attn.linear' op attn.form: expected quadratic, chunk or recurrent, got "scan"}}
  %o = attn.linear %q, %q, %q causal {attn.form = "scan"} : (tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>) -> tensor<1x2x9x4xf32>
  return %o : tensor<1x2x9x4xf32>
}

// -----

func.func @no_segment(%q: tensor<1x2x9x4xf32>) -> tensor<1x2x9x4xf32> {
  // expected-error @below {{'attn.linear' op attn.segments: expected a number from 1 to 1024, got 0}}
  %o = attn.linear %q, %q, %q causal {attn.segments = 0} : (tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>) -> tensor<1x2x9x4xf32>
  return %o : tensor<1x2x9x4xf32>
}

// -----

func.func @segments_of_a_transition(%q: tensor<1x2x9x4xf32>, %b: tensor<1x2x9xf32>) -> tensor<1x2x9x4xf32> {
  // expected-error @below {{'attn.linear' op attn.segments: expected causal attention without beta, transition, block and query_starts}}
  %o = attn.linear %q, %q, %q beta(%b : tensor<1x2x9xf32>) causal {attn.segments = 2} : (tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>) -> tensor<1x2x9x4xf32>
  return %o : tensor<1x2x9x4xf32>
}
