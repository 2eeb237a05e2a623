// RUN: attn-opt %s --attn-expand-copies --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @strided(
// CHECK-SAME:    %[[A:.*]]: memref<?xf32, {{.*}}>, %[[B:.*]]: memref<?xf32>)
// CHECK-NOT:     memref.copy
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[X:.*]] = memref.load %[[A]][%[[I]]]
// CHECK:           memref.store %[[X]], %[[B]][%[[I]]]
func.func @strided(%a: memref<?xf32, strided<[1], offset: ?>>,
                   %b: memref<?xf32>) {
  memref.copy %a, %b
      : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32>
  return
}

// One memcpy.
// CHECK-LABEL: func.func @plain(
// CHECK:         memref.copy
func.func @plain(%a: memref<?x4xf32>, %b: memref<?x4xf32>) {
  memref.copy %a, %b : memref<?x4xf32> to memref<?x4xf32>
  return
}
