// RUN: attn-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @merge
// CHECK: attn.merge %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x8x?x64xf16>, tensor<?x8x?xf32>, tensor<?x8x?x64xf16>, tensor<?x8x?xf32>) -> (tensor<?x8x?x64xf16>, tensor<?x8x?xf32>)
func.func @merge(%o: tensor<?x8x?x64xf16>, %l: tensor<?x8x?xf32>)
    -> (tensor<?x8x?x64xf16>, tensor<?x8x?xf32>) {
  %r, %s = attn.merge %o, %l, %o, %l
      : (tensor<?x8x?x64xf16>, tensor<?x8x?xf32>, tensor<?x8x?x64xf16>,
         tensor<?x8x?xf32>) -> (tensor<?x8x?x64xf16>, tensor<?x8x?xf32>)
  return %r, %s : tensor<?x8x?x64xf16>, tensor<?x8x?xf32>
}

// -----

func.func @lse_type(%o: tensor<2x8x3x4xf64>, %l: tensor<2x8x3xf32>) {
  // expected-error @below {{'attn.merge' op first_lse: expected element type 'f64' (from first_output), got 'f32'}}
  %r, %s = attn.merge %o, %l, %o, %l
      : (tensor<2x8x3x4xf64>, tensor<2x8x3xf32>, tensor<2x8x3x4xf64>,
         tensor<2x8x3xf32>) -> (tensor<2x8x3x4xf64>, tensor<2x8x3xf32>)
  return
}

// -----

func.func @output_type(%o: tensor<2x8x3x4xf32>, %p: tensor<2x8x3x4xbf16>,
                       %l: tensor<2x8x3xf32>) {
  // expected-error @below {{'attn.merge' op second_output: expected element type 'f32' (from first_output), got 'bf16'}}
  %r, %s = attn.merge %o, %l, %p, %l
      : (tensor<2x8x3x4xf32>, tensor<2x8x3xf32>, tensor<2x8x3x4xbf16>,
         tensor<2x8x3xf32>) -> (tensor<2x8x3x4xf32>, tensor<2x8x3xf32>)
  return
}

// -----

func.func @sizes(%o: tensor<2x8x3x4xf32>, %p: tensor<2x8x3x5xf32>,
                 %l: tensor<2x8x3xf32>) {
  // expected-error @below {{'attn.merge' op second_output: expected head dim 4 (from first_output), got 5}}
  %r, %s = attn.merge %o, %l, %p, %l
      : (tensor<2x8x3x4xf32>, tensor<2x8x3xf32>, tensor<2x8x3x5xf32>,
         tensor<2x8x3xf32>) -> (tensor<2x8x3x4xf32>, tensor<2x8x3xf32>)
  return
}

// -----

func.func @results(%o: tensor<2x8x3x4xf32>, %l: tensor<2x8x3xf32>) {
  // expected-error @below {{'attn.merge' op lse: expected 'tensor<2x8x3xf32>', got 'tensor<2x8x4xf32>'}}
  %r, %s = attn.merge %o, %l, %o, %l
      : (tensor<2x8x3x4xf32>, tensor<2x8x3xf32>, tensor<2x8x3x4xf32>,
         tensor<2x8x3xf32>) -> (tensor<2x8x3x4xf32>, tensor<2x8x4xf32>)
  return
}
