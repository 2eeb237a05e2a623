// RUN: attn-opt %s --attn-call-open-mp | FileCheck %s

// The library is declared once, and is asked where the program asks.

// CHECK-DAG:   llvm.func @omp_get_max_threads() -> i32
// CHECK-LABEL: func @asks_twice
// CHECK:         %[[FIRST:.*]] = llvm.call @omp_get_max_threads() : () -> i32
// CHECK:         %[[A:.*]] = arith.index_cast %[[FIRST]] : i32 to index
// CHECK:         %[[SECOND:.*]] = llvm.call @omp_get_max_threads() : () -> i32
// CHECK:         %[[B:.*]] = arith.index_cast %[[SECOND]] : i32 to index
// CHECK:         return %[[A]], %[[B]]
func.func @asks_twice() -> (index, index) {
  %a = attn.num_workers
  %b = attn.num_workers
  return %a, %b : index, index
}

// CHECK-LABEL: func @does_not_ask
// CHECK-NOT:     llvm.call
// CHECK-NOT:   llvm.func
func.func @does_not_ask() {
  return
}
