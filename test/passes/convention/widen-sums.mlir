// RUN: attn-opt %s --split-input-file --attn-widen-sums | FileCheck %s
// RUN: attn-opt %s --split-input-file --attn-widen-sums=all | FileCheck %s --check-prefix=ALL

// A sum of bf16 is one of f32, which is rounded once. What rounds the sum in
// each step is left out.
// CHECK-LABEL: func.func @sum_of_bf16(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xbf16>, %[[Y:.*]]: tensor<?xbf16>)
// CHECK:         %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<?xbf16>)
// CHECK:           arith.extf {{.*}} : bf16 to f32
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}}"parallel", "reduction"{{.*}} ins(%[[X]] : tensor<?x?xbf16>) outs(%[[WIDE]] : tensor<?xf32>)
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: bf16, %[[ACC:.*]]: f32):
// CHECK-NEXT:      %[[TERM:.*]] = arith.extf %[[IN]] : bf16 to f32
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addf %[[TERM]], %[[ACC]] : f32
// CHECK-NEXT:      linalg.yield %[[NEXT]] : f32
// CHECK:         %[[RESULT:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<?xf32>) outs(%[[Y]] : tensor<?xbf16>)
// CHECK:           arith.truncf {{.*}} : f32 to bf16
// CHECK:         return %[[RESULT]]
// ALL-LABEL: func.func @sum_of_bf16(
// ALL:         arith.addf {{.*}} : f64
func.func @sum_of_bf16(%x: tensor<?x?xbf16>, %y: tensor<?xbf16>)
    -> tensor<?xbf16> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xbf16>) outs(%y : tensor<?xbf16>) {
  ^bb0(%in: bf16, %acc: bf16):
    %a = arith.extf %in : bf16 to f32
    %b = arith.extf %acc : bf16 to f32
    %s = arith.addf %a, %b : f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?xbf16>
  return %r : tensor<?xbf16>
}

// -----

// The kernel of a product has a wide sum by itself, but not on the reference
// device, where those of f32 are of f64, too.
// CHECK-LABEL: func.func @products(
// CHECK-COUNT-2: linalg.matmul
// ALL-LABEL: func.func @products(
// ALL-NOT:     linalg.matmul
// ALL:         arith.mulf {{.*}} : f64
// ALL:         arith.addf {{.*}} : f64
// ALL-NOT:     linalg.matmul
// ALL:         arith.mulf {{.*}} : f64
// ALL:         arith.addf {{.*}} : f64
func.func @products(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>,
                    %c: tensor<?x?xbf16>, %d: tensor<?x?xf32>)
    -> (tensor<?x?xbf16>, tensor<?x?xf32>) {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>)
      outs(%c : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  %s = linalg.matmul ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>)
      outs(%d : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r, %s : tensor<?x?xbf16>, tensor<?x?xf32>
}

// -----

// A sum over two dimensions has no such kernel; its number is widened, not a
// tensor of it. Products written in the type of the sum are not rounded.
// CHECK-LABEL: func.func @two_dimensions(
// CHECK:         %[[FILLED:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<4x5xf32>)
// CHECK:         linalg.generic {{.*}} outs(%[[FILLED]] : tensor<4x5xf32>)
// CHECK:           arith.mulf {{.*}} : f32
// CHECK-NEXT:      arith.addf {{.*}} : f32
// CHECK-NEXT:      linalg.yield
func.func @two_dimensions(%a: tensor<4x3x2xf16>, %b: tensor<3x2x5xf16>)
    -> tensor<4x5xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<4x5xf16>
  %init = linalg.fill ins(%zero : f16) outs(%empty : tensor<4x5xf16>)
      -> tensor<4x5xf16>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j, k, l) -> (i, k, l)>,
                       affine_map<(i, j, k, l) -> (k, l, j)>,
                       affine_map<(i, j, k, l) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<4x3x2xf16>, tensor<3x2x5xf16>)
      outs(%init : tensor<4x5xf16>) {
  ^bb0(%x: f16, %y: f16, %acc: f16):
    %x32 = arith.extf %x : f16 to f32
    %y32 = arith.extf %y : f16 to f32
    %p = arith.mulf %x32, %y32 : f32
    %p16 = arith.truncf %p : f32 to f16
    %q = arith.extf %p16 : f16 to f32
    %acc32 = arith.extf %acc : f16 to f32
    %s = arith.addf %q, %acc32 : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x5xf16>
  return %r : tensor<4x5xf16>
}

// -----

// A cast of what comes in is a part of what is summed. On the reference device
// the sum of f32 is of f64.
// CHECK-LABEL: func.func @casts_are_kept(
// CHECK:         arith.truncf %{{.*}} : f32 to bf16
// CHECK:         arith.addf {{.*}} : f32
// ALL-LABEL: func.func @casts_are_kept(
// ALL:         arith.truncf %{{.*}} : f32 to bf16
// ALL:         arith.addf {{.*}} : f64
// ALL:         arith.truncf {{.*}} : f64 to f32
func.func @casts_are_kept(%x: tensor<?xf32>, %y: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]}
      ins(%x : tensor<?xf32>) outs(%y : tensor<f32>) {
  ^bb0(%in: f32, %acc: f32):
    %narrow = arith.truncf %in : f32 to bf16
    %wide = arith.extf %narrow : bf16 to f32
    %s = arith.addf %acc, %wide : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// Of several results the narrow ones; integers and what is no sum stay.
// CHECK-LABEL: func.func @several_results(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?xf32>, tensor<?xf64>, tensor<?xi32>)
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<?xbf16>)
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<?xbf16>)
// CHECK-NOT:     linalg.generic
func.func @several_results(%x: tensor<?x?xbf16>, %a: tensor<?xbf16>,
                           %b: tensor<?xf64>, %c: tensor<?xi32>)
    -> (tensor<?xbf16>, tensor<?xf64>, tensor<?xi32>) {
  %r:3 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xbf16>)
      outs(%a, %b, %c : tensor<?xbf16>, tensor<?xf64>, tensor<?xi32>) {
  ^bb0(%in: bf16, %max: bf16, %sum: f64, %count: i32):
    %m = arith.maximumf %in, %max : bf16
    %wide = arith.extf %in : bf16 to f64
    %s = arith.addf %wide, %sum : f64
    %one = arith.constant 1 : i32
    %n = arith.addi %count, %one : i32
    linalg.yield %m, %s, %n : bf16, f64, i32
  } -> (tensor<?xbf16>, tensor<?xf64>, tensor<?xi32>)
  %t = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%r#0 : tensor<?xbf16>) outs(%a : tensor<?xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %n = arith.negf %in : bf16
    linalg.yield %n : bf16
  } -> tensor<?xbf16>
  return %t, %r#1, %r#2 : tensor<?xbf16>, tensor<?xf64>, tensor<?xi32>
}
