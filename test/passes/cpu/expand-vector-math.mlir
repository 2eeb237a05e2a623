// RUN: attn-opt %s --split-input-file --attn-expand-vector-math | FileCheck %s

// CHECK-LABEL: func @calls_no_library
// CHECK-NOT:     math.{{exp|exp2|tanh|log}}
// CHECK:         math.fma
// CHECK-NOT:     math.{{exp|exp2|tanh|log}}
// CHECK:         return
module attributes {attn.target = "cpu:avx2"} {
  func.func @calls_no_library(%x: vector<8xf32>, %y: f32) -> (vector<8xf32>, f32) {
    %0 = math.exp %x : vector<8xf32>
    %1 = math.exp2 %0 : vector<8xf32>
    %2 = math.tanh %1 : vector<8xf32>
    %3 = math.log %y : f32
    return %2, %3 : vector<8xf32>, f32
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

// The reference computes in f64, which has no vector code here.

// CHECK-LABEL: func @leaves_f64
// CHECK:         math.exp
module attributes {attn.target = "cpu:avx2"} {
  func.func @leaves_f64(%x: f64) -> f64 {
    %0 = math.exp %x : f64
    return %0 : f64
  }
}
