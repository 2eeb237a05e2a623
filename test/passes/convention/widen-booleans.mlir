// RUN: attn-opt %s --attn-widen-booleans | FileCheck %s

// CHECK-LABEL: func.func @mask(
// CHECK-SAME:    %[[M:[^:]*]]: tensor<?xi8>)
// CHECK:         %[[BYTE:.*]] = tensor.extract %[[M]][%{{.*}}] : tensor<?xi8>
// CHECK:         %[[IS_SET:.*]] = arith.cmpi ne, %[[BYTE]], %c0_i8
// CHECK:         attn.yield %[[IS_SET]]
func.func @mask(%q: tensor<1x1x2x4xf32>, %m: tensor<?xi1>)
    -> tensor<1x1x2x4xf32> {
  %o = attn.softmax %q, %q, %q
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %p = tensor.extract %m[%j] : tensor<?xi1>
        attn.yield %p : i1
      }
      : (tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>)
      -> tensor<1x1x2x4xf32>
  return %o : tensor<1x1x2x4xf32>
}

// CHECK-LABEL: func.func @constant(
// CHECK:         arith.constant dense<[1, 0]> : tensor<2xi8>
func.func @constant(%q: tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> {
  %m = arith.constant dense<[true, false]> : tensor<2xi1>
  %o = attn.softmax %q, %q, %q
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %p = tensor.extract %m[%j] : tensor<2xi1>
        attn.yield %p : i1
      }
      : (tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>)
      -> tensor<1x1x2x4xf32>
  return %o : tensor<1x1x2x4xf32>
}

// CHECK-LABEL: func.func @select(
// CHECK-SAME:    %[[M:[^:]*]]: tensor<?xi8>)
// CHECK:         attn.softmax {{.*}} select(%[[M]] : tensor<?xi8>) : (
func.func @select(%q: tensor<1x1x2x4xf32>, %m: tensor<?xi1>)
    -> tensor<1x1x2x4xf32> {
  %o = attn.softmax %q, %q, %q select(%m : tensor<?xi1>)
      : (tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>)
      -> tensor<1x1x2x4xf32>
  return %o : tensor<1x1x2x4xf32>
}

// Elements that linalg reads and makes. A named operation becomes a generic one.
// CHECK-LABEL: func.func @padded(
// CHECK-SAME:    %[[M:[^:]*]]: tensor<4xi8>)
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<2xi8>
// CHECK:         %[[PAD:.*]] = linalg.generic {{.*}} ins(%false : i1) outs(%[[EMPTY]] : tensor<2xi8>)
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: i1, %{{.*}}: i8):
// CHECK-NEXT:      %[[BYTE:.*]] = arith.extui %[[IN]] : i1 to i8
// CHECK-NEXT:      linalg.yield %[[BYTE]]
// CHECK:         %[[WHOLE:.*]] = tensor.concat dim(0) %[[M]], %[[PAD]] : (tensor<4xi8>, tensor<2xi8>) -> tensor<6xi8>
// CHECK:         linalg.generic {{.*}} ins(%[[WHOLE]] : tensor<6xi8>)
// CHECK-NEXT:    ^bb0(%[[ELEMENT:.*]]: i8, %{{.*}}: f32):
// CHECK-NEXT:      %[[ZERO:.*]] = arith.constant 0 : i8
// CHECK-NEXT:      %[[IS_SET:.*]] = arith.cmpi ne, %[[ELEMENT]], %[[ZERO]]
// CHECK-NEXT:      arith.uitofp %[[IS_SET]] : i1 to f32
func.func @padded(%m: tensor<4xi1>) -> tensor<6xf32> {
  %false = arith.constant false
  %empty = tensor.empty() : tensor<2xi1>
  %pad = linalg.fill ins(%false : i1) outs(%empty : tensor<2xi1>)
      -> tensor<2xi1>
  %whole = tensor.concat dim(0) %m, %pad
      : (tensor<4xi1>, tensor<2xi1>) -> tensor<6xi1>
  %init = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%whole : tensor<6xi1>) outs(%init : tensor<6xf32>) {
      ^bb0(%p: i1, %o: f32):
        %x = arith.uitofp %p : i1 to f32
        linalg.yield %x : f32
      } -> tensor<6xf32>
  return %r : tensor<6xf32>
}
