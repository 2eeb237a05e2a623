// RUN: attn-opt %s --attn-inline-calls --split-input-file --verify-diagnostics

func.func private @f(%x: f32) -> f32 {
  // expected-error @below {{'func.call' op callee: expected no recursion, got @g from within itself}}
  %y = call @g(%x) : (f32) -> f32
  return %y : f32
}
func.func @g(%x: f32) -> f32 {
  %y = call @f(%x) : (f32) -> f32
  return %y : f32
}

// -----

func.func private @external(%x: f32) -> f32
func.func @g(%x: f32) -> f32 {
  // expected-error @below {{'func.call' op callee: expected a function of one block, got @external}}
  %y = call @external(%x) : (f32) -> f32
  return %y : f32
}
