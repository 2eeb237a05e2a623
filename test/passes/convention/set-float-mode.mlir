// RUN: attn-opt %s --attn-set-float-mode | FileCheck %s

// An entry sets the mode around the call: subnormal numbers are 0, exceptions
// are masked, and rounding is to nearest. The kernel stays a function.
// CHECK: func.func private @f.kernel() attributes {passthrough = ["noinline"]}
func.func private @f.kernel() {
  return
}

// CHECK-LABEL: func.func @f.call
// CHECK-DAG:     %[[MODE:.*]] = llvm.mlir.constant(40896 : i32) : i32
// CHECK-DAG:     %[[BEFORE:.*]] = llvm.alloca
// CHECK:         %[[WANTED:.*]] = llvm.alloca
// CHECK:         llvm.call_intrinsic "llvm.x86.sse.stmxcsr"(%[[BEFORE]])
// CHECK:         llvm.store %[[MODE]], %[[WANTED]]
// CHECK:         llvm.call_intrinsic "llvm.x86.sse.ldmxcsr"(%[[WANTED]])
// CHECK-NEXT:    call @f.kernel
// CHECK-NEXT:    llvm.call_intrinsic "llvm.x86.sse.ldmxcsr"(%[[BEFORE]])
// CHECK-NEXT:    return
func.func @f.call(%args: !llvm.ptr) {
  call @f.kernel() : () -> ()
  return
}

// So does each thread.
// CHECK-LABEL: func.func private @threads
// CHECK:         omp.parallel {
// CHECK:           llvm.call_intrinsic "llvm.x86.sse.stmxcsr"(%[[BEFORE:.*]])
// CHECK:           llvm.call_intrinsic "llvm.x86.sse.ldmxcsr"
// CHECK:           memref.store
// CHECK-NEXT:      llvm.call_intrinsic "llvm.x86.sse.ldmxcsr"(%[[BEFORE]])
// CHECK-NEXT:      omp.terminator
func.func private @threads(%x: f32, %to: memref<f32>) {
  omp.parallel {
    memref.store %x, %to[] : memref<f32>
    omp.terminator
  }
  return
}

// Plans compute with integers.
// CHECK-LABEL: func.func @f.plan
// CHECK-NOT:     mxcsr
// CHECK:         return
func.func @f.plan(%in: !llvm.ptr, %out: !llvm.ptr) -> i64
    attributes {attn.rules = []} {
  %ok = arith.constant 0 : i64
  return %ok : i64
}
