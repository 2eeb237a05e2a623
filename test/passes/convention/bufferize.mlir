// RUN: attn-opt %s --attn-bufferize | FileCheck %s

// Inner stride 1, whatever the outer ones are; rank 0 is plain.
// CHECK-LABEL: func.func @boundary(
// CHECK-SAME:    memref<?x8xf32, strided<[?, 1], offset: ?>>
// CHECK-SAME:    memref<f32>
func.func @boundary(%x: tensor<?x8xf32>, %y: tensor<f32>) {
  return
}

// What a caller passes is not overwritten.
// CHECK-LABEL: func.func @read_only(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32, strided<[1], offset: ?>>
// CHECK:         %[[COPY:.*]] = memref.alloc
// CHECK:         memref.copy %[[X]], %[[COPY]]
// CHECK:         memref.store %{{.*}}, %[[COPY]]
func.func @read_only(%x: tensor<?xf32> {bufferization.writable = false},
                     %i: index, %out: memref<?xf32>) {
  %one = arith.constant 1.0 : f32
  %y = tensor.insert %one into %x[%i] : tensor<?xf32>
  bufferization.materialize_in_destination %y in restrict writable %out
      : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}
