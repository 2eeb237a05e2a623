// RUN: attn-test-opt %s --test-attn-classify --canonicalize --cse --verify-diagnostics | FileCheck %s

// Two compares of corners: (b, h, h, i, i, j, j) are the last seven arguments. A
// range whose end has wrapped may hold anything.
// CHECK-LABEL: func.func @causal.classify(
// CHECK-SAME: %[[ILO:[^:]*]]: index, %[[IHI:[^:]*]]: index, %[[JLO:[^:]*]]: index, %[[JHI:[^:]*]]: index) -> (i1, i1, i1)
// CHECK-DAG: %[[I0:.*]] = arith.index_cast %[[ILO]]
// CHECK-DAG: %[[I1:.*]] = arith.index_cast %[[IHI]]
// CHECK-DAG: %[[J0:.*]] = arith.index_cast %[[JLO]]
// CHECK-DAG: %[[J1:.*]] = arith.index_cast %[[JHI]]
// CHECK-DAG: %[[MIN:.*]] = arith.constant -9223372036854775808 : i64
// CHECK-DAG: %[[MAX:.*]] = arith.constant 9223372036854775807 : i64
// CHECK-DAG: %[[IOK:.*]] = arith.cmpi sle, %[[I0]], %[[I1]] : i64
// CHECK-DAG: %[[IFIRST:.*]] = arith.select %[[IOK]], %[[I0]], %[[MIN]] : i64
// CHECK-DAG: %[[ILAST:.*]] = arith.select %[[IOK]], %[[I1]], %[[MAX]] : i64
// CHECK-DAG: %[[JOK:.*]] = arith.cmpi sle, %[[J0]], %[[J1]] : i64
// CHECK-DAG: %[[JFIRST:.*]] = arith.select %[[JOK]], %[[J0]], %[[MIN]] : i64
// CHECK-DAG: %[[JLAST:.*]] = arith.select %[[JOK]], %[[J1]], %[[MAX]] : i64
// CHECK-DAG: %[[TRUE:.*]] = arith.cmpi sle, %[[JFIRST]], %[[ILAST]] : i64
// CHECK-DAG: %[[FALSE:.*]] = arith.cmpi sgt, %[[JLAST]], %[[IFIRST]] : i64
// CHECK: return %[[TRUE]], %[[FALSE]], %{{.*}} : i1, i1, i1
func.func @causal(%q: tensor<1x1x?x8xf32>) -> tensor<1x1x?x8xf32> {
  %o = attn.softmax %q, %q, %q align(top_left) mask(#attn.causal)
      : (tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>)
      -> tensor<1x1x?x8xf32>
  return %o : tensor<1x1x?x8xf32>
}

// What is the same over a tile is computed as it stands, floats included; the
// index is clamped to the tensor.
// CHECK-LABEL: func.func @uniform.classify(
// CHECK-SAME: %[[N:[^:]*]]: tensor<?xf32>, %[[B:[^:]*]]: index
// CHECK: %[[SIZE:.*]] = tensor.dim %[[N]]
// CHECK: %[[LAST:.*]] = arith.subi %[[SIZE]]
// CHECK: %[[BELOW:.*]] = arith.minsi %[[B]], %[[LAST]]
// CHECK: %[[INDEX:.*]] = arith.maxsi %[[BELOW]]
// CHECK: %[[X:.*]] = tensor.extract %[[N]][%[[INDEX]]]
// CHECK: %[[TRUE:.*]] = arith.cmpf olt, %[[X]]
// CHECK: %[[FALSE:.*]] = arith.xori %[[TRUE]]
// CHECK: return %[[TRUE]], %[[FALSE]]
func.func @uniform(%q: tensor<1x1x?x8xf32>, %n: tensor<?xf32>)
    -> tensor<1x1x?x8xf32> {
  %o = attn.softmax %q, %q, %q
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %x = tensor.extract %n[%b] : tensor<?xf32>
        %one = arith.constant 1.0 : f32
        %p = arith.cmpf olt, %x, %one : f32
        attn.yield %p : i1
      }
      : (tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>)
      -> tensor<1x1x?x8xf32>
  return %o : tensor<1x1x?x8xf32>
}

// A divisor that could be 0 never reaches a division.
// CHECK-LABEL: func.func @divisor.classify(
// CHECK-SAME: %[[N:[^:]*]]: index, %{{[^:]*}}: index
// CHECK: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK: %[[N64:.*]] = arith.index_cast %[[N]]
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %[[N64]], %[[ONE]] : i64
// CHECK: arith.divsi %{{.*}}, %[[SAFE]] : i64
// CHECK-NOT: arith.divsi %{{.*}}, %[[N64]]
// CHECK: return
func.func @divisor(%q: tensor<1x1x?x8xf32>, %n: index)
    -> tensor<1x1x?x8xf32> {
  %o = attn.softmax %q, %q, %q align(top_left)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %x = arith.divsi %i, %n : index
        %y = arith.divsi %j, %n : index
        %p = arith.cmpi eq, %x, %y : index
        attn.yield %p : i1
      }
      : (tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>)
      -> tensor<1x1x?x8xf32>
  return %o : tensor<1x1x?x8xf32>
}

// Where no rule is known, every tile runs with its mask, and the operation to
// blame is named.
// CHECK-LABEL: func.func @unknown.classify(
// CHECK: %[[TRUE:.*]] = arith.constant true
// CHECK: return %[[TRUE]], %[[TRUE]]
func.func @unknown(%q: tensor<1x1x?x8xf32>, %m: tensor<?x?xi1>)
    -> tensor<1x1x?x8xf32> {
  %o = attn.softmax %q, %q, %q align(top_left)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        // expected-remark @below {{cannot be classified}}
        %p = tensor.extract %m[%i, %j] : tensor<?x?xi1>
        attn.yield %p : i1
      }
      : (tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>)
      -> tensor<1x1x?x8xf32>
  return %o : tensor<1x1x?x8xf32>
}

// The rest of such a mask still skips tiles.
// CHECK-LABEL: func.func @unknown_but_causal.classify(
// CHECK: %[[ANY:.*]] = arith.constant true
// CHECK: %[[LAST:.*]] = arith.select %{{.*}}, %{{.*}} : i64
// CHECK: %[[TRUE:.*]] = arith.cmpi sle, %{{.*}}, %[[LAST]] : i64
// CHECK: return %[[TRUE]], %[[ANY]]
func.func @unknown_but_causal(%q: tensor<1x1x?x8xf32>, %m: tensor<?x?xi1>)
    -> tensor<1x1x?x8xf32> {
  %o = attn.softmax %q, %q, %q align(top_left) mask(#attn.causal)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %p = tensor.extract %m[%i, %j] : tensor<?x?xi1>
        attn.yield %p : i1
      }
      : (tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>)
      -> tensor<1x1x?x8xf32>
  return %o : tensor<1x1x?x8xf32>
}
