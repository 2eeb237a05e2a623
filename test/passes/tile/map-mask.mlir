// RUN: attn-opt %s --attn-map-mask --canonicalize --cse | FileCheck %s

module attributes {attn.target = "cpu:avx2"} {

// A head of four that share a key head and, with one position each, a tile.
// CHECK-LABEL: func.func @main(
// CHECK:       attn.gqa

// CHECK-LABEL: func.func @main.mask0.elements(
// CHECK-SAME:  %[[D:[^:]*]]: tensor<?xi32>, %[[B:[^:]*]]: index, %[[H:[^:]*]]: index) -> tensor<?x?xi8>
// CHECK-NOT:   attn.gqa
// CHECK:       tensor.generate
// CHECK-NEXT:  ^bb0(%{{.*}}: index, %[[J:.*]]: index):
// CHECK:         %[[USED:.*]] = arith.cmpi slt, %[[J]], %{{.*}}
// CHECK:         arith.minsi
// CHECK:         %[[X:.*]] = tensor.extract %[[D]]
// CHECK:         %[[KEPT:.*]] = arith.cmpi sgt, %[[X]]
// CHECK:         %[[BOTH:.*]] = arith.andi %[[USED]], %[[KEPT]]
// CHECK:         arith.extui %[[BOTH]] : i1 to i8

// The class of a tile comes of tables of the tensor; none is looked at beyond
// the keys in use.
// CHECK-LABEL: func.func @main.mask0.tiles(
// CHECK-NOT:   attn.gqa
// CHECK:       arith.minsi
// CHECK:       tensor.generate
// CHECK:         %[[SEES:.*]] = arith.select %{{.*}}, %{{.*}}, %c0_i8
// CHECK:         %[[INUSE:.*]] = arith.cmpi slt
// CHECK:         arith.select %[[INUSE]], %[[SEES]], %c3_i8

// What belongs to a batch entry is read only if there is one of that number.
// CHECK-LABEL: func.func @main.mask0.sizes(
// CHECK-SAME:  %[[N:[^:]*]]: tensor<?xi64>, %{{[^:]*}}: tensor<?xi32>, %[[B:[^:]*]]: index, %[[H:[^:]*]]: index) -> tensor<12xi64>
// CHECK-DAG:   %[[BIN:.*]] = arith.cmpi ult, %[[B]], %{{.*}}
// CHECK-DAG:   %[[HIN:.*]] = arith.cmpi ult, %[[H]], %c8
// CHECK:       %[[EXISTS:.*]] = arith.andi %[[BIN]], %[[HIN]]
// CHECK-NOT:   tensor.extract
// CHECK:       scf.if %[[EXISTS]]
// CHECK:         tensor.extract %[[N]][%[[B]]]
// CHECK:       tensor.from_elements
func.func @main(%q: tensor<?x8x1x4xf32>, %k: tensor<?x2x?x4xf32>, %n: tensor<?xi64>, %d: tensor<?xi32>)
    -> tensor<?x8x1x4xf32> {
  %o = attn.gqa %q, %k, %k align(bottom_right) lengths(%n : tensor<?xi64>)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %x = tensor.extract %d[%j] : tensor<?xi32>
        %z = arith.constant 0 : i32
        %p = arith.cmpi sgt, %x, %z : i32
        attn.yield %p : i1
      }
      : (tensor<?x8x1x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x1x4xf32>
  return %o : tensor<?x8x1x4xf32>
}

// A second attention has its own, for which the first is not computed.
// CHECK-LABEL: func.func @two.mask1.elements(
// CHECK-NOT:   attn.softmax
// CHECK-LABEL: func.func @two.mask1.tiles(
// CHECK-LABEL: func.func @two.mask0.sizes(
func.func @two(%q: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %a = attn.softmax %q, %q, %q : (tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32>
  %o = attn.softmax %a, %q, %q : (tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32>
  return %o : tensor<1x2x8x4xf32>
}

}
