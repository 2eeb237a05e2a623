// RUN: attn-opt %s --attn-widen-booleans --split-input-file --verify-diagnostics

func.func @returned(%m: tensor<?xi1>) -> tensor<?xi1> {
  // expected-error @below {{'func.return' op expected booleans to be read by regions or selected by only, got an operand 'tensor<?xi1>'}}
  return %m : tensor<?xi1>
}

// -----

func.func @computed(%n: index) -> tensor<f32> {
  // expected-error @below {{'tensor.empty' op result: expected no tensor of booleans, got 'tensor<?xi1>'}}
  %m = tensor.empty(%n) : tensor<?xi1>
  %x = arith.constant dense<1.0> : tensor<f32>
  return %x : tensor<f32>
}
