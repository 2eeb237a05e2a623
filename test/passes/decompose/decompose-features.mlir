// RUN: attn-opt %s --attn-decompose-features --canonicalize --cse | FileCheck %s

// In f64, rounded once.
// CHECK-LABEL: func.func @elu1(
// CHECK:         arith.extf %{{.*}} : bf16 to f64
// CHECK:         %[[POSITIVE:.*]] = arith.cmpf ogt, %[[X:.*]], %{{.*}} : f64
// CHECK-DAG:     %[[LINEAR:.*]] = arith.addf %[[X]], %{{.*}} : f64
// CHECK-DAG:     %[[EXP:.*]] = math.exp %[[X]] : f64
// CHECK:         arith.select %[[POSITIVE]], %[[LINEAR]], %[[EXP]]
// CHECK:         arith.truncf %{{.*}} : f32 to bf16
// CHECK-NOT:     attn.
func.func @elu1(%x: tensor<1x2x?x4xbf16>) -> tensor<1x2x?x4xbf16> {
  %y = attn.feature_map %x feature(#attn.elu1)
      : tensor<1x2x?x4xbf16> -> tensor<1x2x?x4xbf16>
  return %y : tensor<1x2x?x4xbf16>
}

// The projection is of the scaled vector, and so is the norm.
// CHECK-LABEL: func.func @log_of_positive(
// CHECK-SAME:    %[[X:.*]]: tensor<1x2x?x4xf32>, %[[W:.*]]: tensor<8x4xf32>)
// CHECK:         %[[SCALED:.*]] = linalg.generic {{.*}} ins(%[[X]]
// CHECK:           arith.mulf
// CHECK:         %[[PROJECTED:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[SCALED]]
// CHECK:         %[[NORMS:.*]] = linalg.generic {{.*}} ins(%[[SCALED]]
// CHECK:         linalg.generic {{.*}} ins(%[[PROJECTED]], %[[NORMS]]
// CHECK-NOT:     math.exp
func.func @log_of_positive(%x: tensor<1x2x?x4xf32>, %w: tensor<8x4xf32>)
    -> tensor<1x2x?x8xf32> {
  %y = attn.feature_map %x feature(#attn.positive)
      projection(%w : tensor<8x4xf32>) scale(0.5) log
      : tensor<1x2x?x4xf32> -> tensor<1x2x?x8xf32>
  return %y : tensor<1x2x?x8xf32>
}

// A map region runs in f64.
// CHECK-LABEL: func.func @region(
// CHECK:         math.tanh %{{.*}} : f64
func.func @region(%x: tensor<1x2x?x4xf32>) -> tensor<1x2x?x4xf32> {
  %y = attn.feature_map %x map {
  ^bb0(%e: f32):
    %t = math.tanh %e : f32
    attn.yield %t : f32
  } : tensor<1x2x?x4xf32> -> tensor<1x2x?x4xf32>
  return %y : tensor<1x2x?x4xf32>
}
