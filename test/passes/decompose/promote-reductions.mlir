// RUN: attn-opt %s --attn-promote-reductions | FileCheck %s

// CHECK-LABEL: func.func @sum(
// CHECK-SAME:    %[[X:.*]]: memref<?xf64>, %[[N:[^:]*]]: index
// CHECK:         %[[TOTAL:.*]] = memref.alloc()
// CHECK:         %[[INIT:.*]] = memref.load %[[TOTAL]][]
// CHECK:         %[[SUM:.*]] = scf.for %[[I:.*]] = {{.*}} iter_args(%[[CARRIED:.*]] = %[[INIT]])
// CHECK:           %[[READ:.*]] = memref.load %[[X]][%[[I]]]
// CHECK:           %[[NEXT:.*]] = arith.addf %[[CARRIED]], %[[READ]]
// CHECK-NOT:       memref.store
// CHECK:           scf.yield %[[NEXT]]
// CHECK:         memref.store %[[SUM]], %[[TOTAL]][]
func.func @sum(%x: memref<?xf64>, %n: index) -> memref<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %total = memref.alloc() : memref<f64>
  scf.for %i = %c0 to %n step %c1 {
    %read = memref.load %x[%i] : memref<?xf64>
    %sum = memref.load %total[] : memref<f64>
    %next = arith.addf %sum, %read : f64
    memref.store %next, %total[] : memref<f64>
  }
  return %total : memref<f64>
}

// The other load may read the element that is stored.
// CHECK-LABEL: func.func @aliased(
// CHECK-NOT:     iter_args
// CHECK:         return
func.func @aliased(%n: index) -> memref<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = memref.alloc() : memref<8xf64>
  scf.for %i = %c0 to %n step %c1 {
    %read = memref.load %x[%i] : memref<8xf64>
    %sum = memref.load %x[%c0] : memref<8xf64>
    %next = arith.addf %sum, %read : f64
    memref.store %next, %x[%c0] : memref<8xf64>
  }
  return %x : memref<8xf64>
}

// A caller's buffers may overlap.
// CHECK-LABEL: func.func @argument(
// CHECK-NOT:     iter_args
// CHECK:         return
func.func @argument(%x: memref<?xf64>, %total: memref<f64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %read = memref.load %x[%i] : memref<?xf64>
    %sum = memref.load %total[] : memref<f64>
    %next = arith.addf %sum, %read : f64
    memref.store %next, %total[] : memref<f64>
  }
  return
}
