// RUN: attn-opt %s --split-input-file --verify-diagnostics

// Each function breaks one numbered constraint of `attn.favor` or
// `attn.random_features` and is named after it.

func.func @random_features_r1_rows() {
  // expected-error @below {{'attn.random_features' op result: expected static sizes of at least one, got 'tensor<?x8xf32>'}}
  %w = attn.random_features seed(7) : tensor<?x8xf32>
  return
}

// -----

func.func @random_features_r1_columns() {
  // expected-error @below {{'attn.random_features' op result: expected static sizes of at least one, got 'tensor<8x?xf32>'}}
  %w = attn.random_features seed(7) : tensor<8x?xf32>
  return
}

// -----

func.func @random_features_r1_none() {
  // expected-error @below {{'attn.random_features' op result: expected static sizes of at least one, got 'tensor<8x0xf32>'}}
  %w = attn.random_features seed(7) : tensor<8x0xf32>
  return
}

// -----

func.func @random_features_r1_rank() {
  // expected-error @below {{'attn.random_features' op result #0 must be 2-D tensor (features x head dim) of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<8x8x8xf32>'}}
  %w = attn.random_features seed(7) : tensor<8x8x8xf32>
  return
}

// -----

func.func @random_features_r2_bf16() {
  // expected-error @below {{'attn.random_features' op result: expected element type f32 or f64, got 'bf16'}}
  %w = attn.random_features seed(7) : tensor<8x8xbf16>
  return
}

// -----

func.func @random_features_r2_i32() {
  // expected-error @below {{'attn.random_features' op result #0 must be 2-D tensor (features x head dim) of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<8x8xi32>'}}
  %w = attn.random_features seed(7) : tensor<8x8xi32>
  return
}

// -----

func.func @favor_v1_key(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xbf16>,
                        %v: tensor<2x4x?x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op key: expected element type 'f32' (from query), got 'bf16'}}
  %o = attn.favor %q, %k, %v, %w kind(positive)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xbf16>, tensor<2x4x?x8xf32>, tensor<32x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v1_value(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                          %v: tensor<2x4x?x8xbf16>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op value: expected element type 'f32' (from query), got 'bf16'}}
  %o = attn.favor %q, %k, %v, %w kind(positive)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xbf16>, tensor<32x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v1_projection(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                               %v: tensor<2x4x?x8xf32>, %w: tensor<32x8xf64>) {
  // expected-error @below {{'attn.favor' op projection: expected element type 'f32' (from query), got 'f64'}}
  %o = attn.favor %q, %k, %v, %w kind(positive)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<32x8xf64>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v1_kind(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                         %v: tensor<2x4x?x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{custom op 'attn.favor' expected positive or hyperbolic or trigonometric or relu, got cosine}}
  %o = attn.favor %q, %k, %v, %w kind(cosine)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<32x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v2_key(%q: tensor<2x4x?x8xf32>, %k: tensor<3x4x?x8xf32>,
                        %v: tensor<2x4x?x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op key: expected batch 2 (from query), got 3}}
  %o = attn.favor %q, %k, %v, %w kind(positive)
      : (tensor<2x4x?x8xf32>, tensor<3x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<32x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v2_value(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                          %v: tensor<3x4x?x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op value: expected batch 2 (from query), got 3}}
  %o = attn.favor %q, %k, %v, %w kind(positive)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<3x4x?x8xf32>, tensor<32x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v3_query(%q: tensor<2x6x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                          %v: tensor<2x4x?x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op query: expected heads to be a multiple of key heads 4 (from key), got 6}}
  %o = attn.favor %q, %k, %v, %w kind(positive)
      : (tensor<2x6x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<32x8xf32>) -> tensor<2x6x?x8xf32>
  return
}

// -----

func.func @favor_v3_value(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                          %v: tensor<2x2x?x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op value: expected heads 4 (from key), got 2}}
  %o = attn.favor %q, %k, %v, %w kind(positive)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<32x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v4_key(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x7xf32>,
                        %v: tensor<2x4x?x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op key: expected head dim 8 (from query), got 7}}
  %o = attn.favor %q, %k, %v, %w kind(positive)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x7xf32>, tensor<2x4x?x8xf32>, tensor<32x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v4_projection(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                               %v: tensor<2x4x?x8xf32>, %w: tensor<32x7xf32>) {
  // expected-error @below {{'attn.favor' op projection: expected head dim 8 (from query), got 7}}
  %o = attn.favor %q, %k, %v, %w kind(positive)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<32x7xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v5(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x5x8xf32>,
                    %v: tensor<2x4x7x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op value: expected length 5 (from key), got 7}}
  %o = attn.favor %q, %k, %v, %w kind(positive)
      : (tensor<2x4x?x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>, tensor<32x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v6(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                    %v: tensor<2x4x?x8xf32>, %w: tensor<32x8xf32>,
                    %n: tensor<3xi64>) {
  // expected-error @below {{'attn.favor' op lengths: expected batch 2 (from query), got 3}}
  %o = attn.favor %q, %k, %v, %w kind(positive) lengths(%n : tensor<3xi64>)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<32x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v7(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                    %v: tensor<2x4x?x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op output: expected 'tensor<2x4x?x8xf32>', got 'tensor<2x4x?x16xf32>'}}
  %o = attn.favor %q, %k, %v, %w kind(positive)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<32x8xf32>) -> tensor<2x4x?x16xf32>
  return
}

// -----

func.func @favor_v7_type(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                         %v: tensor<2x4x?x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op output: expected 'tensor<2x4x?x8xf32>', got 'tensor<2x4x?x8xbf16>'}}
  %o = attn.favor %q, %k, %v, %w kind(positive)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<32x8xf32>) -> tensor<2x4x?x8xbf16>
  return
}

// -----

func.func @favor_v8_zero(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                         %v: tensor<2x4x?x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op scale: expected a number > 0, got 0.000000e+00}}
  %o = attn.favor %q, %k, %v, %w kind(positive) scale(0.0)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<32x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v8_negative(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                             %v: tensor<2x4x?x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op scale: expected a number > 0, got -1.000000e+00}}
  %o = attn.favor %q, %k, %v, %w kind(positive) scale(-1.0)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<32x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v8_infinite(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                             %v: tensor<2x4x?x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op scale: expected a number that is finite in f32, got 1.000000e+39}}
  %o = attn.favor %q, %k, %v, %w kind(positive) scale(1.0e+39)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<32x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v9(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>,
                    %v: tensor<2x4x7x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op key: expected length 5 (from query), got 7}}
  %o = attn.favor %q, %k, %v, %w kind(positive) causal
      : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x8xf32>, tensor<32x8xf32>) -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @favor_v10_nan(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                         %v: tensor<2x4x?x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op eps: expected a number >= 0 that is finite in 'f32', got nan}}
  %o = attn.favor %q, %k, %v, %w kind(positive) eps(0x7FF8000000000000)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<32x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v10_negative(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                              %v: tensor<2x4x?x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op eps: expected a number >= 0 that is finite in 'f32', got -1.000000e+00}}
  %o = attn.favor %q, %k, %v, %w kind(relu) eps(-1.0)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<32x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v10_infinite(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                              %v: tensor<2x4x?x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.favor' op eps: expected a number >= 0 that is finite in 'f32', got INF}}
  %o = attn.favor %q, %k, %v, %w kind(relu) eps(0x7FF0000000000000)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<32x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v11(%q: tensor<2x4x?x0xf32>, %k: tensor<2x4x?x0xf32>,
                     %v: tensor<2x4x?x8xf32>, %w: tensor<32x0xf32>) {
  // expected-error @below {{'attn.favor' op query: expected head dim of at least 1, got 0}}
  %o = attn.favor %q, %k, %v, %w kind(positive)
      : (tensor<2x4x?x0xf32>, tensor<2x4x?x0xf32>, tensor<2x4x?x8xf32>, tensor<32x0xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @favor_v10_f32(%q: tensor<1x4x?x8xf32>, %w: tensor<32x8xf32>) -> tensor<1x4x?x8xf32> {
  // expected-error @below {{'attn.favor' op eps: expected a number >= 0 that is finite in 'f32', got 1.000000e+39}}
  %o = attn.favor %q, %q, %q, %w kind(relu) eps(1.0e39) : (tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>, tensor<32x8xf32>) -> tensor<1x4x?x8xf32>
  return %o : tensor<1x4x?x8xf32>
}

// -----

func.func @favor_v11_rows(%q: tensor<1x4x?x8xf32>, %w: tensor<0x8xf32>) -> tensor<1x4x?x8xf32> {
  // expected-error @below {{'attn.favor' op projection: expected rows of at least 1, got 0}}
  %o = attn.favor %q, %q, %q, %w kind(positive) causal : (tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>, tensor<0x8xf32>) -> tensor<1x4x?x8xf32>
  return %o : tensor<1x4x?x8xf32>
}

// -----

func.func @random_features_r1_no_rows() {
  // expected-error @below {{'attn.random_features' op result: expected static sizes of at least one, got 'tensor<0x8xf32>'}}
  %w = attn.random_features seed(7) : tensor<0x8xf32>
  return
}

// -----

func.func @random_features_r3_rows() {
  // expected-error @below {{'attn.random_features' op result: expected at most 262144 rows, got 'tensor<262145x1xf32>'}}
  %w = attn.random_features seed(7) : tensor<262145x1xf32>
  return
}

// -----

func.func @random_features_r3_entries() {
  // expected-error @below {{'attn.random_features' op result: expected at most 4194304 entries, got 'tensor<1025x4096xf32>'}}
  %w = attn.random_features seed(7) : tensor<1025x4096xf32>
  return
}

// -----

func.func @random_features_r3_products() {
  // expected-error @below {{'attn.random_features' op result: expected at most 2147483648 products for orthogonal rows, M D min(M, D), got 'tensor<2048x1025xf32>'}}
  %w = attn.random_features seed(7) orthogonal : tensor<2048x1025xf32>
  return
}

// -----

func.func @random_features_r3_overflow() {
  // expected-error @below {{'attn.random_features' op result: expected at most 4194304 entries, got 'tensor<4x4611686018427387904xf32>'}}
  %w = attn.random_features seed(7) : tensor<4x4611686018427387904xf32>
  return
}
