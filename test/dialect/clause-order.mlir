// RUN: attn-opt %s | FileCheck %s
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// Clauses stand in any order, and each operand stays with its clause: types
// that differ and operands of their own would tell. Printed are they in the
// order of the op's description.

// CHECK-LABEL: func @softmax
// CHECK-SAME: %[[SCALE:[^:]*]]: f32, %[[P:[^:]*]]: tensor<2xi32>, %[[PREFIX:[^:]*]]: index, %[[SLOPES:[^:]*]]: tensor<4xf32>, %[[BIAS:[^:]*]]: tensor<7xf32>, %[[MASK:[^:]*]]: tensor<5x7xi1>, %[[N:[^:]*]]: tensor<2xi64>, %[[K0:[^:]*]]: index, %[[SINKS:[^:]*]]: tensor<4xf32>
// CHECK: attn.softmax %{{.*}}, %{{.*}}, %{{.*}} scale(%[[SCALE]] : f32) softcap(3.000000e+01) offset(%[[P]] : tensor<2xi32>) mask(#attn.prefix, #attn.window<left = 3>) prefix(%[[PREFIX]] : index) alibi(%[[SLOPES]] : tensor<4xf32>) bias(%[[BIAS]] : tensor<7xf32>) select(%[[MASK]] : tensor<5x7xi1>) lengths(%[[N]] : tensor<2xi64>) key_offset(%[[K0]] : index) sinks(%[[SINKS]] : tensor<4xf32>) score {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT:   %[[Y:.*]] = arith.negf %[[S]] : f32
// CHECK-NEXT:   attn.yield %[[Y]] : f32
// CHECK-NEXT: } keep {
// CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:   %[[KEPT:.*]] = arith.cmpi ne, %[[I]], %[[J]] : index
// CHECK-NEXT:   attn.yield %[[KEPT]] : i1
// CHECK-NEXT: } {test.note = "kept"} : (
func.func @softmax(%scale: f32, %p: tensor<2xi32>, %prefix: index,
                   %slopes: tensor<4xf32>, %bias: tensor<7xf32>,
                   %mask: tensor<5x7xi1>, %n: tensor<2xi64>, %k0: index,
                   %sinks: tensor<4xf32>, %q: tensor<2x4x5x8xf32>,
                   %k: tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32> {
  %o = attn.softmax %q, %k, %k
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %kept = arith.cmpi ne, %i, %j : index
        attn.yield %kept : i1
      }
      sinks(%sinks : tensor<4xf32>) key_offset(%k0 : index)
      lengths(%n : tensor<2xi64>) select(%mask : tensor<5x7xi1>)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %y = arith.negf %s : f32
        attn.yield %y : f32
      }
      bias(%bias : tensor<7xf32>) alibi(%slopes : tensor<4xf32>)
      prefix(%prefix : index) mask(#attn.prefix, #attn.window<left = 3>)
      offset(%p : tensor<2xi32>) softcap(30.0) scale(%scale : f32)
      {test.note = "kept"}
      : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x8xf32>)
      -> tensor<2x4x5x8xf32>
  return %o : tensor<2x4x5x8xf32>
}

// CHECK-LABEL: func @gqa
// CHECK-SAME: %[[QS:[^:]*]]: tensor<?xi32>, %[[KS:[^:]*]]: tensor<?xi64>
// CHECK: attn.gqa %{{.*}}, %{{.*}}, %{{.*}} softcap(%{{.*}} : f32) align(bottom_right) mask(#attn.causal) query_starts(%[[QS]] : tensor<?xi32>) key_starts(%[[KS]] : tensor<?xi64>) : ({{.*}}) -> (tensor<1x4x?x8xf32>, tensor<1x4x?xf32>)
func.func @gqa(%qs: tensor<?xi32>, %ks: tensor<?xi64>, %c: f32,
               %q: tensor<1x4x?x8xf32>, %k: tensor<1x2x?x8xf32>)
    -> (tensor<1x4x?x8xf32>, tensor<1x4x?xf32>) {
  %o, %lse = attn.gqa %q, %k, %k key_starts(%ks : tensor<?xi64>)
      mask(#attn.causal) softcap(%c : f32) query_starts(%qs : tensor<?xi32>)
      align(bottom_right)
      : (tensor<1x4x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>)
      -> (tensor<1x4x?x8xf32>, tensor<1x4x?xf32>)
  return %o, %lse : tensor<1x4x?x8xf32>, tensor<1x4x?xf32>
}

// CHECK-LABEL: func @linear
// CHECK-SAME: %[[G:[^:]*]]: tensor<1x2x3xf32>, %[[A:[^:]*]]: tensor<1x2x3x4xf32>, %[[B:[^:]*]]: tensor<1x2x3x4xf32>, %[[S:[^:]*]]: tensor<1x2x4x6xf32>, %[[N:[^:]*]]: tensor<1xi32>
// CHECK: attn.linear %{{.*}}, %{{.*}}, %{{.*}} scale(5.000000e-01) decay(%[[G]] : tensor<1x2x3xf32>) transition(%[[A]], %[[B]] : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) state(%[[S]] : tensor<1x2x4x6xf32>) lengths(%[[N]] : tensor<1xi32>) feature(#attn.elu1, #attn.relu) normalize(token) causal :
// CHECK: attn.linear %{{.*}}, %{{.*}}, %{{.*}} block(2) causal :
func.func @linear(%g: tensor<1x2x3xf32>, %a: tensor<1x2x3x4xf32>,
                  %b: tensor<1x2x3x4xf32>, %s: tensor<1x2x4x6xf32>,
                  %n: tensor<1xi32>, %q: tensor<1x2x3x4xf32>,
                  %v: tensor<1x2x3x5xf32>)
    -> (tensor<1x2x3x5xf32>, tensor<1x2x4x6xf32>, tensor<1x2x3x5xf32>) {
  %o, %s1 = attn.linear %q, %q, %v causal normalize(token)
      feature(#attn.elu1, #attn.relu) lengths(%n : tensor<1xi32>)
      state(%s : tensor<1x2x4x6xf32>)
      transition(%a, %b : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>)
      decay(%g : tensor<1x2x3xf32>) scale(0.5)
      : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x5xf32>)
      -> (tensor<1x2x3x5xf32>, tensor<1x2x4x6xf32>)
  %p = attn.linear %q, %q, %v causal block(2)
      : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x5xf32>)
      -> tensor<1x2x3x5xf32>
  return %o, %s1, %p
      : tensor<1x2x3x5xf32>, tensor<1x2x4x6xf32>, tensor<1x2x3x5xf32>
}

// CHECK-LABEL: func @features
// CHECK: attn.random_features seed(7) orthogonal norms(sqrt_d) : tensor<32x8xf32>
// CHECK: attn.feature_map %{{.*}} feature(#attn.positive) projection(%{{.*}} : tensor<32x8xf32>) scale(5.000000e-01) log :
// CHECK: attn.feature_map %{{.*}} scale(2.000000e+00) map {
// CHECK: attn.favor %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} kind(relu) scale(5.000000e-01) eps(1.000000e-03) lengths(%{{.*}} : tensor<1xi64>) causal :
func.func @features(%x: tensor<1x2x?x8xf32>, %n: tensor<1xi64>)
    -> (tensor<1x2x?x32xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) {
  %w = attn.random_features norms(sqrt_d) orthogonal seed(7) : tensor<32x8xf32>
  %f = attn.feature_map %x log scale(0.5) projection(%w : tensor<32x8xf32>)
      feature(#attn.positive) : tensor<1x2x?x8xf32> -> tensor<1x2x?x32xf32>
  %m = attn.feature_map %x map {
  ^bb0(%e: f32):
    attn.yield %e : f32
  } scale(2.0) : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  %o = attn.favor %x, %x, %x, %w causal lengths(%n : tensor<1xi64>) eps(1.0e-3)
      scale(0.5) kind(relu)
      : (tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>,
         tensor<32x8xf32>) -> tensor<1x2x?x8xf32>
  return %f, %m, %o
      : tensor<1x2x?x32xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
}

// An attribute in braces is another way to write a clause that holds one.
// CHECK-LABEL: func @as_attributes
// CHECK: attn.softmax %{{.*}}, %{{.*}}, %{{.*}} scale(2.500000e-01) : (
func.func @as_attributes(%q: tensor<1x1x2x3xf32>) -> tensor<1x1x2x3xf32> {
  %o = attn.softmax %q, %q, %q {scale = 0.25}
      : (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
      -> tensor<1x1x2x3xf32>
  return %o : tensor<1x1x2x3xf32>
}
