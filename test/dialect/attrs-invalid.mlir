// RUN: attn-opt %s --split-input-file --verify-diagnostics

func.func @window_negative_bound(%q: tensor<1x1x4x8xf32>) {
  %o = attn.softmax %q, %q, %q align(top_left)
      // expected-error @below {{window left: expected a bound >= 0, got -1}}
      mask(#attn.window<left = -1, right = 0>)
      : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      -> tensor<1x1x4x8xf32>
  return
}

// -----

func.func @window_negative_right_bound(%q: tensor<1x1x4x8xf32>) {
  %o = attn.softmax %q, %q, %q align(top_left)
      // expected-error @below {{window right: expected a bound >= 0, got -3}}
      mask(#attn.window<right = -3>)
      : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      -> tensor<1x1x4x8xf32>
  return
}

// -----

func.func @window_unknown_bound(%q: tensor<1x1x4x8xf32>) {
  %o = attn.softmax %q, %q, %q align(top_left)
      // expected-error @below {{window: expected 'left' or 'right', got 'size'}}
      mask(#attn.window<size = 4>)
      : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      -> tensor<1x1x4x8xf32>
  return
}

// -----

func.func @window_bound_given_twice(%q: tensor<1x1x4x8xf32>) {
  %o = attn.softmax %q, %q, %q align(top_left)
      // expected-error @below {{window: 'left' given twice}}
      mask(#attn.window<left = 4, left = 5>)
      : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      -> tensor<1x1x4x8xf32>
  return
}

// -----

func.func @unknown_mask(%q: tensor<1x1x4x8xf32>) {
  %o = attn.softmax %q, %q, %q align(top_left)
      // expected-error @below {{unknown attribute `diagonal` in dialect `attn`}}
      mask(#attn.diagonal)
      : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      -> tensor<1x1x4x8xf32>
  return
}

// -----

func.func @unknown_alignment(%q: tensor<1x1x4x8xf32>) {
  // expected-error @below {{expected top_left or bottom_right, got top_right}}
  %o = attn.softmax %q, %q, %q align(top_right)
      : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      -> tensor<1x1x4x8xf32>
  return
}

// -----

func.func @bigbird_block(%q: tensor<1x1x4x8xf32>) {
  %o = attn.softmax %q, %q, %q align(top_left)
      // expected-error @below {{bigbird block: expected 1 to 2147483647, got 0}}
      mask(#attn.bigbird<block = 0, window = 1, global = 1, random = 0, blocks = 0, seed = 7>)
      : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      -> tensor<1x1x4x8xf32>
  return
}

// -----

func.func @bigbird_blocks(%q: tensor<1x1x4x8xf32>) {
  %o = attn.softmax %q, %q, %q align(top_left)
      // expected-error @below {{bigbird blocks: expected 1 to 65536, got 0}}
      mask(#attn.bigbird<block = 4, window = 1, global = 1, random = 2, blocks = 0, seed = 7>)
      : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      -> tensor<1x1x4x8xf32>
  return
}

// -----

func.func @bigbird_seed(%q: tensor<1x1x4x8xf32>) {
  %o = attn.softmax %q, %q, %q align(top_left)
      // expected-error @below {{bigbird seed: expected 0 to 4294967295, got -1}}
      mask(#attn.bigbird<block = 4, window = 1, global = 1, random = 2, blocks = 8, seed = -1>)
      : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      -> tensor<1x1x4x8xf32>
  return
}

// -----

func.func @bigbird_random(%q: tensor<1x1x4x8xf32>) {
  %o = attn.softmax %q, %q, %q align(top_left)
      // expected-error @below {{bigbird random: expected 0 to 64, got 65}}
      mask(#attn.bigbird<block = 4, window = 1, global = 1, random = 65, blocks = 8, seed = 7>)
      : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32>
  return
}
