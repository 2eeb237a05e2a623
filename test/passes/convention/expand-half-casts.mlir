// RUN: attn-opt %s --split-input-file --attn-expand-half-casts | FileCheck %s

// CHECK-LABEL: func @calls_no_library
// CHECK-NOT:     {{arith.extf|arith.truncf}}
// CHECK:         arith.bitcast %{{.*}} : vector<4xf16> to vector<4xi16>
// CHECK-NOT:     {{arith.extf|arith.truncf}}
// CHECK:         arith.bitcast %{{.*}} : vector<4xi16> to vector<4xf16>
// CHECK-NOT:     {{arith.extf|arith.truncf}}
// CHECK:         arith.bitcast %{{.*}} : f16 to i16
// CHECK:         arith.extf %{{.*}} : f32 to f64
// CHECK-NOT:     arith.extf
// CHECK:         return
module attributes {attn.target = "cpu:generic"} {
  func.func @calls_no_library(%x: vector<4xf16>, %y: vector<4xf32>, %z: f16)
      -> (vector<4xf32>, vector<4xf16>, f64) {
    %0 = arith.extf %x : vector<4xf16> to vector<4xf32>
    %1 = arith.truncf %y : vector<4xf32> to vector<4xf16>
    %2 = arith.extf %z : f16 to f64
    return %0, %1, %2 : vector<4xf32>, vector<4xf16>, f64
  }
}

// -----

// With F16C only the step from f16 to f64 is two.

// CHECK-LABEL: func @leaves_what_is_an_instruction
// CHECK-SAME:    %[[X:.*]]: vector<8xf16>, %[[Y:.*]]: vector<8xf32>, %[[Z:.*]]: f16)
// CHECK-DAG:     arith.extf %[[X]] : vector<8xf16> to vector<8xf32>
// CHECK-DAG:     arith.truncf %[[Y]] : vector<8xf32> to vector<8xf16>
// CHECK-DAG:     %[[SINGLE:.*]] = arith.extf %[[Z]] : f16 to f32
// CHECK-DAG:     arith.extf %[[SINGLE]] : f32 to f64
module attributes {attn.target = "cpu:avx2"} {
  func.func @leaves_what_is_an_instruction(%x: vector<8xf16>, %y: vector<8xf32>, %z: f16)
      -> (vector<8xf32>, vector<8xf16>, f64) {
    %0 = arith.extf %x : vector<8xf16> to vector<8xf32>
    %1 = arith.truncf %y : vector<8xf32> to vector<8xf16>
    %2 = arith.extf %z : f16 to f64
    return %0, %1, %2 : vector<8xf32>, vector<8xf16>, f64
  }
}

// -----

// Other types have their own ways.

// CHECK-LABEL: func @leaves_bf16
// CHECK:         arith.extf %{{.*}} : bf16 to f32
// CHECK:         arith.truncf %{{.*}} : f64 to f32
module attributes {attn.target = "cpu:generic"} {
  func.func @leaves_bf16(%x: bf16, %y: f64) -> (f32, f32) {
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.truncf %y : f64 to f32
    return %0, %1 : f32, f32
  }
}

// -----

// From bf16 to f64 there are two steps on every target; that to f32 is left to
// the expansion of arith.

// CHECK-LABEL: func @widens_bf16_in_two_steps
// CHECK-SAME:    %[[X:.*]]: bf16, %[[Y:.*]]: bf16)
// CHECK:         %[[SINGLE:.*]] = arith.extf %[[X]] : bf16 to f32
// CHECK:         arith.extf %[[SINGLE]] : f32 to f64
// CHECK:         arith.extf %[[Y]] : bf16 to f32
// CHECK-NOT:     arith.extf
// CHECK:         return
module attributes {attn.target = "cpu:avx2"} {
  func.func @widens_bf16_in_two_steps(%x: bf16, %y: bf16) -> (f64, f32) {
    %0 = arith.extf %x : bf16 to f64
    %1 = arith.extf %y : bf16 to f32
    return %0, %1 : f64, f32
  }
}
