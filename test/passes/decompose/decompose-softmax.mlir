// RUN: attn-opt %s --attn-decompose-softmax --canonicalize --cse | FileCheck %s

// A masked key is told by its logit, before its value is multiplied.
// CHECK-LABEL: func.func @causal(
// CHECK-SAME:    %[[Q:.*]]: tensor<2x6x?x8xbf16>, %[[K:.*]]: tensor<2x3x?x8xbf16>, %[[V:.*]]: tensor<2x3x?x8xbf16>)
// CHECK:         scf.for %[[B:.*]] = %c0 to %c2
// CHECK:         scf.for %[[H:.*]] = %c0 to %c6
// CHECK:           %[[HKV:.*]] = arith.divui %[[H]], %c2
// CHECK:           tensor.extract_slice %[[Q]][%[[B]], %[[H]], 0, 0]
// CHECK:           tensor.extract_slice %[[K]][%[[B]], %[[HKV]], 0, 0]
// CHECK:           tensor.extract_slice %[[V]][%[[B]], %[[HKV]], 0, 0]
// CHECK:           %[[DOTS:.*]] = linalg.generic
// CHECK:             arith.extf %{{.*}} : bf16 to f64
// CHECK:           %[[LOGITS:.*]] = linalg.generic {{.*}} ins(%[[DOTS]]
// CHECK:             %[[KEEP:.*]] = arith.cmpi sle
// CHECK:             arith.select %[[KEEP]]
// CHECK:           %[[MAX:.*]] = linalg.generic {{.*}} ins(%[[LOGITS]]
// CHECK:             arith.maximumf
// CHECK:           %[[WEIGHTS:.*]] = linalg.generic {{.*}} ins(%[[LOGITS]], %[[MAX]]
// CHECK:             math.exp %{{.*}} : f64
// CHECK:           %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[WEIGHTS]]
// CHECK:           linalg.generic {{.*}} ins(%[[LOGITS]], %[[WEIGHTS]]
// CHECK-NEXT:      ^bb0(%[[LOGIT:.*]]: f64, %[[WEIGHT:.*]]: f64, %[[VALUE:.*]]: bf16,
// CHECK:             %[[MASKED:.*]] = arith.cmpf oeq, %[[LOGIT]]
// CHECK:             %[[PRODUCT:.*]] = arith.mulf %[[WEIGHT]]
// CHECK:             arith.select %[[MASKED]], %{{.*}}, %[[PRODUCT]]
// CHECK:           tensor.insert_slice
// CHECK-NOT:     attn.
func.func @causal(%q: tensor<2x6x?x8xbf16>, %k: tensor<2x3x?x8xbf16>,
                  %v: tensor<2x3x?x8xbf16>) -> tensor<2x6x?x8xbf16> {
  %o = attn.gqa %q, %k, %v align(top_left) mask(#attn.causal)
      : (tensor<2x6x?x8xbf16>, tensor<2x3x?x8xbf16>, tensor<2x3x?x8xbf16>)
      -> tensor<2x6x?x8xbf16>
  return %o : tensor<2x6x?x8xbf16>
}

// The score region of an op in f64 rounds where it says so; its LSE is f64.
// CHECK-LABEL: func.func @rounds_in_between(
// CHECK:         %[[SHORT:.*]] = arith.truncf %{{.*}} : f64 to f32
// CHECK:         %[[TWICE:.*]] = arith.addf %[[SHORT]], %[[SHORT]] : f32
// CHECK:         arith.extf %[[TWICE]] : f32 to f64
// CHECK:         math.log %{{.*}} : f64
// CHECK-NOT:     arith.truncf
func.func @rounds_in_between(%q: tensor<1x1x5x4xf64>)
    -> (tensor<1x1x5x4xf64>, tensor<1x1x5xf64>) {
  %o, %lse = attn.softmax %q, %q, %q
      score {
      ^bb0(%s: f64, %b: index, %h: index, %i: index, %j: index):
        %short = arith.truncf %s : f64 to f32
        %twice = arith.addf %short, %short : f32
        %long = arith.extf %twice : f32 to f64
        attn.yield %long : f64
      }
      : (tensor<1x1x5x4xf64>, tensor<1x1x5x4xf64>, tensor<1x1x5x4xf64>)
      -> (tensor<1x1x5x4xf64>, tensor<1x1x5xf64>)
  return %o, %lse : tensor<1x1x5x4xf64>, tensor<1x1x5xf64>
}

// A score region runs in f64, on an element that is there.
// CHECK-LABEL: func.func @bias(
// CHECK-SAME:    %[[BIAS:[^:]*]]: tensor<7xbf16>
// CHECK:         %[[LOW:.*]] = arith.minsi %{{.*}}, %c6
// CHECK:         %[[INDEX:.*]] = arith.maxsi %[[LOW]], %c0
// CHECK:         %[[READ:.*]] = tensor.extract %[[BIAS]][%[[INDEX]]]
// CHECK:         %[[WIDE:.*]] = arith.extf %[[READ]] : bf16 to f64
// CHECK:         arith.addf %{{.*}}, %[[WIDE]] : f64
func.func @bias(%q: tensor<1x1x5x4xf32>, %bias: tensor<7xbf16>)
    -> tensor<1x1x5x4xf32> {
  %o = attn.softmax %q, %q, %q
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %read = tensor.extract %bias[%j] : tensor<7xbf16>
        %float = arith.extf %read : bf16 to f32
        %biased = arith.addf %s, %float : f32
        attn.yield %biased : f32
      }
      : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>)
      -> tensor<1x1x5x4xf32>
  return %o : tensor<1x1x5x4xf32>
}
