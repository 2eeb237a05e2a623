// RUN: attn-opt %s --split-input-file --verify-diagnostics

// Each function breaks one numbered constraint of `attn.linear` and is named after
// it.

func.func @linear_l1_query(%q: tensor<2x4x?x8xf16>, %k: tensor<2x4x?x8xf16>,
                           %v: tensor<2x4x?x8xbf16>) {
  // expected-error @below {{'attn.linear' op query: expected element type 'bf16' or 'f32' (from value), got 'f16'}}
  %o = attn.linear %q, %k, %v
      : (tensor<2x4x?x8xf16>, tensor<2x4x?x8xf16>, tensor<2x4x?x8xbf16>) -> tensor<2x4x?x8xbf16>
  return
}

// -----

func.func @linear_l1_key(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xbf16>,
                         %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op key: expected element type 'f32' (from query), got 'bf16'}}
  %o = attn.linear %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xbf16>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l1_decay(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<2x4x?x8xf32>, %g: tensor<4xf64>) {
  // expected-error @below {{'attn.linear' op decay: expected element type 'f32' (from value), got 'f64'}}
  %o = attn.linear %q, %k, %v decay(%g : tensor<4xf64>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l1_decay_bf16(%q: tensor<2x4x?x8xf32>,
                                %k: tensor<2x4x?x8xf32>,
                                %v: tensor<2x4x?x8xf32>, %g: tensor<4xbf16>) {
  // expected-error @below {{'attn.linear' op operand #3 must be tensor of rank 1 (heads), 3 (batch x heads x sequence) or 4 (and head dim) of 32-bit float or 64-bit float values, but got 'tensor<4xbf16>'}}
  %o = attn.linear %q, %k, %v decay(%g : tensor<4xbf16>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l1_beta(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                          %v: tensor<2x4x?x8xf32>, %b: tensor<2x4x?xbf16>) {
  // expected-error @below {{'attn.linear' op beta: expected element type 'f32' (from value), got 'bf16'}}
  %o = attn.linear %q, %k, %v beta(%b : tensor<2x4x?xbf16>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l1_transition_a(%q: tensor<2x4x?x8xf32>,
                                  %k: tensor<2x4x?x8xf32>,
                                  %v: tensor<2x4x?x8xf32>,
                                  %a: tensor<2x4x?x8xf64>) {
  // expected-error @below {{'attn.linear' op transition a: expected element type 'f32' (from query), got 'f64'}}
  %o = attn.linear %q, %k, %v transition(%a, %k : tensor<2x4x?x8xf64>, tensor<2x4x?x8xf32>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l1_transition_b(%q: tensor<2x4x?x8xf32>,
                                  %k: tensor<2x4x?x8xf32>,
                                  %v: tensor<2x4x?x8xf32>,
                                  %a: tensor<2x4x?x8xf64>) {
  // expected-error @below {{'attn.linear' op transition b: expected element type 'f32' (from query), got 'f64'}}
  %o = attn.linear %q, %k, %v transition(%k, %a : tensor<2x4x?x8xf32>, tensor<2x4x?x8xf64>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l1_bonus(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<2x4x?x8xf32>, %u: tensor<4x8xf16>) {
  // expected-error @below {{'attn.linear' op bonus: expected element type 'f32' (from value), got 'f16'}}
  %o = attn.linear %q, %k, %v bonus(%u : tensor<4x8xf16>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l1_state(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<2x4x?x8xf32>, %s: tensor<2x4x8x8xf64>) {
  // expected-error @below {{'attn.linear' op state: expected element type 'f32' (from value), got 'f64'}}
  %o = attn.linear %q, %k, %v state(%s : tensor<2x4x8x8xf64>)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l1_state_bf16(%q: tensor<2x4x?x8xf32>,
                                %k: tensor<2x4x?x8xf32>,
                                %v: tensor<2x4x?x8xf32>,
                                %s: tensor<2x4x8x8xbf16>) {
  // expected-error @below {{'attn.linear' op operand #3 must be 4-D tensor (batch x heads x features x value dim) of 32-bit float or 64-bit float values, but got 'tensor<2x4x8x8xbf16>'}}
  %o = attn.linear %q, %k, %v state(%s : tensor<2x4x8x8xbf16>)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l2_key(%q: tensor<2x4x?x8xf32>, %k: tensor<3x4x?x8xf32>,
                         %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op key: expected batch 2 (from query), got 3}}
  %o = attn.linear %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<3x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l2_value(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<3x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op value: expected batch 2 (from query), got 3}}
  %o = attn.linear %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<3x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l3_query(%q: tensor<2x6x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op query: expected heads to be a multiple of key heads 4 (from key), got 6}}
  %o = attn.linear %q, %k, %v
      : (tensor<2x6x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x6x?x8xf32>
  return
}

// -----

func.func @linear_l3_value(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<2x6x?x8xf32>) {
  // expected-error @below {{'attn.linear' op value: expected heads to be a multiple of key heads 4 (from key), got 6}}
  %o = attn.linear %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x6x?x8xf32>) -> tensor<2x6x?x8xf32>
  return
}

// -----

func.func @linear_l3_grouped_query(%q: tensor<2x8x?x8xf32>,
                                   %k: tensor<2x4x?x8xf32>,
                                   %v: tensor<2x12x?x8xf32>) {
  // expected-error @below {{'attn.linear' op key: expected heads 8 (from query), got 4}}
  %o = attn.linear %q, %k, %v
      : (tensor<2x8x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x12x?x8xf32>) -> tensor<2x12x?x8xf32>
  return
}

// -----

func.func @linear_l4(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x16xf32>,
                     %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op key: expected head dim 8 (from query), got 16}}
  %o = attn.linear %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x16xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l5(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x5x8xf32>,
                     %v: tensor<2x4x7x8xf32>) {
  // expected-error @below {{'attn.linear' op value: expected length 5 (from key), got 7}}
  %o = attn.linear %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l6(%q: tensor<2x4x?x0xf32>, %k: tensor<2x4x?x0xf32>,
                     %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op query: expected head dim of at least 1, got 0}}
  %o = attn.linear %q, %k, %v
      : (tensor<2x4x?x0xf32>, tensor<2x4x?x0xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l7_head(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                          %v: tensor<2x4x?x8xf32>, %g: tensor<3xf32>) {
  // expected-error @below {{'attn.linear' op decay: expected heads 4 (from value), got 3}}
  %o = attn.linear %q, %k, %v decay(%g : tensor<3xf32>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l7_batch(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<2x4x?x8xf32>, %g: tensor<1x4x?xf32>) {
  // expected-error @below {{'attn.linear' op decay: expected batch 2 (from query), got 1}}
  %o = attn.linear %q, %k, %v decay(%g : tensor<1x4x?xf32>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l7_length(%q: tensor<2x4x7x8xf32>, %k: tensor<2x4x7x8xf32>,
                            %v: tensor<2x4x7x8xf32>, %g: tensor<2x4x5xf32>) {
  // expected-error @below {{'attn.linear' op decay: expected length 7 (from key), got 5}}
  %o = attn.linear %q, %k, %v decay(%g : tensor<2x4x5xf32>) causal
      : (tensor<2x4x7x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x7x8xf32>
  return
}

// -----

func.func @linear_l7_features(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                              %v: tensor<2x4x?x8xf32>,
                              %g: tensor<2x4x?x7xf32>) {
  // expected-error @below {{'attn.linear' op decay: expected features 8 (from query), got 7}}
  %o = attn.linear %q, %k, %v decay(%g : tensor<2x4x?x7xf32>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l7_mapped_features(%q: tensor<2x4x?x8xf32>,
                                     %k: tensor<2x4x?x8xf32>,
                                     %v: tensor<2x4x?x8xf32>,
                                     %g: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op decay: expected features 16 (from query), got 8}}
  %o = attn.linear %q, %k, %v decay(%g : tensor<2x4x?x8xf32>) feature(#attn.hedgehog) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l7_rank(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                          %v: tensor<2x4x?x8xf32>, %g: tensor<2x4xf32>) {
  // expected-error @below {{'attn.linear' op operand #3 must be tensor of rank 1 (heads), 3 (batch x heads x sequence) or 4 (and head dim) of 32-bit float or 64-bit float values, but got 'tensor<2x4xf32>'}}
  %o = attn.linear %q, %k, %v decay(%g : tensor<2x4xf32>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l7_value_heads(%q: tensor<2x4x?x8xf32>,
                                 %k: tensor<2x4x?x8xf32>,
                                 %v: tensor<2x8x?x8xf32>, %g: tensor<4xf32>) {
  // expected-error @below {{'attn.linear' op decay: expected heads 8 (from value), got 4}}
  %o = attn.linear %q, %k, %v decay(%g : tensor<4xf32>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x8x?x8xf32>) -> tensor<2x8x?x8xf32>
  return
}

// -----

func.func @linear_l8(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                     %v: tensor<2x4x?x8xf32>, %b: tensor<2x3x?xf32>) {
  // expected-error @below {{'attn.linear' op beta: expected heads 4 (from value), got 3}}
  %o = attn.linear %q, %k, %v beta(%b : tensor<2x3x?xf32>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l8_rank(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                          %v: tensor<2x4x?x8xf32>, %b: tensor<2x4x?x1xf32>) {
  // expected-error @below {{'attn.linear' op operand #3 must be 3-D tensor (batch x heads x sequence) of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<2x4x?x1xf32>'}}
  %o = attn.linear %q, %k, %v beta(%b : tensor<2x4x?x1xf32>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l9_a(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                       %v: tensor<2x4x?x8xf32>, %a: tensor<2x4x?x7xf32>) {
  // expected-error @below {{'attn.linear' op transition a: expected features 8 (from query), got 7}}
  %o = attn.linear %q, %k, %v transition(%a, %k : tensor<2x4x?x7xf32>, tensor<2x4x?x8xf32>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l9_b(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                       %v: tensor<2x4x?x8xf32>, %a: tensor<2x5x?x8xf32>) {
  // expected-error @below {{'attn.linear' op transition b: expected heads 4 (from value), got 5}}
  %o = attn.linear %q, %k, %v transition(%k, %a : tensor<2x4x?x8xf32>, tensor<2x5x?x8xf32>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l10(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                      %v: tensor<2x4x?x8xf32>, %u: tensor<4x7xf32>) {
  // expected-error @below {{'attn.linear' op bonus: expected features 8 (from query), got 7}}
  %o = attn.linear %q, %k, %v bonus(%u : tensor<4x7xf32>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l10_heads(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>, %u: tensor<1x8xf32>) {
  // expected-error @below {{'attn.linear' op bonus: expected heads 4 (from value), got 1}}
  %o = attn.linear %q, %k, %v bonus(%u : tensor<1x8xf32>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l11_features(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                               %v: tensor<2x4x?x8xf32>,
                               %s: tensor<2x4x7x8xf32>) {
  // expected-error @below {{'attn.linear' op state: expected features 8 (from query), got 7}}
  %o = attn.linear %q, %k, %v state(%s : tensor<2x4x7x8xf32>)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l11_columns(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                              %v: tensor<2x4x?x8xf32>,
                              %s: tensor<2x4x8x9xf32>) {
  // expected-error @below {{'attn.linear' op state: expected columns 8 (from value), got 9}}
  %o = attn.linear %q, %k, %v state(%s : tensor<2x4x8x9xf32>)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l11_ones(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<2x4x?x8xf32>, %s: tensor<2x4x8x8xf32>) {
  // expected-error @below {{'attn.linear' op value: expected head dim to be one fewer than the columns 8 (from state), got 8}}
  %o = attn.linear %q, %k, %v state(%s : tensor<2x4x8x8xf32>) normalize(token)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l12(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                      %v: tensor<2x4x?x8xf32>, %n: tensor<3xi64>) {
  // expected-error @below {{'attn.linear' op lengths: expected batch 2 (from query), got 3}}
  %o = attn.linear %q, %k, %v lengths(%n : tensor<3xi64>)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l12_type(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<2x4x?x8xf32>, %n: tensor<2xf32>) {
  // expected-error @below {{'attn.linear' op operand #3 must be index or 1-D tensor (batch) of i32 or i64, but got 'tensor<2xf32>'}}
  %o = attn.linear %q, %k, %v lengths(%n : tensor<2xf32>)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l13_output(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                             %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op output: expected 'tensor<2x4x?x8xf32>', got 'tensor<2x4x?x16xf32>'}}
  %o = attn.linear %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x16xf32>
  return
}

// -----

func.func @linear_l13_heads(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x8x?x8xf32>) {
  // expected-error @below {{'attn.linear' op output: expected 'tensor<2x8x?x8xf32>', got 'tensor<2x4x?x8xf32>'}}
  %o = attn.linear %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x8x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l13_type(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op output: expected 'tensor<2x4x?x8xf32>', got 'tensor<2x4x?x8xbf16>'}}
  %o = attn.linear %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xbf16>
  return
}

// -----

func.func @linear_l13_state(%q: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op final_state: expected 'tensor<2x4x8x9xf32>', got 'tensor<2x4x8x8xf32>'}}
  %o:2 = attn.linear %q, %q, %q normalize(token)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> (tensor<2x4x?x8xf32>, tensor<2x4x8x8xf32>)
  return
}

// -----

func.func @linear_l13_state_features(%q: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op final_state: expected 'tensor<2x4x16x8xf32>', got 'tensor<2x4x8x8xf32>'}}
  %o:2 = attn.linear %q, %q, %q feature(#attn.hedgehog)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> (tensor<2x4x?x8xf32>, tensor<2x4x8x8xf32>)
  return
}

// -----

func.func @linear_l13_state_type(%q: tensor<2x4x?x8xbf16>) {
  // expected-error @below {{'attn.linear' op result #1 must be 4-D tensor (batch x heads x features x value dim) of 32-bit float or 64-bit float values, but got 'tensor<2x4x8x8xbf16>'}}
  %o:2 = attn.linear %q, %q, %q
      : (tensor<2x4x?x8xbf16>, tensor<2x4x?x8xbf16>, tensor<2x4x?x8xbf16>) -> (tensor<2x4x?x8xbf16>, tensor<2x4x8x8xbf16>)
  return
}

// -----

func.func @linear_l14(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                      %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op scale: expected a number that is finite in f32, got INF}}
  %o = attn.linear %q, %k, %v scale(0x7FF0000000000000)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l14_f32(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                          %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op scale: expected a number that is finite in f32, got 1.000000e+39}}
  %o = attn.linear %q, %k, %v scale(1.0e+39)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l15_decay(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>, %g: tensor<4xf32>) {
  // expected-error @below {{'attn.linear' op decay: expected causal beside it}}
  %o = attn.linear %q, %k, %v decay(%g : tensor<4xf32>)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l15_beta(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<2x4x?x8xf32>, %b: tensor<2x4x?xf32>) {
  // expected-error @below {{'attn.linear' op beta: expected causal beside it}}
  %o = attn.linear %q, %k, %v beta(%b : tensor<2x4x?xf32>)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l15_transition(%q: tensor<2x4x?x8xf32>,
                                 %k: tensor<2x4x?x8xf32>,
                                 %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op transition: expected causal beside it}}
  %o = attn.linear %q, %k, %v transition(%k, %k : tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l15_bonus(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>, %u: tensor<4x8xf32>) {
  // expected-error @below {{'attn.linear' op bonus: expected causal beside it}}
  %o = attn.linear %q, %k, %v bonus(%u : tensor<4x8xf32>)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l15_block(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op block: expected causal beside it}}
  %o = attn.linear %q, %k, %v block(2)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l16(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                      %v: tensor<2x4x?x8xf32>, %b: tensor<2x4x?xf32>) {
  // expected-error @below {{'attn.linear' op transition: expected none beside beta}}
  %o = attn.linear %q, %k, %v beta(%b : tensor<2x4x?xf32>)
      transition(%k, %k : tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l17_decay(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>, %g: tensor<4xf32>) {
  // expected-error @below {{'attn.linear' op decay: expected none beside block}}
  %o = attn.linear %q, %k, %v decay(%g : tensor<4xf32>) block(2) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l17_beta(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<2x4x?x8xf32>, %b: tensor<2x4x?xf32>) {
  // expected-error @below {{'attn.linear' op beta: expected none beside block}}
  %o = attn.linear %q, %k, %v beta(%b : tensor<2x4x?xf32>) block(2) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l17_transition(%q: tensor<2x4x?x8xf32>,
                                 %k: tensor<2x4x?x8xf32>,
                                 %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op transition: expected none beside block}}
  %o = attn.linear %q, %k, %v transition(%k, %k : tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) block(2) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l17_bonus(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>, %u: tensor<4x8xf32>) {
  // expected-error @below {{'attn.linear' op bonus: expected none beside block}}
  %o = attn.linear %q, %k, %v bonus(%u : tensor<4x8xf32>) block(2) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l17_zero(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op block: expected at least 1, got 0}}
  %o = attn.linear %q, %k, %v block(0) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l17_negative(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                               %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op block: expected at least 1, got -3}}
  %o = attn.linear %q, %k, %v block(-3) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l18_none(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{expected attribute value}}
  %o = attn.linear %q, %k, %v feature()
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l18_three(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op feature: expected one or two feature maps, got 3}}
  %o = attn.linear %q, %k, %v feature(#attn.elu1, #attn.elu1, #attn.elu1)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l18_other(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op feature: expected a feature map, got #attn.causal}}
  %o = attn.linear %q, %k, %v feature(#attn.causal)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l18_projection(%q: tensor<2x4x?x8xf32>,
                                 %k: tensor<2x4x?x8xf32>,
                                 %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op feature: expected a map without projection, got #attn.positive}}
  %o = attn.linear %q, %k, %v feature(#attn.positive)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l18_key_projection(%q: tensor<2x4x?x8xf32>,
                                     %k: tensor<2x4x?x8xf32>,
                                     %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op feature: expected a map without projection, got #attn.trigonometric}}
  %o = attn.linear %q, %k, %v feature(#attn.identity, #attn.trigonometric)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l18_positions(%q: tensor<2x4x?x8xf32>,
                                %k: tensor<2x4x?x8xf32>,
                                %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op feature: expected a map that reads no other position beside causal, got #attn.softmax_positions}}
  %o = attn.linear %q, %k, %v feature(#attn.identity, #attn.softmax_positions) causal
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l18_counts(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                             %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op feature: expected 16 features of a key (from query), got 8}}
  %o = attn.linear %q, %k, %v feature(#attn.hedgehog, #attn.elu1)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l19(%q: tensor<2x4x?x?xf32>, %k: tensor<2x4x?x?xf32>,
                      %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.linear' op query: expected a static head dim, which #attn.taylor2 changes}}
  %o = attn.linear %q, %k, %v feature(#attn.elu1, #attn.taylor2)
      : (tensor<2x4x?x?xf32>, tensor<2x4x?x?xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @linear_l20(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>,
                      %v: tensor<2x4x7x8xf32>) {
  // expected-error @below {{'attn.linear' op key: expected length 5 (from query), got 7}}
  %o = attn.linear %q, %k, %v causal
      : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @linear_l18_packed(%q: tensor<1x4x5x8xf32>, %s: tensor<3xi64>) {
  // expected-error @below {{'attn.linear' op feature: expected a map that reads no other position beside query_starts, got #attn.softmax_positions}}
  %o = attn.linear %q, %q, %q query_starts(%s : tensor<3xi64>) feature(#attn.softmax_features, #attn.softmax_positions)
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @linear_l19_features(%q: tensor<1x1x?x65537xf32>, %v: tensor<1x1x?x8xf32>) {
  // expected-error @below {{'attn.linear' op query: expected a head dim of at most 65536 for #attn.taylor2, got 65537}}
  %o = attn.linear %q, %q, %v feature(#attn.taylor2)
      : (tensor<1x1x?x65537xf32>, tensor<1x1x?x65537xf32>, tensor<1x1x?x8xf32>) -> tensor<1x1x?x8xf32>
  return
}

// -----

func.func @linear_l19_overflow(%q: tensor<1x1x?x4611686018427387904xf32>, %v: tensor<1x1x?x8xf32>) {
  // expected-error @below {{'attn.linear' op query: expected a head dim of at most 2305843009213693952 for #attn.hedgehog, got 4611686018427387904}}
  %o = attn.linear %q, %q, %v feature(#attn.hedgehog)
      : (tensor<1x1x?x4611686018427387904xf32>, tensor<1x1x?x4611686018427387904xf32>, tensor<1x1x?x8xf32>) -> tensor<1x1x?x8xf32>
  return
}

// -----

func.func @linear_l20_starts(%q: tensor<1x4x5x8xf32>, %k: tensor<1x4x7x8xf32>, %s: tensor<3xi64>) {
  // expected-error @below {{'attn.linear' op key: expected length 5 (from query), got 7}}
  %o = attn.linear %q, %k, %k query_starts(%s : tensor<3xi64>)
      : (tensor<1x4x5x8xf32>, tensor<1x4x7x8xf32>, tensor<1x4x7x8xf32>) -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @linear_l21_alone(%q: tensor<1x4x5x8xf32>, %s: tensor<3xi64>) {
  // expected-error @below {{'attn.linear' op key_starts: expected query_starts beside it}}
  %o = attn.linear %q, %q, %q key_starts(%s : tensor<3xi64>)
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @linear_l21_causal(%q: tensor<1x4x5x8xf32>, %s: tensor<3xi64>) {
  // expected-error @below {{'attn.linear' op key_starts: expected none beside causal}}
  %o = attn.linear %q, %q, %q query_starts(%s : tensor<3xi64>) key_starts(%s : tensor<3xi64>) causal
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @linear_l22(%q: tensor<2x4x5x8xf32>, %s: tensor<3xi64>) {
  // expected-error @below {{'attn.linear' op query: expected batch 1 (with query_starts), got 2}}
  %o = attn.linear %q, %q, %q query_starts(%s : tensor<3xi64>) causal
      : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @linear_l23_none(%q: tensor<1x4x5x8xf32>, %s: tensor<0xi64>) {
  // expected-error @below {{'attn.linear' op query_starts: expected entries of at least 1, got 0}}
  %o = attn.linear %q, %q, %q query_starts(%s : tensor<0xi64>) causal
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @linear_l23_number(%q: tensor<1x4x5x8xf32>, %s: tensor<3xi64>, %t: tensor<4xi64>) {
  // expected-error @below {{'attn.linear' op key_starts: expected entries 3 (from query_starts), got 4}}
  %o = attn.linear %q, %q, %q query_starts(%s : tensor<3xi64>) key_starts(%t : tensor<4xi64>)
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @linear_l11_packed(%q: tensor<1x4x5x8xf32>, %s: tensor<3xi64>, %s0: tensor<1x4x8x8xf32>) {
  // expected-error @below {{'attn.linear' op state: expected entries to be one fewer than 3 (from query_starts), got 1}}
  %o = attn.linear %q, %q, %q state(%s0 : tensor<1x4x8x8xf32>) query_starts(%s : tensor<3xi64>) causal
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @linear_l12_packed(%q: tensor<1x4x5x8xf32>, %s: tensor<3xi64>, %n: tensor<3xi64>) {
  // expected-error @below {{'attn.linear' op lengths: expected entries to be one fewer than 3 (from query_starts), got 3}}
  %o = attn.linear %q, %q, %q lengths(%n : tensor<3xi64>) query_starts(%s : tensor<3xi64>) causal
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @linear_l13_packed(%q: tensor<1x4x5x8xf32>, %s: tensor<3xi64>) {
  // expected-error @below {{'attn.linear' op final_state: expected 'tensor<2x4x8x8xf32>', got 'tensor<1x4x8x8xf32>'}}
  %o, %s1 = attn.linear %q, %q, %q query_starts(%s : tensor<3xi64>) causal
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>) -> (tensor<1x4x5x8xf32>, tensor<1x4x8x8xf32>)
  return
}

// -----

func.func @linear_eps(%q: tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32> {
  // expected-error @below {{'attn.linear' op eps: expected a number >= 0 that is finite in 'f32', got 1.000000e+39}}
  %o = attn.linear %q, %q, %q feature(#attn.relu<eps = 1.0e39>) : (tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}
