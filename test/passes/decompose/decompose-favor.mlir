// RUN: attn-opt %s --attn-decompose-favor --canonicalize --cse | FileCheck %s

// The logarithm of each pair's weight over the features, -inf where the key is
// not seen, then an average with weights of at most 1.
// CHECK-LABEL: func.func @positive(
// CHECK-SAME:    %[[W:[a-z0-9]*]]: tensor<8x4xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[W]], %{{.*}}
// CHECK:         linalg.generic {{.*}} ins(%[[W]], %{{.*}}
// CHECK:         scf.for %[[H:.*]] = %c0 to %c6
// CHECK:           %[[KEYHEAD:.*]] = arith.divui %[[H]], %c3
// CHECK:           %[[X:.*]] = tensor.extract_slice {{.*}} to tensor<7x8xf64>
// CHECK:           %[[Y:.*]] = tensor.extract_slice {{.*}} to tensor<7x8xf64>
// CHECK:           %[[MAX:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[Y]] :
// CHECK:           %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[Y]], %[[MAX]]
// CHECK:           %[[LOGS:.*]] = linalg.generic {{.*}} ins(%[[MAX]], %[[SUM]]
// CHECK:           %[[MASKED:.*]] = linalg.generic {{.*}} ins(%[[LOGS]]
// CHECK:             %[[CAUSAL:.*]] = arith.cmpi sle
// CHECK:             %[[SEEN:.*]] = arith.andi %{{.*}}, %[[CAUSAL]]
// CHECK:             arith.select %[[SEEN]]
// CHECK:           %[[ROWMAX:.*]] = linalg.generic {{.*}} ins(%[[MASKED]]
// CHECK:           %[[WEIGHTS:.*]] = linalg.generic {{.*}} ins(%[[MASKED]], %[[ROWMAX]]
// CHECK:           arith.divf
// CHECK-NOT:     attn.
func.func @positive(%q: tensor<1x6x7x4xf32>, %k: tensor<1x2x7x4xf32>,
                    %v: tensor<1x2x7x5xf32>, %w: tensor<8x4xf32>)
    -> tensor<1x6x7x5xf32> {
  %o = attn.favor %q, %k, %v, %w kind(positive) causal
      : (tensor<1x6x7x4xf32>, tensor<1x2x7x4xf32>, tensor<1x2x7x5xf32>,
         tensor<8x4xf32>) -> tensor<1x6x7x5xf32>
  return %o : tensor<1x6x7x5xf32>
}

// Norms of keys stay in the exponent; what may be negative is a factor.
// CHECK-LABEL: func.func @trigonometric(
// CHECK:         math.cos
// CHECK:         %[[MAX:.*]] = linalg.generic {{.*}} ins(%[[LOGS:.*]] : tensor<7x7xf64>) outs(%{{.*}} : tensor<7xf64>)
// CHECK:           arith.maximumf
// CHECK:         linalg.generic {{.*}} ins(%[[LOGS]], %[[MAX]], %{{.*}} : tensor<7x7xf64>, tensor<7xf64>, tensor<7x7xf64>)
func.func @trigonometric(%q: tensor<1x1x7x4xf32>, %w: tensor<8x4xf32>)
    -> tensor<1x1x7x4xf32> {
  %o = attn.favor %q, %q, %q, %w kind(trigonometric)
      : (tensor<1x1x7x4xf32>, tensor<1x1x7x4xf32>, tensor<1x1x7x4xf32>,
         tensor<8x4xf32>) -> tensor<1x1x7x4xf32>
  return %o : tensor<1x1x7x4xf32>
}
