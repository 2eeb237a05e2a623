// RUN: attn-opt %s --attn-parallelize-tiles | FileCheck %s

// CHECK-LABEL: func @has_one_buffer_per_thread
// CHECK:         omp.parallel {
// CHECK:           %[[SCRATCH:.*]] = memref.alloc(%[[N:.*]]) : memref<?xf32>
// CHECK-NEXT:      omp.wsloop schedule(guided) {
// CHECK:             omp.loop_nest (%[[I:.*]], %[[J:.*]]) : index = {{.*}} collapse(2)
// CHECK-NOT:           memref.alloc
// CHECK:               memref.store %{{.*}}, %[[SCRATCH]][%[[J]]]
// CHECK-NOT:           memref.dealloc
// CHECK:               omp.yield
// CHECK:           memref.dealloc %[[SCRATCH]]
// CHECK-NEXT:      omp.terminator
func.func @has_one_buffer_per_thread(%n: index, %x: f32) {
  scf.forall (%i, %j) in (%n, 4) {
    %scratch = memref.alloc(%n) : memref<?xf32>
    memref.store %x, %scratch[%j] : memref<?xf32>
    memref.dealloc %scratch : memref<?xf32>
  }
  return
}

// CHECK-LABEL: func @allocates_before_a_sequential_loop
// CHECK:         memref.alloc
// CHECK:         scf.for
// CHECK-NOT:       memref.alloc
func.func @allocates_before_a_sequential_loop(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %scratch = memref.alloc() : memref<8xf32>
    memref.store %x, %scratch[%c0] : memref<8xf32>
  }
  return
}
