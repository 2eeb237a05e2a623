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

// -----

// From f64 by way of an f32 whose last place is odd where something was lost.

// CHECK-LABEL: func @rounds_f64_once
// CHECK-SAME:    %[[X:.*]]: vector<4xf64>)
// CHECK:         %[[NEAREST:.*]] = arith.truncf %[[X]] : vector<4xf64> to vector<4xf32>
// CHECK:         %[[BACK:.*]] = arith.extf %[[NEAREST]]
// CHECK:         arith.cmpf one, %[[BACK]], %[[X]]
// CHECK:         %[[ODD:.*]] = arith.bitcast %{{.*}} : vector<4xi32> to vector<4xf32>
// CHECK:         arith.truncf %[[ODD]] : vector<4xf32> to vector<4xbf16>
module attributes {attn.target = "cpu:avx2"} {
  func.func @rounds_f64_once(%x: vector<4xf64>) -> vector<4xbf16> {
    %0 = arith.truncf %x : vector<4xf64> to vector<4xbf16>
    return %0 : vector<4xbf16>
  }
}

// -----

// Of an integer that f32 holds nothing is lost; of others, what the upper bits
// do not show is made one bit of them.

// CHECK-LABEL: func @rounds_integers_once
// CHECK-SAME:    %[[X:.*]]: i16, %[[Y:.*]]: i32)
// CHECK:         %[[SINGLE:.*]] = arith.sitofp %[[X]] : i16 to f32
// CHECK:         arith.truncf %[[SINGLE]] : f32 to bf16
// CHECK:         %[[REST:.*]] = arith.andi %[[Y]], %c8191_i32
// CHECK:         %[[UPPER:.*]] = arith.subi %[[Y]], %[[REST]]
// CHECK:         %[[ODD:.*]] = arith.ori %[[UPPER]], %c8192_i32
// CHECK:         arith.uitofp %{{.*}} : i32 to f32
module attributes {attn.target = "cpu:avx2"} {
  func.func @rounds_integers_once(%x: i16, %y: i32) -> (bf16, f16) {
    %0 = arith.sitofp %x : i16 to bf16
    %1 = arith.uitofp %y : i32 to f16
    return %0, %1 : bf16, f16
  }
}
