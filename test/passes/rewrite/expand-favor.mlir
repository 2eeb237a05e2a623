// RUN: attn-opt %s --attn-expand-favor | FileCheck %s
// RUN: attn-opt %s --attn-expand-favor=favor=textbook | FileCheck %s --check-prefix=TEXTBOOK
// RUN: not attn-opt %s --attn-expand-favor=favor=fast 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: attn-expand-favor: favor: expected exact or textbook, got 'fast'

// Over all keys there are two softmaxes, by the rows of W over the keys and by
// the queries over those rows.
// CHECK-LABEL: func @two_softmaxes
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<1x4x?x16xf32>, %[[K:[a-z0-9]+]]: tensor<1x2x?x16xf32>, %[[V:[a-z0-9]+]]: tensor<1x2x?x8xf32>, %[[W:[a-z0-9]+]]: tensor<5x16xf32>, %[[N:[a-z0-9]+]]: tensor<1xi32>
// CHECK:         %[[ROWS:.*]] = linalg.generic {{.*}} ins(%[[W]] : tensor<5x16xf32>) outs(%{{.*}} : tensor<1x2x5x16xf32>)
// CHECK:         %[[NORMS:.*]] = linalg.generic {{.*}} ins(%[[K]] : {{.*}} outs(%{{.*}} : tensor<1x2x?xf32>)
// CHECK:         %[[O:.*]], %[[LSE:.*]] = attn.gqa %[[ROWS]], %[[K]], %[[V]] scale(5.000000e-01) lengths(%[[N]] : tensor<1xi32>) score {
// CHECK-NEXT:    ^bb0(%[[S:.*]]: f32, %[[B:.*]]: index, %[[H:.*]]: index, %{{.*}}: index, %[[J:.*]]: index):
// CHECK:           %[[NORM:.*]] = tensor.extract %[[NORMS]][%[[B]], %{{.*}}, %[[J]]]
// CHECK-NEXT:      arith.addf %[[S]], %[[NORM]]
// CHECK:         attn.gqa %[[Q]], %[[ROWS]], %[[O]] scale(5.000000e-01) score {
// CHECK:           %[[HEAD:.*]] = arith.divui %{{.*}}, %{{.*}}
// CHECK:           tensor.extract %[[LSE]][%{{.*}}, %[[HEAD]], %{{.*}}]
// CHECK-NOT:     attn.favor
//
// The reference code subtracts one maximum of all keys and adds a constant.
// TEXTBOOK-LABEL: func @two_softmaxes
// TEXTBOOK:         linalg.generic {{.*}}["parallel", "parallel", "reduction", "reduction"]
// TEXTBOOK:         %[[EPS:.*]] = arith.constant 9.99999997E-7 : f32
// TEXTBOOK:         attn.linear {{.*}} normalize(token)
func.func @two_softmaxes(%q: tensor<1x4x?x16xf32>, %k: tensor<1x2x?x16xf32>, %v: tensor<1x2x?x8xf32>, %w: tensor<5x16xf32>, %n: tensor<1xi32>) -> tensor<1x4x?x8xf32> {
  %o = attn.favor %q, %k, %v, %w kind(positive) lengths(%n : tensor<1xi32>)
      : (tensor<1x4x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x8xf32>, tensor<5x16xf32>) -> tensor<1x4x?x8xf32>
  return %o : tensor<1x4x?x8xf32>
}

// Causal forms are linear attention with the decay of a running maximum.
// Hyperbolic features are the positive ones of W and -W.
// CHECK-LABEL: func @causal
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<1x2x9x16xbf16>, %[[W:[a-z0-9]+]]: tensor<5x16xf32>
// CHECK:         %[[MINUS:.*]] = linalg.generic {{.*}} ins(%[[W]] :
// CHECK:           arith.negf
// CHECK:         tensor.concat dim(0) %[[W]], %[[MINUS]] : {{.*}} -> tensor<10x16xf32>
// CHECK:         %[[MAX:.*]]:2 = attn.running_max ins(%{{.*}} : tensor<1x2x9x10xf32>)
// CHECK:         %[[FK:.*]] = linalg.generic {{.*}} ins(%[[MAX]]#0 :
// CHECK:           math.exp
// CHECK:         %[[SUMS:.*]] = linalg.generic {{.*}} ins(%[[MAX]]#0 :
// CHECK:         %[[BEST:.*]] = linalg.generic {{.*}} ins(%[[SUMS]] :
// CHECK:           arith.maximumf
// CHECK:         %[[FQ:.*]] = linalg.generic {{.*}} ins(%[[BEST]] :
// CHECK:         attn.linear %[[FQ]], %[[FK]], %[[Q]] decay(%[[MAX]]#1 : tensor<1x2x9x10xf32>) normalize(token) causal
func.func @causal(%q: tensor<1x2x9x16xbf16>, %w: tensor<5x16xf32>) -> tensor<1x2x9x16xbf16> {
  %o = attn.favor %q, %q, %q, %w kind(hyperbolic) causal
      : (tensor<1x2x9x16xbf16>, tensor<1x2x9x16xbf16>, tensor<1x2x9x16xbf16>, tensor<5x16xf32>) -> tensor<1x2x9x16xbf16>
  return %o : tensor<1x2x9x16xbf16>
}

// Cosines and sines share one exponent per key, so that the decay is per token.
// CHECK-LABEL: func @causal_waves
// CHECK:         attn.running_max ins(%{{.*}} : tensor<1x2x9x1xf32>)
// CHECK:         %[[STEP:.*]] = tensor.collapse_shape
// CHECK:         %[[STEP:.*]] = tensor.collapse_shape
// CHECK:         math.cos
// CHECK:         math.sin
// CHECK:         attn.linear {{.*}} decay(%[[STEP]] : tensor<1x2x9xf32>) normalize(token) causal
func.func @causal_waves(%q: tensor<1x2x9x16xf32>, %w: tensor<5x16xf32>) -> tensor<1x2x9x16xf32> {
  %o = attn.favor %q, %q, %q, %w kind(trigonometric) causal
      : (tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<5x16xf32>) -> tensor<1x2x9x16xf32>
  return %o : tensor<1x2x9x16xf32>
}

// CHECK-LABEL: func @relu
// CHECK:         arith.maximumf
// CHECK:         attn.linear %{{.*}}, %{{.*}}, %{{.*}} normalize(token) causal
func.func @relu(%q: tensor<1x2x9x16xf32>, %w: tensor<5x16xf32>) -> tensor<1x2x9x16xf32> {
  %o = attn.favor %q, %q, %q, %w kind(relu) eps(1.0e-3) causal
      : (tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<5x16xf32>) -> tensor<1x2x9x16xf32>
  return %o : tensor<1x2x9x16xf32>
}

// W of more bits than the queries would lose them: all is computed in f32.
// CHECK-LABEL: func @wide_projection
// CHECK:         attn.gqa
// CHECK:         } : (tensor<1x2x5x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
func.func @wide_projection(%q: tensor<1x2x9x16xbf16>, %w: tensor<5x16xf32>) -> tensor<1x2x9x16xbf16> {
  %o = attn.favor %q, %q, %q, %w kind(positive)
      : (tensor<1x2x9x16xbf16>, tensor<1x2x9x16xbf16>, tensor<1x2x9x16xbf16>, tensor<5x16xf32>) -> tensor<1x2x9x16xbf16>
  return %o : tensor<1x2x9x16xbf16>
}

// With eps each logit is the logarithm of a feature plus eps, against the
// largest product of a query with W, or of all keys; 0.25 is e^-1.38629436.
// CHECK-LABEL: func @eps
// CHECK:         linalg.generic {{.*}}["parallel", "parallel", "reduction", "reduction"]
// CHECK:           arith.maximumf
// CHECK:         %[[O:.*]], %[[LSE:.*]] = attn.gqa %{{.*}}, %{{.*}}, %{{.*}} scale(5.000000e-01) score {
// CHECK:           arith.constant -1.38629436 : f32
// CHECK:           math.exp
// CHECK:           %[[LOG:.*]] = math.log
// CHECK-NEXT:      %[[SUM:.*]] = arith.addf %{{.*}}, %[[LOG]]
// CHECK-NEXT:      attn.yield %[[SUM]]
// CHECK:         attn.gqa %{{.*}}, %{{.*}}, %[[O]] scale(5.000000e-01) align(top_left) score {
// CHECK:           math.log
// CHECK:           tensor.extract %[[LSE]]
//
// The published form has the number in place of its own.
// TEXTBOOK-LABEL: func @eps
// TEXTBOOK-NOT:     9.99999997E-7
// TEXTBOOK:         arith.constant 2.500000e-01 : f32
// TEXTBOOK-NOT:     math.log
// TEXTBOOK:         attn.linear {{.*}} normalize(token)
func.func @eps(%q: tensor<1x2x9x16xf32>, %w: tensor<5x16xf32>) -> tensor<1x2x9x16xf32> {
  %o = attn.favor %q, %q, %q, %w kind(positive) eps(0.25)
      : (tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<5x16xf32>) -> tensor<1x2x9x16xf32>
  return %o : tensor<1x2x9x16xf32>
}
