// RUN: attn-opt %s --attn-add-out-params | FileCheck %s
// RUN: attn-opt %s --attn-add-out-params --attn-bufferize --cse --canonicalize \
// RUN:   | FileCheck %s --check-prefix=BUFFER

// CHECK-LABEL: func.func @filled(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4xf32> {bufferization.writable = false},
// CHECK-SAME:    %[[OUT:.*]]: memref<?x4xf32, strided<[?, 1], offset: ?>>) {
// CHECK:         %[[Y:.*]] = scf.forall
// CHECK:         bufferization.materialize_in_destination %[[Y]] in restrict writable %[[OUT]]
// CHECK-NEXT:    return
// The tiles are computed where the caller wants them.
// BUFFER-LABEL: func.func @filled(
// BUFFER-SAME:    %[[OUT:[^:]*]]: memref<?x4xf32, strided<[?, 1], offset: ?>>) {
// BUFFER-NOT:     memref.alloc
// BUFFER-NOT:     memref.copy
// BUFFER:         memref.subview %[[OUT]]
// BUFFER-NOT:     memref.alloc
// BUFFER-NOT:     memref.copy
// BUFFER:         return
func.func @filled(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %init = tensor.empty(%n) : tensor<?x4xf32>
  %y = scf.forall (%i) in (%n) shared_outs(%out = %init) -> tensor<?x4xf32> {
    %row = tensor.extract_slice %out[%i, 0] [1, 4] [1, 1]
        : tensor<?x4xf32> to tensor<4xf32>
    %ones = linalg.fill ins(%one : f32) outs(%row : tensor<4xf32>)
        -> tensor<4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %ones into %out[%i, 0] [1, 4] [1, 1]
          : tensor<4xf32> into tensor<?x4xf32>
    }
  }
  return %y : tensor<?x4xf32>
}

// An argument is copied, never written; so is what is returned twice.
// BUFFER-LABEL: func.func @copied(
// BUFFER-SAME:    %[[X:.*]]: memref<?xf32, strided<[1], offset: ?>>, %[[A:.*]]: memref<?xf32, strided<[1], offset: ?>>, %[[B:.*]]: memref<?xf32, strided<[1], offset: ?>>
// BUFFER:         memref.copy %[[X]], %[[A]]
// BUFFER:         memref.copy %[[X]], %[[B]]
func.func @copied(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  return %x, %x : tensor<?xf32>, tensor<?xf32>
}

// Rank 0 has no layout.
// CHECK-LABEL: func.func @constant(
// CHECK-SAME:    memref<f32>)
func.func @constant() -> tensor<f32> {
  %x = arith.constant dense<1.0> : tensor<f32>
  return %x : tensor<f32>
}
