// RUN: attn-opt %s --split-input-file --verify-diagnostics

// An attribute that no op has would have no effect.

func.func @linear(%q: tensor<1x1x2x3xf32>) {
  // expected-error @below {{'attn.linear' op expected an attribute of the op or one with the prefix of a dialect, got 'cuasal'}}
  %o = attn.linear %q, %q, %q {cuasal}
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @linear_dropout(%q: tensor<1x1x2x3xf32>) {
  // expected-error @below {{'attn.linear' op dropout: expected none or 0.0, as attention is not trained here, got 1.000000e-01 : f64}}
  %o = attn.linear %q, %q, %q {dropout = 0.1}
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @feature_map(%q: tensor<1x1x2x3xf32>) {
  // expected-error @below {{'attn.feature_map' op expected an attribute of the op or one with the prefix of a dialect, got 'eps'}}
  %o = attn.feature_map %q feature(#attn.relu) {eps = 0.5}
      : tensor<1x1x2x3xf32> -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @random_features() {
  // expected-error @below {{'attn.random_features' op expected an attribute of the op or one with the prefix of a dialect, got 'norm'}}
  %w = attn.random_features seed(1) {norm = "chi"} : tensor<2x3xf32>
  return
}

// -----

func.func @favor(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>) {
  // expected-error @below {{'attn.favor' op expected an attribute of the op or one with the prefix of a dialect, got 'epsilon'}}
  %o = attn.favor %q, %q, %q, %w kind(relu) {epsilon = 0.1}
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>,
         tensor<2x3xf32>) -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @merge(%o: tensor<1x1x2x3xf32>, %l: tensor<1x1x2xf32>) {
  // expected-error @below {{'attn.merge' op expected an attribute of the op or one with the prefix of a dialect, got 'axis'}}
  %r, %s = attn.merge %o, %l, %o, %l {axis = 2}
      : (tensor<1x1x2x3xf32>, tensor<1x1x2xf32>, tensor<1x1x2x3xf32>,
         tensor<1x1x2xf32>) -> (tensor<1x1x2x3xf32>, tensor<1x1x2xf32>)
  return
}

// -----

func.func @number_and_value(%q: tensor<1x1x2x3xf32>, %s: f32) {
  // expected-error @below {{'attn.softmax' op scale: expected a number or a value, got both}}
  %o = "attn.softmax"(%q, %q, %q, %s) <{scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({}, {})
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, f32)
      -> tensor<1x1x2x3xf32>
  return
}
