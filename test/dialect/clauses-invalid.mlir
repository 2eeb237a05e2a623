// RUN: attn-opt %s --split-input-file --verify-diagnostics

func.func @c22_prefix_batch(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %n: tensor<3xi64>) {
  // expected-error @below {{'attn.gqa' op prefix: expected batch 2 (from query), got 3}}
  %o = attn.gqa %q, %k, %k align(top_left) mask(#attn.prefix)
      prefix(%n : tensor<3xi64>)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @c23_mask_without_prefix(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %n: index) {
  // expected-error @below {{'attn.gqa' op prefix: expected one with a mask that reads it, got none}}
  %o = attn.gqa %q, %k, %k align(top_left) mask(#attn.prefix)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @c23_prefix_without_mask(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %n: index) {
  // expected-error @below {{'attn.gqa' op prefix: expected none without a mask that reads it, such as #attn.prefix}}
  %o = attn.gqa %q, %k, %k align(top_left) mask(#attn.causal)
      prefix(%n : index)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @c24_alibi_heads(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %s: tensor<2xf32>) {
  // expected-error @below {{'attn.gqa' op alibi: expected heads 4 (from query), got 2}}
  %o = attn.gqa %q, %k, %k align(top_left) alibi(%s : tensor<2xf32>)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @c15_alibi_without_positions(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %s: tensor<4xf32>) {
  // expected-error @below {{'attn.gqa' op expected align or offset, as a mask or region depends on the position of queries}}
  %o = attn.gqa %q, %k, %k alibi(%s : tensor<4xf32>)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @c1_alibi_type(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %s: tensor<4xf64>) {
  // expected-error @below {{'attn.gqa' op alibi: expected element type f32 or 'bf16' (from query), got 'f64'}}
  %o = attn.gqa %q, %k, %k align(top_left) alibi(%s : tensor<4xf64>)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @c25_bias_batch(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %b: tensor<3x1x1x7xf32>) {
  // expected-error @below {{'attn.gqa' op bias: expected 1 or batch 2 (from query), got 3}}
  %o = attn.gqa %q, %k, %k bias(%b : tensor<3x1x1x7xf32>)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @c25_bias_is_right_aligned(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %b: tensor<2x5x7xf32>) {
  // expected-error @below {{'attn.gqa' op bias: expected 1 or heads 4 (from query), got 2}}
  %o = attn.gqa %q, %k, %k bias(%b : tensor<2x5x7xf32>)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @c25_bias_rows(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %b: tensor<4x7xf32>) {
  // expected-error @below {{'attn.gqa' op bias: expected 1 or rows 5 (from query), got 4}}
  %o = attn.gqa %q, %k, %k bias(%b : tensor<4x7xf32>)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @c25_bias_keys(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %b: tensor<0xf32>) {
  // expected-error @below {{'attn.gqa' op bias: expected 1 or keys 7 (from key), got 0}}
  %o = attn.gqa %q, %k, %k bias(%b : tensor<0xf32>)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @c1_bias_type(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %b: tensor<7xf16>) {
  // expected-error @below {{'attn.gqa' op bias: expected element type f32 or 'bf16' (from query), got 'f16'}}
  %o = attn.gqa %q, %k, %k bias(%b : tensor<7xf16>)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @bias_rank(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %b: tensor<1x1x1x1x7xf32>) {
  // expected-error @below {{'attn.gqa' op operand #3 must be tensor of rank 1 to 4 of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<1x1x1x1x7xf32>'}}
  %o = attn.gqa %q, %k, %k bias(%b : tensor<1x1x1x1x7xf32>)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @c26_select_keys(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %m: tensor<5x6xi1>) {
  // expected-error @below {{'attn.gqa' op select: expected 1 or keys 7 (from key), got 6}}
  %o = attn.gqa %q, %k, %k select(%m : tensor<5x6xi1>)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @select_type(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %m: tensor<7xf32>) {
  // expected-error @below {{'attn.gqa' op operand #3 must be tensor of rank 1 to 4 of 1-bit signless integer or 8-bit signless integer values, but got 'tensor<7xf32>'}}
  %o = attn.gqa %q, %k, %k select(%m : tensor<7xf32>)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @c27_sinks_heads(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %s: tensor<2xf32>) {
  // expected-error @below {{'attn.gqa' op sinks: expected heads 4 (from query), got 2}}
  %o = attn.gqa %q, %k, %k sinks(%s : tensor<2xf32>)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @c1_sinks_type(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %s: tensor<4xf16>) {
  // expected-error @below {{'attn.gqa' op sinks: expected element type f32 or 'bf16' (from query), got 'f16'}}
  %o = attn.gqa %q, %k, %k sinks(%s : tensor<4xf16>)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @scale_type(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>,
    %s: f64) {
  // expected-error @below {{'attn.gqa' op operand #3 must be 32-bit float, but got 'f64'}}
  %o = attn.gqa %q, %k, %k scale(%s : f64)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @c28_query_starts_alone(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x7x8xf32>,
    %s: tensor<3xi32>) {
  // expected-error @below {{'attn.gqa' op key_starts: expected one beside query_starts, got none}}
  %o = attn.gqa %q, %k, %k query_starts(%s : tensor<3xi32>)
      : (tensor<1x4x5x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>)
      -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @c28_key_starts_alone(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x7x8xf32>,
    %s: tensor<3xi32>) {
  // expected-error @below {{'attn.gqa' op query_starts: expected one beside key_starts, got none}}
  %o = attn.gqa %q, %k, %k key_starts(%s : tensor<3xi32>)
      : (tensor<1x4x5x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>)
      -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @c28_bias(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x7x8xf32>,
    %s: tensor<3xi32>, %b: tensor<7xf32>) {
  // expected-error @below {{'attn.gqa' op bias: expected none beside query_starts}}
  %o = attn.gqa %q, %k, %k bias(%b : tensor<7xf32>)
      query_starts(%s : tensor<3xi32>) key_starts(%s : tensor<3xi32>)
      : (tensor<1x4x5x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>)
      -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @c28_select(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x7x8xf32>,
    %s: tensor<3xi32>, %m: tensor<7xi1>) {
  // expected-error @below {{'attn.gqa' op select: expected none beside query_starts}}
  %o = attn.gqa %q, %k, %k select(%m : tensor<7xi1>)
      query_starts(%s : tensor<3xi32>) key_starts(%s : tensor<3xi32>)
      : (tensor<1x4x5x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>)
      -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @c29_batch(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>,
    %s: tensor<3xi32>) {
  // expected-error @below {{'attn.gqa' op query: expected batch 1 (with query_starts), got 2}}
  %o = attn.gqa %q, %k, %k query_starts(%s : tensor<3xi32>) key_starts(%s : tensor<3xi32>)
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x8xf32>)
      -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @c30_starts(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x7x8xf32>,
    %s: tensor<3xi32>, %t: tensor<4xi32>) {
  // expected-error @below {{'attn.gqa' op key_starts: expected entries 3 (from query_starts), got 4}}
  %o = attn.gqa %q, %k, %k query_starts(%s : tensor<3xi32>) key_starts(%t : tensor<4xi32>)
      : (tensor<1x4x5x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>)
      -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @c30_no_entry(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x7x8xf32>,
    %s: tensor<0xi32>) {
  // expected-error @below {{'attn.gqa' op query_starts: expected entries of at least 1, got 0}}
  %o = attn.gqa %q, %k, %k query_starts(%s : tensor<0xi32>) key_starts(%s : tensor<0xi32>)
      : (tensor<1x4x5x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>)
      -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @c11_offset_per_sequence(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x7x8xf32>,
    %s: tensor<3xi32>, %p: tensor<3xi64>) {
  // expected-error @below {{'attn.gqa' op offset: expected entries to be one fewer than 3 (from query_starts), got 3}}
  %o = attn.gqa %q, %k, %k offset(%p : tensor<3xi64>)
      query_starts(%s : tensor<3xi32>) key_starts(%s : tensor<3xi32>)
      : (tensor<1x4x5x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>)
      -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @c12_lengths_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %n: f32) {
  // expected-error @below {{'attn.gqa' op operand #3 must be index or 1-D tensor (batch) of i32 or i64, but got 'f32'}}
  %o = attn.gqa %q, %k, %k lengths(%n : f32)
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x8xf32>)
      -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @c31_last_without_number(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>) {
  // expected-error @below {{'attn.gqa' op random_blocks: expected one with a mask that counts from the last block and does not say how many blocks there are, got none}}
  %o = attn.gqa %q, %k, %k align(top_left)
      mask(#attn.bigbird<block = 2, window = 0, global = 0, last = 1>)
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x8xf32>)
      -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @c31_no_mask(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %t: tensor<4x3x2xi32>) {
  // expected-error @below {{'attn.gqa' op random_blocks: expected none without a mask that reads it, such as #attn.bigbird without random and blocks}}
  %o = attn.gqa %q, %k, %k align(top_left) mask(#attn.causal)
      random_blocks(%t : tensor<4x3x2xi32>)
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x8xf32>)
      -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @c31_drawn_blocks(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %t: tensor<4x3x2xi32>) {
  // expected-error @below {{'attn.gqa' op random_blocks: expected none without a mask that reads it, such as #attn.bigbird without random and blocks}}
  %o = attn.gqa %q, %k, %k align(top_left)
      mask(#attn.bigbird<block = 2, window = 0, global = 0, random = 1, blocks = 3>)
      random_blocks(%t : tensor<4x3x2xi32>)
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x8xf32>)
      -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @c32_heads(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %t: tensor<2x3x2xi32>) {
  // expected-error @below {{'attn.gqa' op random_blocks: expected 1 or heads 4 (from query), got 2}}
  %o = attn.gqa %q, %k, %k align(top_left)
      mask(#attn.bigbird<block = 2, window = 0, global = 0>)
      random_blocks(%t : tensor<2x3x2xi32>)
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x8xf32>)
      -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @c32_blocks(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %t: tensor<4x0x2xi32>) {
  // expected-error @below {{'attn.gqa' op random_blocks: expected blocks of at least 1, got 0}}
  %o = attn.gqa %q, %k, %k align(top_left)
      mask(#attn.bigbird<block = 2, window = 0, global = 0>)
      random_blocks(%t : tensor<4x0x2xi32>)
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x8xf32>)
      -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @c32_dynamic_number(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %t: tensor<4x3x?xi32>) {
  // expected-error @below {{'attn.gqa' op random_blocks: expected a static number of at most 64 random blocks, got 'tensor<4x3x?xi32>'}}
  %o = attn.gqa %q, %k, %k align(top_left)
      mask(#attn.bigbird<block = 2, window = 0, global = 0>)
      random_blocks(%t : tensor<4x3x?xi32>)
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x8xf32>)
      -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @random_blocks_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %t: tensor<4x3x2xf32>) {
  // expected-error @below {{'attn.gqa' op operand #3 must be 3-D tensor (query heads x blocks x random blocks) of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<4x3x2xf32>'}}
  %o = attn.gqa %q, %k, %k align(top_left)
      mask(#attn.bigbird<block = 2, window = 0, global = 0>)
      random_blocks(%t : tensor<4x3x2xf32>)
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x8xf32>)
      -> tensor<2x4x5x8xf32>
  return
}
