// RUN: attn-opt %s --attn-inline-calls | FileCheck %s

// CHECK-NOT: func.func private
// CHECK-LABEL: func.func @outer(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK:         %[[A:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK:         %[[B:.*]] = arith.mulf %[[A]], %[[A]]
// CHECK:         return %[[B]]
func.func private @square(%x: f32) -> f32 {
  %y = arith.mulf %x, %x : f32
  return %y : f32
}
func.func private @twice(%x: f32) -> f32 {
  %a = call @square(%x) : (f32) -> f32
  %b = call @square(%a) : (f32) -> f32
  return %b : f32
}
func.func @outer(%x: f32) -> f32 {
  %y = call @twice(%x) : (f32) -> f32
  return %y : f32
}
