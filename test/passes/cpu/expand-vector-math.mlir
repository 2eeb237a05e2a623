// RUN: attn-opt %s --split-input-file --attn-expand-vector-math | FileCheck %s

// CHECK-LABEL: func @calls_no_library
// CHECK-NOT:     math.{{exp|exp2|tanh|log}}
// CHECK:         math.fma
// CHECK-NOT:     math.{{exp|exp2|tanh|log}}
// CHECK:         return
module attributes {attn.target = "cpu:avx2"} {
  func.func @calls_no_library(%x: vector<8xf32>, %y: f32, %z: vector<4xf64>)
      -> (vector<8xf32>, f32, vector<4xf64>) {
    %0 = math.exp %x : vector<8xf32>
    %1 = math.exp2 %0 : vector<8xf32>
    %2 = math.tanh %1 : vector<8xf32>
    %3 = math.log %y : f32
    %4 = math.exp %z : vector<4xf64>
    %5 = math.exp2 %4 : vector<4xf64>
    %6 = math.tanh %5 : vector<4xf64>
    %7 = math.log %6 : vector<4xf64>
    return %2, %3, %7 : vector<8xf32>, f32, vector<4xf64>
  }
}

// -----

// CHECK-LABEL: func @multiplies_and_adds_without_fma
// CHECK-NOT:     math.fma
// CHECK:         %[[P:.*]] = arith.mulf %arg0, %arg0
// CHECK:         arith.addf %[[P]], %arg0
module attributes {attn.target = "cpu:generic"} {
  func.func @multiplies_and_adds_without_fma(%x: vector<4xf32>) -> vector<4xf32> {
    %0 = math.fma %x, %x, %x : vector<4xf32>
    return %0 : vector<4xf32>
  }
}

// -----

// The library is called where some element is too large.
// CHECK-LABEL: func @waves
// CHECK-SAME:    %[[X:[a-z0-9]+]]: vector<8xf32>, %[[Y:[a-z0-9]+]]: f64
// CHECK:         %[[LARGE:.*]] = vector.reduction <or>
// CHECK:         scf.if %[[LARGE]]
// CHECK-NEXT:      llvm.intr.sin(%[[X]])
// CHECK:         } else {
// CHECK:           arith.extf
// CHECK:         scf.if
// CHECK-NEXT:      llvm.intr.cos(%[[Y]])
// CHECK-NOT:     math.{{sin|cos}}
module attributes {attn.target = "cpu:avx2"} {
  func.func @waves(%x: vector<8xf32>, %y: f64) -> (vector<8xf32>, f64) {
    %0 = math.sin %x : vector<8xf32>
    %1 = math.cos %y : f64
    return %0, %1 : vector<8xf32>, f64
  }
}

// -----

// What ends in f32 is computed in f64, each operation once; only instructions
// are left.
// CHECK-LABEL: func @by_way_of_f64
// CHECK-NOT:     {{math.[a-eg-rt-z]|math.sinh|call}}
// CHECK:         arith.extf %{{.*}} : vector<8xf32> to vector<8xf64>
// CHECK-NOT:     {{math.[a-eg-rt-z]|math.sinh|call}}
// CHECK:         arith.truncf %{{.*}} : vector<8xf64> to vector<8xf32>
// CHECK-NOT:     {{math.[a-eg-rt-z]|math.sinh|call}}
// CHECK:         math.floor
// CHECK:         return
module attributes {attn.target = "cpu:avx2"} {
  func.func @by_way_of_f64(%x: vector<8xf32>, %n: vector<4xi32>,
                           %y: vector<4xf64>)
      -> (vector<8xf32>, vector<4xf64>) {
    %0 = math.erf %x : vector<8xf32>
    %1 = math.powf %0, %x : vector<8xf32>
    %2 = math.atan2 %1, %x : vector<8xf32>
    %3 = math.log1p %2 : vector<8xf32>
    %4 = math.sinh %3 : vector<8xf32>
    %5 = math.fpowi %y, %n : vector<4xf64>, vector<4xi32>
    %6 = math.cbrt %5 : vector<4xf64>
    %7 = math.acos %6 : vector<4xf64>
    %8 = math.rsqrt %7 : vector<4xf64>
    %9 = math.floor %8 : vector<4xf64>
    return %4, %9 : vector<8xf32>, vector<4xf64>
  }
}

// -----

// Types that regions don't compute in have no vector code here.

// CHECK-LABEL: func @leaves_f80
// CHECK:         math.exp
module attributes {attn.target = "cpu:avx2"} {
  func.func @leaves_f80(%x: f80) -> f80 {
    %0 = math.exp %x : f80
    return %0 : f80
  }
}
