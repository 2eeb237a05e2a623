// RUN: attn-opt %s --attn-expand-random-features | FileCheck %s

// A projection is a constant, the numbers of which depend on the seed; one with
// fewer rows is the beginning of it.
// CHECK-LABEL: func @rows_of_a_seed
// CHECK-NOT: attn.random_features
// CHECK: arith.constant dense<{{\[\[}}-0.0518368158{{[0-9]*}}, -1.97283391{{[0-9]*}}, 2.22488666{{[0-9]*}}], [-0.337282053{{[0-9]*}}, -1.18977750{{[0-9]*}}, -1.42271555{{[0-9]*}}]]> : tensor<2x3xf64>
// CHECK: arith.constant dense<{{\[\[}}-0.0518368158{{[0-9]*}}, -1.97283391{{[0-9]*}}, 2.22488666{{[0-9]*}}]]> : tensor<1x3xf64>
// CHECK-NOT: attn.random_features
func.func @rows_of_a_seed() -> (tensor<2x3xf64>, tensor<1x3xf64>) {
  %w = attn.random_features seed(7) : tensor<2x3xf64>
  %v = attn.random_features seed(7) : tensor<1x3xf64>
  return %w, %v : tensor<2x3xf64>, tensor<1x3xf64>
}

// A block of one row of length 1, whose sign is that of the Gaussian number.
// CHECK-LABEL: func @orthogonal_rows
// CHECK: arith.constant dense<-1.000000e+00> : tensor<1x1xf32>
func.func @orthogonal_rows() -> tensor<1x1xf32> {
  %w = attn.random_features seed(7) orthogonal norms(sqrt_d) : tensor<1x1xf32>
  return %w : tensor<1x1xf32>
}
