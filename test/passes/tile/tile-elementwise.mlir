// RUN: attn-opt %s --attn-tile-elementwise --canonicalize --cse | FileCheck %s

// Rows are handed to threads, some thousand elements at a time: 8192 / 64 of
// them here. Positions are those of the whole.
// CHECK: #[[AT:.*]] = affine_map<(d0)[s0] -> (d0 + s0)>
// CHECK-LABEL: func @blocks_of_rows
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1000x64xf32>
// CHECK:         scf.forall (%[[I:.*]]) = (0) to (1000) step (128) shared_outs(%[[OUT:.*]] = %{{.*}})
// CHECK:           %[[ROWS:.*]] = affine.min
// CHECK:           %[[XI:.*]] = tensor.extract_slice %[[X]][%[[I]], 0] [%[[ROWS]], 64] [1, 1]
// CHECK:           %[[OI:.*]] = tensor.extract_slice %[[OUT]][%[[I]], 0] [%[[ROWS]], 64] [1, 1]
// CHECK:           %[[R:.*]] = linalg.generic {{.*}} ins(%[[XI]] : {{.*}} outs(%[[OI]] :
// CHECK:             linalg.index 0
// CHECK:             affine.apply
// CHECK:           tensor.parallel_insert_slice %[[R]] into %[[OUT]][%[[I]], 0]
func.func @blocks_of_rows(%x: tensor<1000x64xf32>) -> tensor<1000x64xf32> {
  %e = tensor.empty() : tensor<1000x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1000x64xf32>) outs(%e : tensor<1000x64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %i = linalg.index 0 : index
      %n = arith.index_cast %i : index to i64
      %f = arith.sitofp %n : i64 to f32
      %r = arith.mulf %a, %f : f32
      linalg.yield %r : f32
  } -> tensor<1000x64xf32>
  return %y : tensor<1000x64xf32>
}

// A reduction is whole; short inner loops are so, too, before an outer one has
// steps.
// CHECK-LABEL: func @sums_of_rows
// CHECK:         scf.forall (%{{.*}}) = (0) to (100) step (9)
// CHECK:           linalg.generic {{.*}} outs(%{{.*}} : tensor<?x10xf32>)
func.func @sums_of_rows(%x: tensor<100x10x100xf32>, %y: tensor<100x10xf32>) -> tensor<100x10xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<100x10x100xf32>) outs(%y : tensor<100x10xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<100x10xf32>
  return %r : tensor<100x10xf32>
}

// What is small, or has no parallel loop in front, stays.
// CHECK-LABEL: func @stays
// CHECK-NOT:     scf.forall
func.func @stays(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %z: tensor<?x64xf32>, %w: tensor<64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>) {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%y : tensor<64x64xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
  } -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%z : tensor<?x64xf32>) outs(%w : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      linalg.yield %t : f32
  } -> tensor<64xf32>
  return %r, %s : tensor<64x64xf32>, tensor<64xf32>
}

// Nothing is done where a size is known to be 0.
// CHECK-LABEL: func @no_elements
// CHECK-NOT:   scf.forall
// CHECK:       linalg.generic
func.func @no_elements(%x: tensor<?x0xf32>) -> tensor<?x0xf32> {
  %a = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x0xf32>) outs(%x : tensor<?x0xf32>) {
  ^bb0(%e: f32, %o: f32):
    %n = arith.negf %e : f32
    linalg.yield %n : f32
  } -> tensor<?x0xf32>
  return %a : tensor<?x0xf32>
}

// A result that nobody reads is not computed: a loop has no place for it.
// CHECK-LABEL: func.func @unused_result(
// CHECK:         scf.forall {{.*}} shared_outs(%{{[^,]*}} = %{{[^,]*}}) -> (tensor<?x?xf32>)
// CHECK:           linalg.generic {{.*}} outs(%{{[^,]*}} : tensor<?x?xf32>)
// CHECK:             arith.negf
// CHECK-NOT:         math.exp
// CHECK:           scf.forall.in_parallel
// CHECK-NEXT:        tensor.parallel_insert_slice
// CHECK-NEXT:      }
func.func @unused_result(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%y, %y : tensor<?x?xf32>, tensor<?x?xf32>) {
  ^bb0(%in: f32, %a: f32, %b: f32):
    %n = arith.negf %in : f32
    %e = math.exp %in : f32
    linalg.yield %n, %e : f32, f32
  } -> (tensor<?x?xf32>, tensor<?x?xf32>)
  return %r#0 : tensor<?x?xf32>
}
