// RUN: attn-opt %s --attn-add-out-params --split-input-file --verify-diagnostics

// expected-error @below {{'func.func' op argument 0: expected a ranked tensor of f16, bf16, f32, f64, i8, i16, i32 or i64, or index, i64, i32 or f32, got 'tensor<?xi3>'}}
func.func @odd_integer(%x: tensor<?xi3>, %y: tensor<?xf32>) -> tensor<?xf32> {
  return %y : tensor<?xf32>
}

// -----

// expected-error @below {{'func.func' op result 0: expected a ranked tensor of f16, bf16, f32, f64, i8, i16, i32 or i64, got 'tensor<*xf32>'}}
func.func @unranked(%x: tensor<?xf32>) -> tensor<*xf32> {
  %y = tensor.cast %x : tensor<?xf32> to tensor<*xf32>
  return %y : tensor<*xf32>
}
