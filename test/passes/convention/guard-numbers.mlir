// RUN: attn-opt %s --attn-guard-numbers | FileCheck %s

// What a tensor holds, no plan can look at: a softcap that is not a normal number
// above 0, or whose reciprocal is not, is NaN.
// CHECK-LABEL: func.func @element(
// CHECK:         %[[C:.*]] = tensor.extract
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant 1.17549435E-38 : f32
// CHECK-DAG:     %[[MOST:.*]] = arith.constant 8.50705917E+37 : f32
// CHECK-DAG:     %[[ABOVE:.*]] = arith.cmpf ole, %[[LEAST]], %[[C]] : f32
// CHECK-DAG:     %[[BELOW:.*]] = arith.cmpf ole, %[[C]], %[[MOST]] : f32
// CHECK:         %[[HOLDS:.*]] = arith.andi %[[ABOVE]], %[[BELOW]]
// CHECK:         %[[SAFE:.*]] = arith.select %[[HOLDS]], %[[C]], %{{.*}} : f32
// CHECK:         attn.softmax {{.*}} softcap(%[[SAFE]] : f32)
func.func @element(%q: tensor<1x1x?x4xf32>, %x: tensor<f32>)
    -> tensor<1x1x?x4xf32> {
  %c = tensor.extract %x[] : tensor<f32>
  %o = attn.softmax %q, %q, %q softcap(%c : f32)
      : (tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>)
      -> tensor<1x1x?x4xf32>
  return %o : tensor<1x1x?x4xf32>
}

// One value may be two numbers, of which each has its own rule. A scale may be
// 0 or negative.
// CHECK-LABEL: func.func @both(
// CHECK:         %[[C:.*]] = tensor.extract
// CHECK:         arith.cmpf ole, %{{.*}}, %[[C]]
// CHECK:         %[[SCALE:.*]] = arith.select %{{.*}}, %[[C]]
// CHECK:         arith.cmpf ole, %{{.*}}, %[[C]]
// CHECK:         %[[CAP:.*]] = arith.select %{{.*}}, %[[C]]
// CHECK:         attn.gqa {{.*}} scale(%[[SCALE]] : f32) softcap(%[[CAP]] : f32)
func.func @both(%q: tensor<1x2x?x4xf32>, %k: tensor<1x1x?x4xf32>,
                %x: tensor<3xf32>) -> tensor<1x2x?x4xf32> {
  %c2 = arith.constant 2 : index
  %c = tensor.extract %x[%c2] : tensor<3xf32>
  %o = attn.gqa %q, %k, %k scale(%c : f32) softcap(%c : f32)
      : (tensor<1x2x?x4xf32>, tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>)
      -> tensor<1x2x?x4xf32>
  return %o : tensor<1x2x?x4xf32>
}

// What follows from the scalars and sizes of a call is the plan's business.
// CHECK-LABEL: func.func @follows_from_the_call(
// CHECK-NOT:     arith.select
// CHECK:         return
func.func @follows_from_the_call(%q: tensor<1x1x?x?xf32>, %c: f32)
    -> tensor<1x1x?x?xf32> {
  %c3 = arith.constant 3 : index
  %d = tensor.dim %q, %c3 : tensor<1x1x?x?xf32>
  %i = arith.index_cast %d : index to i64
  %f = arith.sitofp %i : i64 to f32
  %s = math.rsqrt %f : f32
  %twice = arith.addf %c, %c : f32
  %o = attn.softmax %q, %q, %q scale(%s : f32) softcap(%twice : f32)
      : (tensor<1x1x?x?xf32>, tensor<1x1x?x?xf32>, tensor<1x1x?x?xf32>)
      -> tensor<1x1x?x?xf32>
  return %o : tensor<1x1x?x?xf32>
}
