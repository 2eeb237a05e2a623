// RUN: attn-opt %s --attn-guard-arith | FileCheck %s

// CHECK-LABEL: func.func @division(
// CHECK-SAME:    %[[A:.*]]: i32, %[[B:.*]]: i32)
// CHECK:         %[[IS_ZERO:.*]] = arith.cmpi eq, %[[B]], %c0_i32
// CHECK:         %[[IS_MINUS_ONE:.*]] = arith.cmpi eq, %[[B]], %c-1_i32
// CHECK:         %[[IS_MIN:.*]] = arith.cmpi eq, %[[A]], %c-2147483648_i32
// CHECK:         %[[OVERFLOWS:.*]] = arith.andi %[[IS_MINUS_ONE]], %[[IS_MIN]]
// CHECK:         %[[UNSAFE:.*]] = arith.ori %[[IS_ZERO]], %[[OVERFLOWS]]
// CHECK:         %[[SAFE:.*]] = arith.select %[[UNSAFE]], %c1_i32{{.*}}, %[[B]]
// CHECK:         arith.divsi %[[A]], %[[SAFE]]
func.func @division(%a: i32, %b: i32) -> i32 {
  %r = arith.divsi %a, %b : i32
  return %r : i32
}

// A constant that is neither 0 nor -1 needs nothing.
// CHECK-LABEL: func.func @constant_divisor(
// CHECK-NOT:     arith.select
// CHECK:         arith.remsi
func.func @constant_divisor(%a: index) -> index {
  %c4 = arith.constant 4 : index
  %r = arith.remsi %a, %c4 : index
  return %r : index
}

// CHECK-LABEL: func.func @shift(
// CHECK-SAME:    %[[A:.*]]: i32, %[[N:.*]]: i32)
// CHECK:         %[[INSIDE:.*]] = arith.cmpi ule, %[[N]], %c31_i32
// CHECK:         %[[SAFE:.*]] = arith.select %[[INSIDE]], %[[N]], %c31_i32
// CHECK:         %[[SHIFTED:.*]] = arith.shli %[[A]], %[[SAFE]]
// CHECK:         %[[R:.*]] = arith.select %[[INSIDE]], %[[SHIFTED]], %c0_i32
// CHECK:         return %[[R]]
func.func @shift(%a: i32, %n: i32) -> i32 {
  %r = arith.shli %a, %n overflow<nsw> : i32
  return %r : i32
}

// CHECK-LABEL: func.func @conversion(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK:         %[[BELOW:.*]] = arith.cmpf ole, %[[X]]
// CHECK:         %[[ABOVE:.*]] = arith.cmpf oge, %[[X]]
// CHECK:         arith.fptosi
// CHECK:         %[[LOW:.*]] = arith.select %[[BELOW]], %c-2147483648_i32
// CHECK:         %[[R:.*]] = arith.select %[[ABOVE]], %c2147483647_i32{{.*}}, %[[LOW]]
// CHECK:         return %[[R]]
func.func @conversion(%x: f32) -> i32 {
  %r = arith.fptosi %x : f32 to i32
  return %r : i32
}

// CHECK-LABEL: func.func @flags(
// CHECK-NOT:     fastmath
// CHECK-NOT:     overflow
// CHECK:         return
func.func @flags(%x: f32, %n: i32) -> (f32, i32) {
  %y = arith.addf %x, %x fastmath<nnan> : f32
  %m = arith.addi %n, %n overflow<nsw, nuw> : i32
  return %y, %m : f32, i32
}

// CHECK-LABEL: func.func @narrow(
// CHECK-SAME:    %[[X:.*]]: bf16)
// CHECK-COUNT-2: arith.extf %[[X]] : bf16 to f32
// CHECK:         %[[WIDE:.*]] = arith.mulf %{{.*}} : f32
// CHECK:         %[[R:.*]] = arith.truncf %[[WIDE]] : f32 to bf16
// CHECK:         return %[[R]]
func.func @narrow(%x: bf16) -> bf16 {
  %r = arith.mulf %x, %x : bf16
  return %r : bf16
}

// CHECK-LABEL: func.func @sincos(
// CHECK-DAG:     %[[S:.*]] = math.sin %{{.*}} : f32
// CHECK-DAG:     arith.truncf %[[S]] : f32 to f16
// CHECK-DAG:     %[[C:.*]] = math.cos %{{.*}} : f32
// CHECK-DAG:     arith.truncf %[[C]] : f32 to f16
// CHECK-NOT:     math.sincos
// CHECK:         return
func.func @sincos(%x: f16) -> (f16, f16) {
  %s, %c = math.sincos %x : f16
  return %s, %c : f16, f16
}

// CHECK-LABEL: func.func @clamp(
// CHECK-SAME:    %[[X:.*]]: f32, %[[A:.*]]: f32, %[[B:.*]]: f32)
// CHECK:         %[[MAX:.*]] = arith.maximumf %[[X]], %[[A]]
// CHECK:         %[[R:.*]] = arith.minimumf %[[MAX]], %[[B]]
// CHECK:         return %[[R]]
func.func @clamp(%x: f32, %a: f32, %b: f32) -> f32 {
  %r = math.clampf %x to [%a, %b] : f32
  return %r : f32
}

// The least normal f16, 2^-14, and its infinity, asked of the f16 as an f32.
// CHECK-LABEL: func.func @is_normal(
// CHECK:         arith.constant 0x7C00 : f16
// CHECK:         arith.cmpf olt, {{.*}} : f32
// CHECK:         arith.constant 6.103520e-05 : f16
// CHECK:         arith.cmpf oge, {{.*}} : f32
// CHECK:         arith.andi
// CHECK-NOT:     math.isnormal
// CHECK:         return
func.func @is_normal(%x: f16) -> i1 {
  %r = math.isnormal %x : f16
  return %r : i1
}

// CHECK-LABEL: func.func @is_nan(
// CHECK-SAME:    %[[X:.*]]: f64)
// CHECK:         %[[R:.*]] = arith.cmpf uno, %[[X]], %[[X]]
// CHECK:         return %[[R]]
func.func @is_nan(%x: f64) -> i1 {
  %r = math.isnan %x : f64
  return %r : i1
}

// Casts round once, which by way of f32 they would not.
// CHECK-LABEL: func.func @casts(
// CHECK:         arith.truncf %{{.*}} : f64 to bf16
// CHECK:         arith.sitofp %{{.*}} : i32 to f16
// CHECK:         arith.uitofp %{{.*}} : i64 to bf16
func.func @casts(%x: f64, %n: i32, %m: i64) -> (bf16, f16, bf16) {
  %0 = arith.truncf %x : f64 to bf16
  %1 = arith.sitofp %n : i32 to f16
  %2 = arith.uitofp %m : i64 to bf16
  return %0, %1, %2 : bf16, f16, bf16
}
