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
