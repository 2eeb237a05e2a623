// RUN: attn-opt %s --split-input-file --verify-diagnostics

// Constraints that depend on the element type of the operands.

func.func @gqa_c10_of_f64(%q: tensor<2x4x?x8xf64>,
    %k: tensor<2x4x?x8xf64>, %v: tensor<2x4x?x8xf64>) {
  // expected-error @below {{'attn.gqa' op lse: expected 'tensor<2x4x?xf64>', got 'tensor<2x4x?xf32>'}}
  %o:2 = attn.gqa %q, %k, %v
      : (tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>)
      -> (tensor<2x4x?x8xf64>, tensor<2x4x?xf32>)
  return
}

// -----

func.func @gqa_c14_of_f64(%q: tensor<2x4x?x8xf64>,
    %k: tensor<2x4x?x8xf64>, %v: tensor<2x4x?x8xf64>) {
  // expected-error @below {{'attn.gqa' op softcap: expected a number > 0 that is normal in f64 with its reciprocal, got 5.000000e-310}}
  %o = attn.gqa %q, %k, %v softcap(5.0e-310)
      : (tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>)
      -> tensor<2x4x?x8xf64>
  return
}

// -----

func.func @gqa_c18_of_f64(%q: tensor<2x4x?x8xf64>,
    %k: tensor<2x4x?x8xf64>, %v: tensor<2x4x?x8xf64>) {
  // expected-error @below {{'attn.gqa' op score region: expected arguments ('f64', 'index', 'index', 'index', 'index'), got ('f32', 'index', 'index', 'index', 'index')}}
  %o = attn.gqa %q, %k, %v
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        attn.yield %s : f32
      }
      : (tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>)
      -> tensor<2x4x?x8xf64>
  return
}

// -----

func.func @gqa_c19_of_f64(%q: tensor<2x4x?x8xf64>,
    %k: tensor<2x4x?x8xf64>, %v: tensor<2x4x?x8xf64>) {
  // expected-error @below {{'attn.gqa' op score region: expected to yield 'f64', got 'f32'}}
  %o = attn.gqa %q, %k, %v
      score {
      ^bb0(%s: f64, %b: index, %h: index, %i: index, %j: index):
        %t = arith.truncf %s : f64 to f32
        attn.yield %t : f32
      }
      : (tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>)
      -> tensor<2x4x?x8xf64>
  return
}

// -----

func.func @gqa_c20_rounding(%q: tensor<2x4x?x8xf64>,
    %k: tensor<2x4x?x8xf64>, %v: tensor<2x4x?x8xf64>) {
  // expected-error @below {{'attn.gqa' op score region: 'arith.truncf': expected no rounding mode, got downward}}
  %o = attn.gqa %q, %k, %v
      score {
      ^bb0(%s: f64, %b: index, %h: index, %i: index, %j: index):
        %t = arith.truncf %s downward : f64 to f32
        attn.yield %s : f64
      }
      : (tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>)
      -> tensor<2x4x?x8xf64>
  return
}

// -----

func.func @softmax_c10_of_f64(%q: tensor<2x4x?x8xf64>,
    %k: tensor<2x4x?x8xf64>, %v: tensor<2x4x?x8xf64>) {
  // expected-error @below {{'attn.softmax' op lse: expected 'tensor<2x4x?xf64>', got 'tensor<2x4x?xf32>'}}
  %o:2 = attn.softmax %q, %k, %v
      : (tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>)
      -> (tensor<2x4x?x8xf64>, tensor<2x4x?xf32>)
  return
}

// -----

func.func @softmax_c14_of_f64(%q: tensor<2x4x?x8xf64>,
    %k: tensor<2x4x?x8xf64>, %v: tensor<2x4x?x8xf64>) {
  // expected-error @below {{'attn.softmax' op softcap: expected a number > 0 that is normal in f64 with its reciprocal, got 5.000000e-310}}
  %o = attn.softmax %q, %k, %v softcap(5.0e-310)
      : (tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>)
      -> tensor<2x4x?x8xf64>
  return
}

// -----

func.func @softmax_c18_of_f64(%q: tensor<2x4x?x8xf64>,
    %k: tensor<2x4x?x8xf64>, %v: tensor<2x4x?x8xf64>) {
  // expected-error @below {{'attn.softmax' op score region: expected arguments ('f64', 'index', 'index', 'index', 'index'), got ('f32', 'index', 'index', 'index', 'index')}}
  %o = attn.softmax %q, %k, %v
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        attn.yield %s : f32
      }
      : (tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>)
      -> tensor<2x4x?x8xf64>
  return
}

// -----

func.func @softmax_c19_of_f64(%q: tensor<2x4x?x8xf64>,
    %k: tensor<2x4x?x8xf64>, %v: tensor<2x4x?x8xf64>) {
  // expected-error @below {{'attn.softmax' op score region: expected to yield 'f64', got 'f32'}}
  %o = attn.softmax %q, %k, %v
      score {
      ^bb0(%s: f64, %b: index, %h: index, %i: index, %j: index):
        %t = arith.truncf %s : f64 to f32
        attn.yield %t : f32
      }
      : (tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>)
      -> tensor<2x4x?x8xf64>
  return
}

// -----

func.func @softmax_c20_rounding(%q: tensor<2x4x?x8xf64>,
    %k: tensor<2x4x?x8xf64>, %v: tensor<2x4x?x8xf64>) {
  // expected-error @below {{'attn.softmax' op score region: 'arith.truncf': expected no rounding mode, got downward}}
  %o = attn.softmax %q, %k, %v
      score {
      ^bb0(%s: f64, %b: index, %h: index, %i: index, %j: index):
        %t = arith.truncf %s downward : f64 to f32
        attn.yield %s : f64
      }
      : (tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>, tensor<2x4x?x8xf64>)
      -> tensor<2x4x?x8xf64>
  return
}
