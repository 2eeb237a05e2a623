// RUN: attn-opt %s --pass-pipeline='builtin.module(func.func(attn-expand-clauses))' | FileCheck %s

// Slopes are read by head, bias by row and key; without align or offset a
// position is a row.
// CHECK-LABEL: func @alibi_and_bias
// CHECK-SAME: %[[SLOPES:[^:]*]]: tensor<?xbf16>, %[[BIAS:[^:]*]]: tensor<4x1x?xf32>
// CHECK: attn.softmax %{{.*}}, %{{.*}}, %{{.*}} align(top_left) score {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %{{.*}}: index, %[[H:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:   %[[NARROW:.*]] = tensor.extract %[[SLOPES]][%[[H]]]
// CHECK-NEXT:   %[[SLOPE:.*]] = arith.extf %[[NARROW]] : bf16 to f32
// CHECK-NEXT:   %[[D:.*]] = arith.subi %[[J]], %[[I]]
// CHECK-NEXT:   %[[INT:.*]] = arith.index_cast %[[D]] : index to i64
// CHECK-NEXT:   %[[FLOAT:.*]] = arith.sitofp %[[INT]] : i64 to f32
// CHECK-NEXT:   %[[TERM:.*]] = arith.mulf %[[SLOPE]], %[[FLOAT]]
// CHECK-NEXT:   %[[S4:.*]] = arith.addf %[[S]], %[[TERM]]
// CHECK-NEXT:   %[[ZERO:.*]] = arith.constant 0
// CHECK-NEXT:   %[[B:.*]] = tensor.extract %[[BIAS]][%[[H]], %[[ZERO]], %[[J]]]
// CHECK-NEXT:   %[[S5:.*]] = arith.addf %[[S4]], %[[B]]
// CHECK-NEXT:   attn.yield %[[S5]] : f32
// CHECK-NEXT: } : (
func.func @alibi_and_bias(%slopes: tensor<?xbf16>, %bias: tensor<4x1x?xf32>,
                          %q: tensor<2x4x?x8xbf16>) -> tensor<2x4x?x8xbf16> {
  %o = attn.softmax %q, %q, %q align(top_left) alibi(%slopes : tensor<?xbf16>)
      bias(%bias : tensor<4x1x?xf32>)
      : (tensor<2x4x?x8xbf16>, tensor<2x4x?x8xbf16>, tensor<2x4x?x8xbf16>)
      -> tensor<2x4x?x8xbf16>
  return %o : tensor<2x4x?x8xbf16>
}

// A softcap that is a value comes before the score region.
// CHECK-LABEL: func @softcap_value
// CHECK-SAME: %[[C:[^:]*]]: f32
// CHECK: attn.softmax %{{.*}}, %{{.*}}, %{{.*}} score {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT:   %[[RATIO:.*]] = arith.divf %[[S]], %[[C]]
// CHECK-NEXT:   %[[TANH:.*]] = math.tanh %[[RATIO]]
// CHECK-NEXT:   %[[CAPPED:.*]] = arith.mulf %[[C]], %[[TANH]]
// CHECK-NEXT:   %[[DOUBLED:.*]] = arith.addf %[[CAPPED]], %[[CAPPED]]
// CHECK-NEXT:   attn.yield %[[DOUBLED]] : f32
func.func @softcap_value(%c: f32, %q: tensor<1x1x4x8xf32>)
    -> tensor<1x1x4x8xf32> {
  %o = attn.softmax %q, %q, %q softcap(%c : f32) score {
    ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
      %t = arith.addf %s, %s : f32
      attn.yield %t : f32
    } : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      -> tensor<1x1x4x8xf32>
  return %o : tensor<1x1x4x8xf32>
}

// Rows are positions less the offset, which follows the length in use; keys are
// positions less the key offset. The keep region stays beside select.
// CHECK-LABEL: func @select_by_rows
// CHECK-SAME: %[[M:[^:]*]]: tensor<?x?x?xi8>, %[[N:[^:]*]]: tensor<?xi32>, %[[K0:[^:]*]]: index, %[[Q:[^:]*]]: tensor<?x2x?x8xf32>, %[[K:[^:]*]]: tensor<?x2x?x8xf32>
// CHECK: %[[SQ:.*]] = tensor.dim %[[Q]], %{{.*}}
// CHECK: %[[SKV:.*]] = tensor.dim %[[K]], %{{.*}}
// CHECK: attn.softmax %{{.*}} align(bottom_right) lengths(%[[N]] : tensor<?xi32>) key_offset(%[[K0]] : index) keep {
// CHECK-NEXT: ^bb0(%[[B:.*]]: index, %[[H:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:   %[[ZERO:.*]] = arith.constant 0
// CHECK-NEXT:   %[[ENTRY:.*]] = tensor.extract %[[N]][%[[B]]]
// CHECK-NEXT:   %[[LENGTH:.*]] = arith.index_cast %[[ENTRY]]
// CHECK-NEXT:   %[[LOW:.*]] = arith.minsi %[[LENGTH]], %[[SKV]]
// CHECK-NEXT:   %[[CLAMPED:.*]] = arith.maxsi %[[LOW]], %[[ZERO]]
// CHECK-NEXT:   %[[OFFSET:.*]] = arith.subi %[[CLAMPED]], %[[SQ]]
// CHECK-NEXT:   %[[R:.*]] = arith.subi %[[I]], %[[OFFSET]]
// CHECK-NEXT:   %[[T:.*]] = arith.subi %[[J]], %[[K0]]
// CHECK-NEXT:   %[[BYTE:.*]] = tensor.extract %[[M]][%[[H]], %[[R]], %[[T]]]
// CHECK-NEXT:   %[[NONE:.*]] = arith.constant 0 : i8
// CHECK-NEXT:   %[[SELECTED:.*]] = arith.cmpi ne, %[[BYTE]], %[[NONE]]
// CHECK-NEXT:   %[[OTHER:.*]] = arith.cmpi ne, %[[I]], %[[J]]
// CHECK-NEXT:   %[[KEEP:.*]] = arith.andi %[[SELECTED]], %[[OTHER]]
// CHECK-NEXT:   attn.yield %[[KEEP]] : i1
func.func @select_by_rows(%m: tensor<?x?x?xi8>, %n: tensor<?xi32>, %k0: index,
                          %q: tensor<?x2x?x8xf32>, %k: tensor<?x2x?x8xf32>)
    -> tensor<?x2x?x8xf32> {
  %o = attn.softmax %q, %k, %k align(bottom_right)
      select(%m : tensor<?x?x?xi8>) lengths(%n : tensor<?xi32>)
      key_offset(%k0 : index) keep {
    ^bb0(%b: index, %h: index, %i: index, %j: index):
      %other = arith.cmpi ne, %i, %j : index
      attn.yield %other : i1
    } : (tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>)
      -> tensor<?x2x?x8xf32>
  return %o : tensor<?x2x?x8xf32>
}

// What is no matter of single logits stays a clause.
// CHECK-LABEL: func @others_stay
// CHECK: attn.softmax %{{.*}}, %{{.*}}, %{{.*}} scale(%{{.*}} : f32) softcap(2.000000e+00) align(top_left) mask(#attn.prefix) prefix(%{{.*}} : index) sinks(%{{.*}} : tensor<1xf32>) : (
func.func @others_stay(%s: f32, %n: index, %sinks: tensor<1xf32>,
                       %q: tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32> {
  %o = attn.softmax %q, %q, %q scale(%s : f32) softcap(2.0) align(top_left)
      mask(#attn.prefix) prefix(%n : index) sinks(%sinks : tensor<1xf32>)
      : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      -> tensor<1x1x4x8xf32>
  return %o : tensor<1x1x4x8xf32>
}
