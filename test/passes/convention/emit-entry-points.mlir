// RUN: attn-opt %s --attn-emit-entry-points | FileCheck %s

// CHECK: func.func private @f.kernel(
// CHECK: func.func @f.call(%[[ARGS:.*]]: !llvm.ptr) {
// CHECK:   %[[X_AT:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK:   %[[DESCRIPTOR:.*]] = llvm.load %[[X_AT]] : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
// CHECK:   %[[X:.*]] = builtin.unrealized_conversion_cast %[[DESCRIPTOR]]
// CHECK:   %[[N:.*]] = builtin.unrealized_conversion_cast %{{.*}} : i64 to index
// CHECK:   %[[S:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK:   call @f.kernel(%[[X]], %[[N]], %[[S]])
func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>, %n: index, %s: f32) {
  return
}

// A plan is called as it is.
// CHECK: func.func @f.plan(
// CHECK-NOT: @f.plan.call
func.func @f.plan(%in: !llvm.ptr, %out: !llvm.ptr) -> i64
    attributes {attn.rules = []} {
  %ok = arith.constant 0 : i64
  return %ok : i64
}
