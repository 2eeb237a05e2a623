// RUN: attn-opt %s --split-input-file --verify-diagnostics

// Each function breaks one numbered constraint of `attn.softmax` and is named
// after it; c21 is a rule between sizes of a call and is in
// test/passes/convention/emit-plan.mlir.

func.func @softmax_c1_key(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xbf16>,
                          %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op key: expected element type 'f32' (from query), got 'bf16'}}
  %o = attn.softmax %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xbf16>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c1_value(%q: tensor<2x4x?x8xbf16>, %k: tensor<2x4x?x8xbf16>,
                            %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op value: expected element type 'bf16' (from query), got 'f32'}}
  %o = attn.softmax %q, %k, %v
      : (tensor<2x4x?x8xbf16>, tensor<2x4x?x8xbf16>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xbf16>
  return
}

// -----

func.func @softmax_c1_element_type(%q: tensor<2x4x?x8xf8E5M2>,
                                   %k: tensor<2x4x?x8xf8E5M2>,
                                   %v: tensor<2x4x?x8xf8E5M2>) {
  // expected-error @below {{op operand #0 must be 4-D tensor (batch x heads x sequence x head dim) of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<2x4x?x8xf8E5M2>'}}
  %o = attn.softmax %q, %k, %v
      : (tensor<2x4x?x8xf8E5M2>, tensor<2x4x?x8xf8E5M2>, tensor<2x4x?x8xf8E5M2>)
      -> tensor<2x4x?x8xf8E5M2>
  return
}

// -----

func.func @softmax_c1_rank(%q: tensor<4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{op operand #0 must be 4-D tensor (batch x heads x sequence x head dim) of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4x?x8xf32>'}}
  %o = attn.softmax %q, %k, %v
      : (tensor<4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<4x?x8xf32>
  return
}

// -----

func.func @softmax_c2(%q: tensor<2x4x?x8xf32>, %k: tensor<3x4x?x8xf32>,
                      %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op key: expected batch 2 (from query), got 3}}
  %o = attn.softmax %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<3x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c3(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                      %v: tensor<3x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op value: expected batch 2 (from query), got 3}}
  %o = attn.softmax %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<3x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c4(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                      %v: tensor<2x2x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op value: expected heads 4 (from key), got 2}}
  %o = attn.softmax %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c5(%q: tensor<2x4x?x8xf32>, %k: tensor<2x2x?x8xf32>,
                      %v: tensor<2x2x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op key: expected heads 4 (from query), got 2}}
  %o = attn.softmax %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c6(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x16xf32>,
                      %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op key: expected head dim 8 (from query), got 16}}
  %o = attn.softmax %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x16xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c7(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x5x8xf32>,
                      %v: tensor<2x4x6x8xf32>) {
  // expected-error @below {{'attn.softmax' op value: expected length 5 (from key), got 6}}
  %o = attn.softmax %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x6x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c8(%q: tensor<2x4x?x0xf32>, %k: tensor<2x4x?x0xf32>,
                      %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op query: expected head dim of at least 1, got 0}}
  %o = attn.softmax %q, %k, %v
      : (tensor<2x4x?x0xf32>, tensor<2x4x?x0xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c9_shape(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op output: expected 'tensor<2x4x?x8xf32>', got 'tensor<2x4x?x16xf32>'}}
  %o = attn.softmax %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x16xf32>
  return
}

// -----

func.func @softmax_c9_type(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op output: expected 'tensor<2x4x?x8xf32>', got 'tensor<2x4x?x8xbf16>'}}
  %o = attn.softmax %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xbf16>
  return
}

// -----

func.func @softmax_c10(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                       %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op lse: expected 'tensor<2x4x?xf32>', got 'tensor<2x4x7xf32>'}}
  %o:2 = attn.softmax %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> (tensor<2x4x?x8xf32>, tensor<2x4x7xf32>)
  return
}

// -----

func.func @softmax_c10_type(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{op result #1 must be 3-D tensor (batch x heads x sequence) of 32-bit float or 64-bit float values, but got 'tensor<2x4x?xbf16>'}}
  %o:2 = attn.softmax %q, %k, %v
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> (tensor<2x4x?x8xf32>, tensor<2x4x?xbf16>)
  return
}

// -----

func.func @softmax_c11(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                       %v: tensor<2x4x?x8xf32>, %p: tensor<3xi64>) {
  // expected-error @below {{'attn.softmax' op offset: expected batch 2 (from query), got 3}}
  %o = attn.softmax %q, %k, %v offset(%p : tensor<3xi64>)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c11_type(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>, %p: tensor<2xf32>) {
  // expected-error @below {{op operand #3 must be index or 1-D tensor (batch) of i32 or i64, but got 'tensor<2xf32>'}}
  %o = attn.softmax %q, %k, %v offset(%p : tensor<2xf32>)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c12(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                       %v: tensor<2x4x?x8xf32>, %n: tensor<3xi32>) {
  // expected-error @below {{'attn.softmax' op lengths: expected batch 2 (from query), got 3}}
  %o = attn.softmax %q, %k, %v lengths(%n : tensor<3xi32>)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c12_type(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>, %n: tensor<2xi8>) {
  // expected-error @below {{op operand #3 must be index or 1-D tensor (batch) of i32 or i64, but got 'tensor<2xi8>'}}
  %o = attn.softmax %q, %k, %v lengths(%n : tensor<2xi8>)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c13(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                       %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op scale: expected a number that is finite in f32, got}}
  %o = attn.softmax %q, %k, %v scale(0x7FF0000000000000)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c13_nan(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                           %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op scale: expected a number that is finite in f32, got}}
  %o = attn.softmax %q, %k, %v scale(0x7FF8000000000000)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c13_beyond_f32(%q: tensor<2x4x?x8xf32>,
                                  %k: tensor<2x4x?x8xf32>,
                                  %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op scale: expected a number that is finite in f32, got -1.000000e+300}}
  %o = attn.softmax %q, %k, %v scale(-1.0e300)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c14_zero(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op softcap: expected a number > 0 that is normal in f32 with its reciprocal, got}}
  %o = attn.softmax %q, %k, %v softcap(0.0)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c14_negative(%q: tensor<2x4x?x8xf32>,
                                %k: tensor<2x4x?x8xf32>,
                                %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op softcap: expected a number > 0 that is normal in f32 with its reciprocal, got}}
  %o = attn.softmax %q, %k, %v softcap(-30.0)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c14_infinite(%q: tensor<2x4x?x8xf32>,
                                %k: tensor<2x4x?x8xf32>,
                                %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op softcap: expected a number > 0 that is normal in f32 with its reciprocal, got}}
  %o = attn.softmax %q, %k, %v softcap(0x7FF0000000000000)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c14_beyond_f32(%q: tensor<2x4x?x8xf32>,
                                  %k: tensor<2x4x?x8xf32>,
                                  %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op softcap: expected a number > 0 that is normal in f32 with its reciprocal, got 1.000000e+300}}
  %o = attn.softmax %q, %k, %v softcap(1.0e300)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c14_reciprocal(%q: tensor<2x4x?x8xf32>,
                                  %k: tensor<2x4x?x8xf32>,
                                  %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op softcap: expected a number > 0 that is normal in f32 with its reciprocal, got 2.900000e-39}}
  %o = attn.softmax %q, %k, %v softcap(2.9e-39)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c15_mask(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op expected align or offset, as a mask or region depends on the position of queries}}
  %o = attn.softmax %q, %k, %v mask(#attn.causal)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c15_keep(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op expected align or offset, as a mask or region depends on the position of queries}}
  %o = attn.softmax %q, %k, %v
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %p = arith.cmpi sle, %j, %i : index
        attn.yield %p : i1
      }
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c15_score(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                             %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op expected align or offset, as a mask or region depends on the position of queries}}
  %o = attn.softmax %q, %k, %v
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %n = arith.index_cast %i : index to i32
        %f = arith.sitofp %n : i32 to f32
        %t = arith.addf %s, %f : f32
        attn.yield %t : f32
      }
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c16(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                       %v: tensor<2x4x?x8xf32>, %p: index) {
  // expected-error @below {{'attn.softmax' op offset: expected no offset beside align}}
  %o = attn.softmax %q, %k, %v align(top_left) offset(%p : index)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c17(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                       %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op mask: expected a mask attribute, got 1 : i64}}
  %o = attn.softmax %q, %k, %v align(top_left) mask(#attn.causal, 1 : i64)
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c18_keep(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op keep region: expected arguments ('index', 'index', 'index', 'index'), got ('index', 'index', 'index')}}
  %o = attn.softmax %q, %k, %v align(top_left)
      keep {
      ^bb0(%b: index, %i: index, %j: index):
        %p = arith.cmpi sle, %j, %i : index
        attn.yield %p : i1
      }
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c18_score(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                             %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op score region: expected arguments ('f32', 'index', 'index', 'index', 'index'), got ('bf16', 'index', 'index', 'index', 'index')}}
  %o = attn.softmax %q, %k, %v align(top_left)
      score {
      ^bb0(%s: bf16, %b: index, %h: index, %i: index, %j: index):
        %t = arith.extf %s : bf16 to f32
        attn.yield %t : f32
      }
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c18_blocks(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                              %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op keep region: expected one block, got 2}}
  %o = attn.softmax %q, %k, %v align(top_left)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        cf.br ^bb1
      ^bb1:
        %true = arith.constant true
        attn.yield %true : i1
      }
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c19_keep(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                            %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op keep region: expected to yield 'i1', got 'f32'}}
  %o = attn.softmax %q, %k, %v align(top_left)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %one = arith.constant 1.0 : f32
        attn.yield %one : f32
      }
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c19_score(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                             %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op score region: expected to yield 'f32', got 'i1'}}
  %o = attn.softmax %q, %k, %v align(top_left)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %true = arith.constant true
        attn.yield %true : i1
      }
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c19_no_yield(%q: tensor<2x4x?x8xf32>,
                                %k: tensor<2x4x?x8xf32>,
                                %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op keep region: expected 'attn.yield' at the end}}
  %o = attn.softmax %q, %k, %v align(top_left)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        ub.unreachable
      }
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c20_operation(%q: tensor<2x4x?x8xf32>,
                                 %k: tensor<2x4x?x8xf32>,
                                 %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op score region: expected an allowed operation, got 'math.ctpop'}}
  %o = attn.softmax %q, %k, %v align(top_left)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %n = arith.fptosi %s : f32 to i32
        %c = math.ctpop %n : i32
        %t = arith.sitofp %c : i32 to f32
        attn.yield %t : f32
      }
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c20_control_flow(%q: tensor<2x4x?x8xf32>,
                                    %k: tensor<2x4x?x8xf32>,
                                    %v: tensor<2x4x?x8xf32>, %c: i1) {
  // expected-error @below {{'attn.softmax' op score region: expected an allowed operation, got 'scf.if'}}
  %o = attn.softmax %q, %k, %v align(top_left)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %t = scf.if %c -> f32 {
          scf.yield %s : f32
        } else {
          %zero = arith.constant 0.0 : f32
          scf.yield %zero : f32
        }
        attn.yield %t : f32
      }
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c20_wide_integer(%q: tensor<2x4x?x8xf32>,
                                    %k: tensor<2x4x?x8xf32>,
                                    %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op keep region: 'arith.index_cast': expected index, integers up to 64 bits, f16, bf16, f32 or f64, got 'i128'}}
  %o = attn.softmax %q, %k, %v align(top_left)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %x = arith.index_cast %i : index to i128
        %y = arith.index_cast %j : index to i128
        %q2 = arith.divsi %x, %y : i128
        %p = arith.cmpi sle, %q2, %y : i128
        attn.yield %p : i1
      }
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c20_vector(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                              %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op score region: 'arith.constant': expected index, integers up to 64 bits, f16, bf16, f32 or f64, got 'vector<4xf32>'}}
  %o = attn.softmax %q, %k, %v align(top_left)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %x = arith.constant dense<1.0> : vector<4xf32>
        attn.yield %s : f32
      }
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c20_quadruple(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>,
                              %v: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op score region: 'arith.extf': expected index, integers up to 64 bits, f16, bf16, f32 or f64, got 'f128'}}
  %o = attn.softmax %q, %k, %v align(top_left)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %x = arith.extf %s : f32 to f128
        attn.yield %s : f32
      }
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c20_captured_type(%q: tensor<2x4x?x8xf32>,
                                     %k: tensor<2x4x?x8xf32>,
                                     %v: tensor<2x4x?x8xf32>,
                                     %x: tensor<4xf8E5M2>) {
  // expected-error @below {{'attn.softmax' op score region: captured tensor: expected a ranked tensor of i1, i8, i16, i32, i64, f16, bf16, f32 or f64, got 'tensor<4xf8E5M2>'}}
  %o = attn.softmax %q, %k, %v align(top_left)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %y = tensor.extract %x[%h] : tensor<4xf8E5M2>
        attn.yield %s : f32
      }
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c20_dimension(%q: tensor<2x4x?x8xf32>,
                                 %k: tensor<2x4x?x8xf32>,
                                 %v: tensor<2x4x?x8xf32>, %x: tensor<?xf32>,
                                 %d: index) {
  // expected-error @below {{'attn.softmax' op keep region: expected a constant index of 'tensor.dim'}}
  %o = attn.softmax %q, %k, %v align(top_left)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %n = tensor.dim %x, %d : tensor<?xf32>
        %p = arith.cmpi slt, %j, %n : index
        attn.yield %p : i1
      }
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_c20_dimension_of_rank(%q: tensor<2x4x?x8xf32>,
                                         %k: tensor<2x4x?x8xf32>,
                                         %v: tensor<2x4x?x8xf32>,
                                         %x: tensor<?xf32>) {
  // expected-error @below {{'attn.softmax' op keep region: 'tensor.dim': expected a dimension below 1, got 3}}
  %o = attn.softmax %q, %k, %v align(top_left)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %c3 = arith.constant 3 : index
        %n = tensor.dim %x, %c3 : tensor<?xf32>
        %p = arith.cmpi slt, %j, %n : index
        attn.yield %p : i1
      }
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_dropout(%q: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op dropout: expected none or 0.0, as attention is not trained here, got 1.000000e-01 : f32}}
  %o = attn.softmax %q, %q, %q {dropout = 0.1 : f32}
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @softmax_unknown_attribute(%q: tensor<2x4x?x8xf32>) {
  // expected-error @below {{'attn.softmax' op expected an attribute of the op or one with the prefix of a dialect, got 'is_causal'}}
  %o = attn.softmax %q, %q, %q {is_causal}
      : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      -> tensor<2x4x?x8xf32>
  return
}
