// RUN: attn-opt %s --attn-decompose-linear --canonicalize --cse | FileCheck %s

// One step of the recurrence per token, then the row that reads the new state.
// Query heads of a group read it one after the other. The result is rounded
// once.
// CHECK-LABEL: func.func @decay(
// CHECK-SAME:    %[[Q:.*]]: tensor<2x6x?x4xbf16>, %[[K:.*]]: tensor<2x3x?x4xbf16>, %[[V:.*]]: tensor<2x3x?x5xbf16>, %[[G:.*]]: tensor<2x3x?xf32>)
// CHECK:         %[[QWIDE:.*]] = linalg.generic {{.*}} ins(%[[Q]]
// CHECK:         %[[KWIDE:.*]] = linalg.generic {{.*}} ins(%[[K]]
// CHECK:         %[[VWIDE:.*]] = linalg.generic {{.*}} ins(%[[V]]
// CHECK:         scf.for %[[B:.*]] = %c0 to %c2
// CHECK:         scf.for %[[H:.*]] = %c0 to %c3
// CHECK:           %[[FIRST:.*]] = arith.muli %[[H]], %c2
// CHECK:           %[[ZERO:.*]] = linalg.fill {{.*}} -> tensor<4x5xf64>
// CHECK:           scf.for %[[T:.*]] = %c0 to {{.*}} iter_args(%[[S:.*]] = %[[ZERO]], %[[O:.*]] = %{{.*}})
// CHECK:             %[[K_T:.*]] = tensor.extract_slice %[[KWIDE]][%[[B]], %[[H]], %[[T]], 0]
// CHECK:             %[[V_T:.*]] = tensor.extract_slice %[[VWIDE]][%[[B]], %[[H]], %[[T]], 0]
// CHECK:             %[[G_T:.*]] = tensor.extract %[[G]][%[[B]], %[[H]], %[[T]]]
// CHECK:             %[[WIDE:.*]] = arith.extf %[[G_T]] : f32 to f64
// CHECK:             %[[HALF:.*]] = arith.mulf %[[WIDE]], %{{.*}} : f64
// CHECK:             %[[BOUNDED:.*]] = arith.minimumf %[[HALF]], %{{.*}} : f64
// CHECK:             %[[ROOT:.*]] = math.exp %[[BOUNDED]] : f64
// CHECK:             %[[ROOTS:.*]] = linalg.fill ins(%[[ROOT]]
// CHECK:             %[[DECAYED:.*]] = linalg.generic {{.*}} ins(%[[ROOTS]] {{.*}} outs(%[[S]]
// CHECK:               %[[ONCE:.*]] = arith.mulf %[[R:.*]], %{{.*}} : f64
// CHECK-NEXT:          arith.mulf %[[R]], %[[ONCE]] : f64
// CHECK:             %[[NEXT:.*]] = linalg.generic {{.*}} ins(%[[K_T]], %[[V_T]] {{.*}} outs(%[[DECAYED]]
// CHECK:             scf.for %[[N:.*]] = %c0 to %c2
// CHECK:               %[[QUERYHEAD:.*]] = arith.addi %[[FIRST]], %[[N]]
// CHECK:               %[[Q_T:.*]] = tensor.extract_slice %[[QWIDE]][%[[B]], %[[QUERYHEAD]], %[[T]], 0]
// CHECK:               linalg.generic {{.*}} ins(%[[Q_T]], %[[NEXT]]
// CHECK:               tensor.insert_slice {{.*}} : tensor<5xbf16> into tensor<2x6x?x5xbf16>
// CHECK:             scf.yield %[[NEXT]],
// CHECK-NOT:     attn.
func.func @decay(%q: tensor<2x6x?x4xbf16>, %k: tensor<2x3x?x4xbf16>,
                 %v: tensor<2x3x?x5xbf16>, %g: tensor<2x3x?xf32>)
    -> tensor<2x6x?x5xbf16> {
  %o = attn.linear %q, %k, %v decay(%g : tensor<2x3x?xf32>) causal
      : (tensor<2x6x?x4xbf16>, tensor<2x3x?x4xbf16>, tensor<2x3x?x5xbf16>)
      -> tensor<2x6x?x5xbf16>
  return %o : tensor<2x6x?x5xbf16>
}

// Tokens from the length on change no state; rows there read the last one. With
// normalize the values have a column of ones, and so has the state.
// CHECK-LABEL: func.func @lengths(
// CHECK-SAME:    %[[N:[a-z0-9]*]]: tensor<1xi32>)
// CHECK:         linalg.fill ins(%{{.*}} : f64) {{.*}} -> tensor<1x1x7x3xf64>
// CHECK:         %[[ENTRY:.*]] = tensor.extract %[[N]]
// CHECK:         %[[LOW:.*]] = arith.minsi %{{.*}}, %c7
// CHECK:         %[[LENGTH:.*]] = arith.maxsi %[[LOW]], %c0
// CHECK:         %[[LOOP:.*]]:2 = scf.for %{{.*}} = %c0 to %[[LENGTH]]
// CHECK:           linalg.generic {{.*}} outs(%{{.*}} : tensor<4x3xf64>)
// CHECK:         scf.for %{{.*}} = %[[LENGTH]] to %c7
// CHECK:           linalg.generic {{.*}} ins(%{{.*}}, %[[LOOP]]#0
// CHECK:           arith.divf
func.func @lengths(%q: tensor<1x1x7x4xf32>, %v: tensor<1x1x7x2xf32>,
                   %n: tensor<1xi32>)
    -> (tensor<1x1x7x2xf32>, tensor<1x1x4x3xf32>) {
  %o, %s = attn.linear %q, %q, %v lengths(%n : tensor<1xi32>) normalize(token)
      causal
      : (tensor<1x1x7x4xf32>, tensor<1x1x7x4xf32>, tensor<1x1x7x2xf32>)
      -> (tensor<1x1x7x2xf32>, tensor<1x1x4x3xf32>)
  return %o, %s : tensor<1x1x7x2xf32>, tensor<1x1x4x3xf32>
}

// The rows of a block read the state before it.
// CHECK-LABEL: func.func @block(
// CHECK:         scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK:           scf.for
// CHECK:             linalg.generic {{.*}} ins(%{{.*}}, %[[S]]
// CHECK:           scf.for {{.*}} iter_args(%{{.*}} = %[[S]])
func.func @block(%q: tensor<1x1x7x4xf32>) -> tensor<1x1x7x4xf32> {
  %o = attn.linear %q, %q, %q block(3) causal
      : (tensor<1x1x7x4xf32>, tensor<1x1x7x4xf32>, tensor<1x1x7x4xf32>)
      -> tensor<1x1x7x4xf32>
  return %o : tensor<1x1x7x4xf32>
}

// Heads of value that share one of query and key have states of their own.
// CHECK-LABEL: func.func @grouped_values(
// CHECK:         scf.for %[[H:.*]] = %c0 to %c6
// CHECK:           %[[SHARED:.*]] = arith.divui %[[H]], %c3
// CHECK:           tensor.extract_slice %{{.*}}[0, %[[SHARED]], %{{.*}}, 0] {{.*}} : tensor<1x2x7x4xf64>
// CHECK:           tensor.extract_slice %{{.*}}[0, %[[H]], %{{.*}}, 0] {{.*}} : tensor<1x6x7x5xf64>
func.func @grouped_values(%q: tensor<1x2x7x4xf32>, %v: tensor<1x6x7x5xf32>)
    -> tensor<1x6x7x5xf32> {
  %o = attn.linear %q, %q, %v
      : (tensor<1x2x7x4xf32>, tensor<1x2x7x4xf32>, tensor<1x6x7x5xf32>)
      -> tensor<1x6x7x5xf32>
  return %o : tensor<1x6x7x5xf32>
}

// Packed sequences one after the other, each as if it were alone.
// CHECK-LABEL: func @packed
// CHECK:         %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<1x2x?x4xf32>
// CHECK:         scf.for %[[N:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ALL:.*]] = %[[ZEROS]], %{{.*}} = %{{.*}})
// CHECK:           tensor.extract_slice %{{.*}}[0, 0, %[[FIRST:.*]], 0] [1, 2, %{{.*}}, 4]
// CHECK:           tensor.insert_slice %{{.*}} into %[[ALL]][0, 0, %[[FIRST]], 0]
// CHECK-NOT:     attn.
func.func @packed(%q: tensor<1x2x?x4xf32>, %s: tensor<?xi64>) -> tensor<1x2x?x4xf32> {
  %o = attn.linear %q, %q, %q query_starts(%s : tensor<?xi64>) causal : (tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x?x4xf32>
  return %o : tensor<1x2x?x4xf32>
}
