// RUN: attn-opt %s --attn-decompose-tiles --canonicalize --cse | FileCheck %s

// Row r is head r / 5 at position r mod 5, but no row that the query has not; a
// masked key is told by its logit, before its value is multiplied.
// CHECK-LABEL: func.func @update(
// CHECK-SAME:    %[[Q:[^:]*]]: tensor<2x5x4xf32>, %[[K:[^:]*]]: tensor<?x4xf32>, %[[V:[^:]*]]: tensor<?x3xf32>
// CHECK-SAME:    %[[ACC:[^:]*]]: tensor<8x16xf32>, %[[MAX:[^:]*]]: tensor<16xf32>, %[[SUM:[^:]*]]: tensor<16xf32>
// CHECK-SAME:    %[[MASKED:[^:]*]]: i1
// CHECK:       %[[DOTS:.*]] = linalg.generic {{.*}} ins(%[[K]] : tensor<?x4xf32>)
// CHECK:         %[[R:.*]] = linalg.index 0
// CHECK:         %[[ROW:.*]] = arith.minsi %[[R]], %c9
// CHECK:         %[[G:.*]] = arith.divui %{{.*}}, %c5
// CHECK:         %[[S:.*]] = arith.remui %{{.*}}, %c5
// CHECK:         tensor.extract %[[Q]][%[[G]], %[[S]], %{{.*}}]
// CHECK:         arith.mulf {{.*}} : f64
// CHECK:       %[[LOGITS:.*]] = linalg.generic {{.*}} ins(%[[DOTS]]
// CHECK:         %[[NOT:.*]] = arith.cmpi sgt
// CHECK:         %[[HIDDEN:.*]] = arith.andi %[[MASKED]], %[[NOT]]
// CHECK:         arith.select %[[HIDDEN]], %{{.*}}, %{{.*}} : f64
// CHECK:       %[[TILEMAX:.*]] = linalg.generic {{.*}} ins(%[[LOGITS]]
// CHECK:         arith.maximumf
// CHECK:       %[[NEWMAX:.*]] = linalg.generic {{.*}} ins(%[[MAX]], %[[TILEMAX]]
// CHECK:       %[[WEIGHTS:.*]] = linalg.generic {{.*}} ins(%[[LOGITS]], %[[NEWMAX]]
// CHECK:         math.exp {{.*}} : f64
// CHECK:       %[[TILESUM:.*]] = linalg.generic {{.*}} ins(%[[WEIGHTS]]
// CHECK:       %[[FACTOR:.*]] = linalg.generic {{.*}} ins(%[[MAX]], %[[NEWMAX]]
// CHECK:         math.exp {{.*}} : f64
// CHECK:       %[[NEWSUM:.*]] = linalg.generic {{.*}} ins(%[[SUM]], %[[FACTOR]], %[[TILESUM]]
// CHECK:       %[[TOTAL:.*]] = linalg.generic {{.*}} ins(%[[LOGITS]], %[[WEIGHTS]]
// CHECK:         %[[COLUMN:.*]] = arith.minsi %{{.*}}, %c2
// CHECK:         tensor.extract %[[V]][%{{.*}}, %[[COLUMN]]]
// CHECK:         %[[NONE:.*]] = arith.cmpf oeq
// CHECK:         arith.select %[[NONE]]
// CHECK:       %[[NEWACC:.*]] = linalg.generic {{.*}} ins(%[[ACC]], %[[FACTOR]], %[[TOTAL]]
// CHECK:       return %[[NEWACC]], %[[NEWMAX]], %[[NEWSUM]]
func.func @update(%q: tensor<2x5x4xf32>, %k: tensor<?x4xf32>, %v: tensor<?x3xf32>,
                  %acc: tensor<8x16xf32>, %max: tensor<16xf32>, %sum: tensor<16xf32>,
                  %masked: i1, %b: index, %h: index, %i: index, %j: index, %s: f32)
    -> (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %c5 = arith.constant 5 : index
  %new:3 = attn.online_softmax ins(%q, %k, %v : tensor<2x5x4xf32>, tensor<?x4xf32>, tensor<?x3xf32>)
      outs(%acc, %max, %sum : tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>)
      at(%b, %h, %i, %j) fold(%c5) key_tile(64) scale(%s) masked(%masked) keep {
      ^bb0(%b0: index, %h0: index, %i0: index, %j0: index):
        %p = arith.cmpi sle, %j0, %i0 : index
        attn.yield %p : i1
      } -> tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>
  return %new#0, %new#1, %new#2 : tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>
}

// CHECK-LABEL: func.func @merge(
// CHECK:       %[[NEWMAX:.*]] = linalg.generic
// CHECK:         arith.maximumf
// CHECK:       %[[FACTOR:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[NEWMAX]]
// CHECK:       %[[OTHER:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[NEWMAX]]
// CHECK:       linalg.generic {{.*}} ins(%{{.*}}, %[[FACTOR]], %{{.*}}, %[[OTHER]] : tensor<8x16xf32>
// CHECK:       linalg.generic {{.*}} ins(%{{.*}}, %[[FACTOR]], %{{.*}}, %[[OTHER]] : tensor<16xf32>
// CHECK-NOT:   attn.
func.func @merge(%a0: tensor<8x16xf32>, %m0: tensor<16xf32>, %s0: tensor<16xf32>,
                 %a1: tensor<8x16xf32>, %m1: tensor<16xf32>, %s1: tensor<16xf32>)
    -> (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %new:3 = attn.online_merge ins(%a0, %m0, %s0 : tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>)
      outs(%a1, %m1, %s1 : tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>)
      -> tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>
  return %new#0, %new#1, %new#2 : tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>
}

// CHECK-LABEL: func.func @finish(
// CHECK-SAME:    %[[ACC:[^:]*]]: tensor<8x16xf32>, %[[MAX:[^:]*]]: tensor<16xf32>, %[[SUM:[^:]*]]: tensor<16xf32>
// CHECK:       linalg.generic
// CHECK:         %[[R:.*]] = arith.addi
// CHECK:         %[[S:.*]] = tensor.extract %[[SUM]][%[[R]]]
// CHECK:         tensor.extract %[[ACC]][%{{.*}}, %{{.*}}]
// CHECK:         arith.divf
// CHECK:         arith.select
// CHECK:       linalg.generic
// CHECK:         math.log
func.func @finish(%acc: tensor<8x16xf32>, %max: tensor<16xf32>, %sum: tensor<16xf32>,
                  %o: tensor<2x5x3xbf16>, %l: tensor<2x5xf32>) -> (tensor<2x5x3xbf16>, tensor<2x5xf32>) {
  %r:2 = attn.online_finish ins(%acc, %max, %sum : tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>)
      outs(%o : tensor<2x5x3xbf16>, %l : tensor<2x5xf32>) -> tensor<2x5x3xbf16>, tensor<2x5xf32>
  return %r#0, %r#1 : tensor<2x5x3xbf16>, tensor<2x5xf32>
}

// The sum is in f64 and joins what was there at its end.
// CHECK-LABEL: func.func @multiply(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<7x4xbf16>, %[[B:[^:]*]]: tensor<9x7xbf16>, %[[C:[^:]*]]: tensor<4x9xf32>
// CHECK:       %[[AB:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] {{.*}} outs(%{{.*}} : tensor<4x9xf64>)
// CHECK:       linalg.generic {{.*}} ins(%[[AB]] {{.*}} outs(%[[C]]
// CHECK:         arith.truncf %{{.*}} : f64 to f32
func.func @multiply(%a: tensor<7x4xbf16>, %b: tensor<9x7xbf16>, %c: tensor<4x9xf32>) -> tensor<4x9xf32> {
  %r = attn.matmul_tile ins(%a, %b : tensor<7x4xbf16>, tensor<9x7xbf16>) outs(%c : tensor<4x9xf32>)
      tile(8, 16) panel(16) transpose_left transpose_right -> tensor<4x9xf32>
  return %r : tensor<4x9xf32>
}

// One token after the other, in f64, on the rows of the state that belong to a
// feature. Columns beyond those of the values stay 0 and the last is that of the
// normaliser.
// CHECK-LABEL: func.func @linear_chunk(
// CHECK-SAME:    %[[S:[a-z0-9]*]]: tensor<6x16xf32>
// CHECK:       %[[ROWS:.*]] = tensor.extract_slice %[[S]][0, 0] [5, 16]
// CHECK:       %[[FIRST:.*]] = linalg.generic {{.*}} ins(%[[ROWS]]
// CHECK:       scf.for %[[T:.*]] = %c0 to %{{.*}} iter_args(%[[STATE:.*]] = %[[FIRST]],
// CHECK:         linalg.fill {{.*}} -> tensor<16xf64>
// CHECK:         %[[V:.*]] = tensor.insert %{{.*}} into %{{.*}}[%c15] : tensor<16xf64>
// CHECK:         %[[NEXT:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[V]] {{.*}} outs(%[[STATE]]
// CHECK:         scf.for %[[H:.*]] = %c0 to %c2
// CHECK:           tensor.extract_slice %{{.*}}[%[[H]], %[[T]], 0]
// CHECK:           linalg.generic {{.*}} ins(%{{.*}}, %[[NEXT]]
// CHECK:           arith.divf
// CHECK:       tensor.insert_slice %{{.*}} into %[[S]][0, 0] [5, 16]
// CHECK-NOT:   attn.
func.func @linear_chunk(%q: tensor<2x?x5xf32>, %k: tensor<?x5xf32>, %v: tensor<?x3xf32>,
                        %s: tensor<6x16xf32>, %o: tensor<2x?x3xf32>)
    -> (tensor<2x?x3xf32>, tensor<6x16xf32>) {
  %c8 = arith.constant 8 : index
  %r:2 = attn.linear_chunk ins(%k, %v : tensor<?x5xf32>, tensor<?x3xf32>) query(%q : tensor<2x?x5xf32>)
      outs(%s : tensor<6x16xf32>) output(%o : tensor<2x?x3xf32>) rows(%c8) normalize(token)
      -> tensor<2x?x3xf32>, tensor<6x16xf32>
  return %r#0, %r#1 : tensor<2x?x3xf32>, tensor<6x16xf32>
}

// CHECK-LABEL: func.func @linear_read(
// CHECK-SAME:    %[[S:[a-z0-9]*]]: tensor<6x16xf32>
// CHECK:       %[[ROWS:.*]] = tensor.extract_slice %[[S]][0, 0] [5, 16]
// CHECK:       %[[STATE:.*]] = linalg.generic {{.*}} ins(%[[ROWS]]
// CHECK:       scf.for %[[T:.*]] = %c0 to
// CHECK:         scf.for %[[H:.*]] = %c0 to %c2
// CHECK:           linalg.generic {{.*}} ins(%{{.*}}, %[[STATE]]
// CHECK:           arith.mulf
// CHECK-NOT:   attn.
func.func @linear_read(%q: tensor<2x?x5xf32>, %s: tensor<6x16xf32>, %o: tensor<2x?x3xf32>)
    -> tensor<2x?x3xf32> {
  %c8 = arith.constant 8 : index
  %r = attn.linear_read ins(%q, %s : tensor<2x?x5xf32>, tensor<6x16xf32>)
      scale(0.5) outs(%o : tensor<2x?x3xf32>) rows(%c8) -> tensor<2x?x3xf32>
  return %r : tensor<2x?x3xf32>
}

// The maximum so far is one over all positions up to each.
// CHECK-LABEL: func @running_max
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x2x9x4xf32>
// CHECK:         %[[MAX:.*]] = linalg.generic {{.*}}["parallel", "parallel", "parallel", "reduction", "parallel"]} ins(%[[X]] :
// CHECK:           arith.cmpi ule
// CHECK:         %[[BEFORE:.*]] = linalg.generic {{.*}}["parallel", "parallel", "parallel", "reduction", "parallel"]} ins(%[[X]] :
// CHECK:           arith.cmpi ult
// CHECK:         linalg.generic {{.*}} ins(%[[MAX]] :
// CHECK:         linalg.generic {{.*}} ins(%[[BEFORE]], %[[MAX]] :
// CHECK:           arith.subf
// CHECK-NOT:     attn.
func.func @running_max(%x: tensor<1x2x9x4xf32>) -> (tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>) {
  %e = tensor.empty() : tensor<1x2x9x4xf32>
  %r:2 = attn.running_max ins(%x : tensor<1x2x9x4xf32>) outs(%e, %e : tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>)
      -> tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>
  return %r#0, %r#1 : tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>
}

// Loops over tiles are sequential on the reference.
// CHECK-LABEL: func.func @workers(
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         return %[[ONE]]
func.func @workers() -> index {
  %workers = attn.num_workers
  return %workers : index
}
