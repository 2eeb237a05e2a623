// RUN: attn-opt %s --attn-call-math-library | FileCheck %s

// CHECK-DAG: func.func private @erf(f64) -> f64
// CHECK-DAG: func.func private @log1pf(f32) -> f32

// CHECK-LABEL: func.func @calls(
// CHECK-SAME:    %[[X:.*]]: f64, %[[Y:.*]]: f32)
// CHECK:         call @erf(%[[X]])
// CHECK:         call @log1pf(%[[Y]])
// CHECK-NOT:     call
// CHECK:         math.exp
func.func @calls(%x: f64, %y: f32) -> (f64, f32, f64) {
  %0 = math.erf %x : f64
  %1 = math.log1p %y : f32
  %2 = math.exp %x : f64
  return %0, %1, %2 : f64, f32, f64
}

// Both factors grow or both shrink, and each has an exponent that f64 holds.
// CHECK-LABEL: func.func @integer_power(
// CHECK-SAME:    %[[X:.*]]: f32, %[[N:.*]]: i64)
// CHECK:         %[[BASE:.*]] = arith.extf %[[X]] : f32 to f64
// CHECK:         %[[LOW:.*]] = arith.remsi %[[N]]
// CHECK:         %[[HIGH:.*]] = arith.subi %[[N]], %[[LOW]]
// CHECK-COUNT-2: math.powf %[[BASE]]
// CHECK:         arith.mulf
// CHECK:         arith.truncf
func.func @integer_power(%x: f32, %n: i64) -> f32 {
  %0 = math.fpowi %x, %n : f32, i64
  return %0 : f32
}
