// RUN: attn-opt %s --split-input-file --verify-diagnostics

// Each function breaks one numbered constraint of `attn.feature_map` and is named
// after it.

func.func @feature_map_f1_input(%x: tensor<1x2x?x8xi32>) {
  // expected-error @below {{'attn.feature_map' op operand #0 must be 4-D tensor (batch x heads x sequence x head dim) of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<1x2x?x8xi32>'}}
  %y = attn.feature_map %x feature(#attn.elu1)
      : tensor<1x2x?x8xi32> -> tensor<1x2x?x8xi32>
  return
}

// -----

func.func @feature_map_f1_result(%x: tensor<1x2x?x8xbf16>) {
  // expected-error @below {{'attn.feature_map' op result: expected element type 'bf16' or 'f32', got 'f16'}}
  %y = attn.feature_map %x feature(#attn.elu1)
      : tensor<1x2x?x8xbf16> -> tensor<1x2x?x8xf16>
  return
}

// -----

func.func @feature_map_f1_projection(%x: tensor<1x2x?x8xf32>,
                                     %w: tensor<8x8xf64>) {
  // expected-error @below {{'attn.feature_map' op projection: expected element type 'f32' (from input), got 'f64'}}
  %y = attn.feature_map %x feature(#attn.elu1) projection(%w : tensor<8x8xf64>)
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_f1_projection_bf16(%x: tensor<1x2x?x8xf32>,
                                          %w: tensor<8x8xbf16>) {
  // expected-error @below {{'attn.feature_map' op projection: expected element type 'f32' (from input), got 'bf16'}}
  %y = attn.feature_map %x feature(#attn.elu1) projection(%w : tensor<8x8xbf16>)
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_f1_projection_f16(%x: tensor<1x2x?x8xbf16>,
                                         %w: tensor<8x8xf16>) {
  // expected-error @below {{'attn.feature_map' op projection: expected element type 'f32' or 'bf16' (from input), got 'f16'}}
  %y = attn.feature_map %x feature(#attn.elu1) projection(%w : tensor<8x8xf16>)
      : tensor<1x2x?x8xbf16> -> tensor<1x2x?x8xbf16>
  return
}

// -----

func.func @feature_map_f2_neither(%x: tensor<1x2x?x8xf32>) {
  // expected-error @below {{'attn.feature_map' op expected either a feature or a map region}}
  %y = attn.feature_map %x
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_f2_both(%x: tensor<1x2x?x8xf32>) {
  // expected-error @below {{'attn.feature_map' op expected either a feature or a map region}}
  %y = attn.feature_map %x feature(#attn.elu1) map {
  ^bb0(%e: f32):
    attn.yield %e : f32
  }
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_f2_mask(%x: tensor<1x2x?x8xf32>) {
  // expected-error @below {{custom op 'attn.feature_map' invalid kind of attribute specified}}
  %y = attn.feature_map %x feature(#attn.causal)
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_f2_arguments(%x: tensor<1x2x?x8xf32>) {
  // expected-error @below {{'attn.feature_map' op map region: expected arguments ('f32'), got ('f32', 'index')}}
  %y = attn.feature_map %x map {
  ^bb0(%e: f32, %i: index):
    attn.yield %e : f32
  }
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_f2_type(%x: tensor<1x2x?x8xf32>) {
  // expected-error @below {{'attn.feature_map' op map region: expected arguments ('f32'), got ('f64')}}
  %y = attn.feature_map %x map {
  ^bb0(%e: f64):
    attn.yield %e : f64
  }
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_f3_none(%x: tensor<1x2x?x8xf32>) {
  // expected-error @below {{'attn.feature_map' op projection: expected one beside #attn.positive}}
  %y = attn.feature_map %x feature(#attn.positive)
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_f3_hyperbolic(%x: tensor<1x2x?x8xf32>) {
  // expected-error @below {{'attn.feature_map' op projection: expected one beside #attn.hyperbolic}}
  %y = attn.feature_map %x feature(#attn.hyperbolic)
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_f3_trigonometric(%x: tensor<1x2x?x8xf32>) {
  // expected-error @below {{'attn.feature_map' op projection: expected one beside #attn.trigonometric}}
  %y = attn.feature_map %x feature(#attn.trigonometric)
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_f3_columns(%x: tensor<1x2x?x8xf32>,
                                  %w: tensor<32x7xf32>) {
  // expected-error @below {{'attn.feature_map' op projection: expected head dim 8 (from input), got 7}}
  %y = attn.feature_map %x feature(#attn.positive) projection(%w : tensor<32x7xf32>)
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x32xf32>
  return
}

// -----

func.func @feature_map_f4(%x: tensor<1x2x?x8xf32>, %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.feature_map' op log: expected features that are exponentials}}
  %y = attn.feature_map %x feature(#attn.trigonometric) projection(%w : tensor<32x8xf32>) log
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x64xf32>
  return
}

// -----

func.func @feature_map_f4_region(%x: tensor<1x2x?x8xf32>) {
  // expected-error @below {{'attn.feature_map' op log: expected features that are exponentials}}
  %y = attn.feature_map %x log map {
  ^bb0(%e: f32):
    attn.yield %e : f32
  }
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_f5_count(%x: tensor<1x2x?x8xf32>) {
  // expected-error @below {{'attn.feature_map' op result: expected 'tensor<1x2x?x16xf32>', got 'tensor<1x2x?x8xf32>'}}
  %y = attn.feature_map %x feature(#attn.hedgehog)
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_f5_projection(%x: tensor<1x2x?x8xf32>,
                                     %w: tensor<32x8xf32>) {
  // expected-error @below {{'attn.feature_map' op result: expected 'tensor<1x2x?x32xf32>', got 'tensor<1x2x?x8xf32>'}}
  %y = attn.feature_map %x feature(#attn.positive) projection(%w : tensor<32x8xf32>)
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_f5_taylor(%x: tensor<1x2x?x8xf32>) {
  // expected-error @below {{'attn.feature_map' op result: expected 'tensor<1x2x?x45xf32>', got 'tensor<1x2x?x44xf32>'}}
  %y = attn.feature_map %x feature(#attn.taylor2)
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x44xf32>
  return
}

// -----

func.func @feature_map_f5_rows(%x: tensor<1x2x?x8xf32>) {
  // expected-error @below {{'attn.feature_map' op result: expected 'tensor<1x2x?x8xf32>', got 'tensor<1x2x5x8xf32>'}}
  %y = attn.feature_map %x feature(#attn.elu1)
      : tensor<1x2x?x8xf32> -> tensor<1x2x5x8xf32>
  return
}

// -----

func.func @feature_map_f6(%x: tensor<1x2x?x?xf32>) {
  // expected-error @below {{'attn.feature_map' op input: expected a static number of entries, which #attn.taylor2 changes}}
  %y = attn.feature_map %x feature(#attn.taylor2)
      : tensor<1x2x?x?xf32> -> tensor<1x2x?x?xf32>
  return
}

// -----

func.func @feature_map_f6_projection(%x: tensor<1x2x?x8xf32>,
                                     %w: tensor<?x8xf32>) {
  // expected-error @below {{'attn.feature_map' op input: expected a static number of entries, which #attn.hyperbolic changes}}
  %y = attn.feature_map %x feature(#attn.hyperbolic) projection(%w : tensor<?x8xf32>)
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x?xf32>
  return
}

// -----

func.func @feature_map_f7(%x: tensor<1x2x?x8xf32>) {
  // expected-error @below {{'attn.feature_map' op scale: expected a number that is finite in f32, got nan}}
  %y = attn.feature_map %x feature(#attn.elu1) scale(0x7FF8000000000000)
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_f7_f32(%x: tensor<1x2x?x8xf32>) {
  // expected-error @below {{'attn.feature_map' op scale: expected a number that is finite in f32, got -1.000000e+39}}
  %y = attn.feature_map %x feature(#attn.elu1) scale(-1.0e+39)
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_f8_batch(%x: tensor<1x2x?x8xf32>, %n: tensor<2xi64>) {
  // expected-error @below {{'attn.feature_map' op lengths: expected batch 1 (from input), got 2}}
  %y = attn.feature_map %x feature(#attn.softmax_positions) lengths(%n : tensor<2xi64>)
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_f8_map(%x: tensor<1x2x?x8xf32>, %n: tensor<1xi64>) {
  // expected-error @below {{'attn.feature_map' op lengths: expected a feature that mixes positions}}
  %y = attn.feature_map %x feature(#attn.elu1) lengths(%n : tensor<1xi64>)
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @feature_map_eps(%x: tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32> {
  // expected-error @below {{'attn.feature_map' op eps: expected a number >= 0 that is finite in 'f32', got 1.000000e+39}}
  %o = attn.feature_map %x feature(#attn.relu<eps = 1.0e39>) : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// -----

func.func @feature_map_f6_features(%x: tensor<1x2x?x65537xf32>) -> tensor<1x2x?x?xf32> {
  // expected-error @below {{'attn.feature_map' op input: expected a number of entries of at most 65536 for #attn.taylor2, got 65537}}
  %f = attn.feature_map %x feature(#attn.taylor2) : tensor<1x2x?x65537xf32> -> tensor<1x2x?x?xf32>
  return %f : tensor<1x2x?x?xf32>
}

// -----

func.func @feature_map_f9_other(%x: tensor<1x2x?x8xf32>, %m: index) -> tensor<1x2x?x8xf32> {
  // expected-error @below {{'attn.feature_map' op length: expected #attn.cosformer without one beside it}}
  %f = attn.feature_map %x feature(#attn.elu1) length(%m : index) : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return %f : tensor<1x2x?x8xf32>
}

// -----

func.func @feature_map_f9_twice(%x: tensor<1x2x?x8xf32>, %m: index) -> tensor<1x2x?x16xf32> {
  // expected-error @below {{'attn.feature_map' op length: expected #attn.cosformer without one beside it}}
  %f = attn.feature_map %x feature(#attn.cosformer<length = 9>) length(%m : index) : tensor<1x2x?x8xf32> -> tensor<1x2x?x16xf32>
  return %f : tensor<1x2x?x16xf32>
}
