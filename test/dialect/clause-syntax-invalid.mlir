// RUN: attn-opt %s --split-input-file --verify-diagnostics

func.func @softmax_unknown(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.softmax' unknown clause 'scal', expected one of scale, softcap, align, offset, mask, prefix, random_blocks, alibi, bias, select, lengths, key_offset, sinks, query_starts, key_starts, score, keep}}
  %o = attn.softmax %q, %q, %q scal(0.5)
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @softmax_lacks(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.softmax' has no clause 'causal', which is one of attn.linear and attn.favor, expected one of scale, softcap, align, offset, mask, prefix, random_blocks, alibi, bias, select, lengths, key_offset, sinks, query_starts, key_starts, score, keep}}
  %o = attn.softmax %q, %q, %q scale(0.5) causal
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @softmax_twice(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.softmax' clause 'scale' given twice}}
  %o = attn.softmax %q, %q, %q scale(0.5) softcap(2.0) scale(0.5)
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @softmax_number_and_value(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.softmax' clause 'scale' given twice}}
  %o = attn.softmax %q, %q, %q scale(%x : f32) scale(0.5)
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @softmax_clause_and_attribute(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.softmax' clause 'scale' given twice}}
  %o = attn.softmax %q, %q, %q scale(0.5) {scale = 0.25}
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @softmax_value_and_attribute(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.softmax' clause 'scale' given twice}}
  %o = attn.softmax %q, %q, %q scale(%x : f32) {scale = 0.25}
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @softmax_region_twice(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.softmax' clause 'keep' given twice}}
  %o = attn.softmax %q, %q, %q keep {} score {} keep {}
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @softmax_segments(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.softmax' expected no attribute 'operandSegmentSizes', which follows from the clauses}}
  %o = attn.softmax %q, %q, %q {operandSegmentSizes = array<i32: 1, 1, 1>}
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @softmax_attribute_type(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.softmax' attribute 'scale' failed to satisfy constraint: 64-bit float attribute}}
  %o = attn.softmax %q, %q, %q {scale = 1 : i32}
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @softmax_behind_the_types(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{expected ','}}
  %o = attn.softmax %q, %q, %q scale(0.5) : (f32)
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @softmax_no_body(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{expected '('}}
  %o = attn.softmax %q, %q, %q scale 0.5
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @gqa_unknown(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.gqa' unknown clause 'sink', expected one of scale, softcap, align, offset, mask, prefix, random_blocks, alibi, bias, select, lengths, key_offset, sinks, query_starts, key_starts, score, keep}}
  %o = attn.gqa %q, %q, %q sink(%x : f32)
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @gqa_lacks(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.gqa' has no clause 'feature', which is one of attn.linear and attn.feature_map, expected one of scale, softcap, align, offset, mask, prefix, random_blocks, alibi, bias, select, lengths, key_offset, sinks, query_starts, key_starts, score, keep}}
  %o = attn.gqa %q, %q, %q feature(#attn.elu1)
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @linear_unknown(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.linear' unknown clause 'causall', expected one of scale, decay, beta, transition, bonus, state, lengths, query_starts, key_starts, feature, normalize, block, causal}}
  %o = attn.linear %q, %q, %q causall
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @linear_lacks(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.linear' has no clause 'mask', which is one of attn.softmax and attn.gqa, expected one of scale, decay, beta, transition, bonus, state, lengths, query_starts, key_starts, feature, normalize, block, causal}}
  %o = attn.linear %q, %q, %q causal mask(#attn.causal)
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @linear_twice(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.linear' clause 'causal' given twice}}
  %o = attn.linear %q, %q, %q causal block(2) causal
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @linear_flag_and_attribute(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.linear' clause 'causal' given twice}}
  %o = attn.linear %q, %q, %q causal {causal}
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @linear_one_transition(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{expected ','}}
  %o = attn.linear %q, %q, %q transition(%q : tensor<1x1x2x3xf32>) causal
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @feature_map_unknown(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.feature_map' unknown clause 'features', expected one of feature, projection, scale, offset, length, lengths, log, map}}
  %o = attn.feature_map %q features(#attn.elu1)
      : tensor<1x1x2x3xf32> -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @feature_map_lacks(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.feature_map' has no clause 'causal', which is one of attn.linear and attn.favor, expected one of feature, projection, scale, offset, length, lengths, log, map}}
  %o = attn.feature_map %q feature(#attn.elu1) causal
      : tensor<1x1x2x3xf32> -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @feature_map_twice(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.feature_map' clause 'feature' given twice}}
  %o = attn.feature_map %q feature(#attn.elu1) feature(#attn.elu1)
      : tensor<1x1x2x3xf32> -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @feature_map_kind(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.feature_map' invalid kind of attribute specified}}
  %o = attn.feature_map %q feature(3 : i64)
      : tensor<1x1x2x3xf32> -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @random_features_unknown(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.random_features' unknown clause 'seeds', expected one of seed, orthogonal, norms}}
  %o = attn.random_features seeds(3)
      : tensor<2x3xf32>
  return
}

// -----

func.func @random_features_lacks(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.random_features' has no clause 'kind', which is one of attn.favor, expected one of seed, orthogonal, norms}}
  %o = attn.random_features seed(3) kind(relu)
      : tensor<2x3xf32>
  return
}

// -----

func.func @random_features_twice(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.random_features' clause 'seed' given twice}}
  %o = attn.random_features seed(3) seed(3)
      : tensor<2x3xf32>
  return
}

// -----

func.func @random_features_without(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.random_features' expected clause 'seed'}}
  %o = attn.random_features orthogonal
      : tensor<2x3xf32>
  return
}

// -----

func.func @random_features_wide(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{integer constant out of range for attribute}}
  %o = attn.random_features seed(18446744073709551616)
      : tensor<2x3xf32>
  return
}

// -----

func.func @favor_unknown(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.favor' unknown clause 'kinds', expected one of kind, scale, eps, lengths, causal}}
  %o = attn.favor %q, %q, %q, %w kinds(relu)
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>,
         tensor<2x3xf32>) -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @favor_lacks(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.favor' has no clause 'normalize', which is one of attn.linear, expected one of kind, scale, eps, lengths, causal}}
  %o = attn.favor %q, %q, %q, %w kind(relu) normalize(token)
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>,
         tensor<2x3xf32>) -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @favor_twice(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.favor' clause 'kind' given twice}}
  %o = attn.favor %q, %q, %q, %w kind(relu) causal kind(relu)
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>,
         tensor<2x3xf32>) -> tensor<1x1x2x3xf32>
  return
}

// -----

func.func @favor_without(%q: tensor<1x1x2x3xf32>, %w: tensor<2x3xf32>, %x: f32) {
  // expected-error @below {{custom op 'attn.favor' expected clause 'kind'}}
  %o = attn.favor %q, %q, %q, %w causal
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>,
         tensor<2x3xf32>) -> tensor<1x1x2x3xf32>
  return
}
