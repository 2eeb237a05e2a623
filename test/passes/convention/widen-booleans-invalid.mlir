// RUN: attn-opt %s --attn-widen-booleans --split-input-file --verify-diagnostics

func.func @returned(%m: tensor<?xi1>) -> tensor<?xi1> {
  // expected-error @below {{'func.return' op expected booleans to be read by regions or linalg, or selected by only, got an operand 'tensor<?xi1>'}}
  return %m : tensor<?xi1>
}

// -----

func.func @computed(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'arith.cmpf' op result: expected no tensor of booleans, got 'tensor<4xi1>'}}
  %m = arith.cmpf ogt, %x, %x : tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

func.func @selected(%m: tensor<4xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'arith.select' op expected booleans to be read by regions or linalg, or selected by only, got an operand 'tensor<4xi1>'}}
  %y = arith.select %m, %x, %x : tensor<4xi1>, tensor<4xf32>
  return %y : tensor<4xf32>
}
