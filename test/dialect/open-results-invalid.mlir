// RUN: attn-opt %s --split-input-file --verify-diagnostics

// A result may say ? for a size that is known, and no other number, nor a
// number for a size that is not.

func.func @c9_contradicts(%q: tensor<2x4x5x8xf32>) {
  // expected-error @below {{'attn.softmax' op output: expected 'tensor<2x4x5x8xf32>', got 'tensor<?x4x6x8xf32>'}}
  %o = attn.softmax %q, %q, %q
      : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>)
      -> tensor<?x4x6x8xf32>
  return
}

// -----

func.func @c9_promises(%q: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.gqa' op output: expected 'tensor<2x4x?x8xf32>', got 'tensor<2x4x5x8xf32>'}}
  %o = attn.gqa %q, %q, %q
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @c10_contradicts(%q: tensor<2x4x5x8xf32>) {
  // expected-error @below {{'attn.softmax' op lse: expected 'tensor<2x4x5xf32>', got 'tensor<?x?x4xf32>'}}
  %o, %lse = attn.softmax %q, %q, %q
      : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>)
      -> (tensor<?x?x?x?xf32>, tensor<?x?x4xf32>)
  return
}

// -----

func.func @l13_contradicts(%q: tensor<2x4x5x8xf32>) {
  // expected-error @below {{'attn.linear' op final_state: expected 'tensor<2x4x8x9xf32>', got 'tensor<2x4x?x8xf32>'}}
  %o, %s = attn.linear %q, %q, %q normalize(token)
      : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>)
      -> (tensor<2x4x5x8xf32>, tensor<2x4x?x8xf32>)
  return
}

// -----

func.func @f5_contradicts(%x: tensor<2x4x5x8xf32>) {
  // expected-error @below {{'attn.feature_map' op result: expected 'tensor<2x4x5x45xf32>', got 'tensor<2x4x5x8xf32>'}}
  %f = attn.feature_map %x feature(#attn.taylor2)
      : tensor<2x4x5x8xf32> -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @v7_contradicts(%q: tensor<2x4x5x8xf32>, %w: tensor<3x8xf32>) {
  // expected-error @below {{'attn.favor' op output: expected 'tensor<2x4x5x8xf32>', got 'tensor<?x4x5x3xf32>'}}
  %o = attn.favor %q, %q, %q, %w kind(relu)
      : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>,
         tensor<3x8xf32>) -> tensor<?x4x5x3xf32>
  return
}

// -----

func.func @merge_contradicts(%o: tensor<2x4x5x8xf32>, %l: tensor<2x4x5xf32>) {
  // expected-error @below {{'attn.merge' op lse: expected 'tensor<2x4x5xf32>', got 'tensor<3x4x5xf32>'}}
  %r, %s = attn.merge %o, %l, %o, %l
      : (tensor<2x4x5x8xf32>, tensor<2x4x5xf32>, tensor<2x4x5x8xf32>,
         tensor<2x4x5xf32>) -> (tensor<?x4x5x8xf32>, tensor<3x4x5xf32>)
  return
}
