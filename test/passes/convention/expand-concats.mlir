// RUN: attn-opt %s --attn-expand-concats --cse | FileCheck %s

// CHECK-LABEL: func.func @two(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<2xf32>, %[[B:[^:]*]]: tensor<3xf32>)
// CHECK:         %[[INIT:.*]] = tensor.empty() : tensor<5xf32>
// CHECK:         %[[PART:.*]] = tensor.insert_slice %[[A]] into %[[INIT]][0] [2] [1]
// CHECK:         %[[WHOLE:.*]] = tensor.insert_slice %[[B]] into %[[PART]][2] [3] [1]
// CHECK:         return %[[WHOLE]]
func.func @two(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<5xf32> {
  %r = tensor.concat dim(0) %a, %b
      : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<4x?xf32>, %[[B:[^:]*]]: tensor<4x?xf32>)
// CHECK-NOT:     tensor.concat
// CHECK:         %[[FIRST:.*]] = tensor.dim %[[A]], %c1
// CHECK:         tensor.insert_slice %[[B]] into %{{.*}}[0, %[[FIRST]]]
func.func @dynamic(%a: tensor<4x?xf32>, %b: tensor<4x?xf32>)
    -> tensor<4x?xf32> {
  %r = tensor.concat dim(1) %a, %b
      : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}
