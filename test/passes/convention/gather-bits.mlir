// RUN: attn-opt %s --attn-gather-bits | FileCheck %s

// CHECK-LABEL: llvm.func @narrow_floats
// CHECK-SAME:    %[[P:.*]]: vector<8x!llvm.ptr>, %[[M:.*]]: vector<8xi1>, %[[R:.*]]: vector<8xbf16>)
// CHECK:         %[[REST:.*]] = llvm.bitcast %[[R]] : vector<8xbf16> to vector<8xi16>
// CHECK:         %[[BITS:.*]] = llvm.intr.masked.gather %[[P]], %[[M]], %[[REST]] {alignment = 2 : i32} {{.*}} -> vector<8xi16>
// CHECK:         llvm.bitcast %[[BITS]] : vector<8xi16> to vector<8xbf16>
// CHECK:         %[[HALVES:.*]] = llvm.intr.masked.gather %[[P]], %[[M]] {alignment = 2 : i32} {{.*}} -> vector<8xi16>
// CHECK:         llvm.bitcast %[[HALVES]] : vector<8xi16> to vector<8xf16>
llvm.func @narrow_floats(%p: vector<8x!llvm.ptr>, %m: vector<8xi1>, %r: vector<8xbf16>) -> !llvm.struct<(vector<8xbf16>, vector<8xf16>)> {
  %x = llvm.intr.masked.gather %p, %m, %r {alignment = 2 : i32} : (vector<8x!llvm.ptr>, vector<8xi1>, vector<8xbf16>) -> vector<8xbf16>
  %y = llvm.intr.masked.gather %p, %m {alignment = 2 : i32} : (vector<8x!llvm.ptr>, vector<8xi1>) -> vector<8xf16>
  %none = llvm.mlir.poison : !llvm.struct<(vector<8xbf16>, vector<8xf16>)>
  %a = llvm.insertvalue %x, %none[0] : !llvm.struct<(vector<8xbf16>, vector<8xf16>)>
  %b = llvm.insertvalue %y, %a[1] : !llvm.struct<(vector<8xbf16>, vector<8xf16>)>
  llvm.return %b : !llvm.struct<(vector<8xbf16>, vector<8xf16>)>
}

// CHECK-LABEL: llvm.func @others
// CHECK-NOT:     llvm.bitcast
// CHECK:         llvm.return
llvm.func @others(%p: vector<8x!llvm.ptr>, %m: vector<8xi1>) -> vector<8xf32> {
  %x = llvm.intr.masked.gather %p, %m {alignment = 4 : i32} : (vector<8x!llvm.ptr>, vector<8xi1>) -> vector<8xf32>
  llvm.return %x : vector<8xf32>
}
