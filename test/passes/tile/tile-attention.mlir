// RUN: attn-opt %s --split-input-file --attn-tile-attention --canonicalize --cse | FileCheck %s

// Keys are visited tile by tile; the state of the running softmax is carried.

// CHECK-LABEL: func @carries_max_sum_and_acc
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<2x3x100x64xf32>, %[[K:[a-z0-9]+]]: tensor<2x3x200x64xf32>
// CHECK:         scf.forall (%[[B:.*]], %[[H:.*]], %[[T:.*]]) in (2, 3, 7)
// CHECK:           %[[QTILE:.*]] = tensor.extract_slice %[[Q]][%[[B]], %[[H]], %{{.*}}, 0]
// CHECK:           %[[STATE:.*]]:3 = scf.for %[[K0:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[MAX:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}})
// CHECK:             %[[KTILE:.*]] = tensor.extract_slice %[[K]][%[[B]], %[[H]], %[[K0]], 0]
// CHECK:             attn.online_softmax ins(%[[QTILE]], %[[KTILE]],
// CHECK-SAME:          outs(%[[ACC]], %[[MAX]], %[[SUM]] :
// CHECK-SAME:          tensor<64x16xf32>, tensor<16xf32>, tensor<16xf32>
// CHECK-SAME:          key_tile(64)
// CHECK-NOT:         keep
// CHECK:           attn.online_finish ins(%[[STATE]]#0, %[[STATE]]#1, %[[STATE]]#2
// CHECK:           tensor.parallel_insert_slice
// CHECK-NOT:     attn.softmax
module attributes {attn.target = "cpu:avx2"} {
  func.func @carries_max_sum_and_acc(%q: tensor<2x3x100x64xf32>, %k: tensor<2x3x200x64xf32>, %v: tensor<2x3x200x64xf32>) -> tensor<2x3x100x64xf32> {
    %o = attn.softmax %q, %k, %v : (tensor<2x3x100x64xf32>, tensor<2x3x200x64xf32>, tensor<2x3x200x64xf32>) -> tensor<2x3x100x64xf32>
    return %o : tensor<2x3x100x64xf32>
  }
}

// -----

// A tile is skipped where no query sees a key of it (its first key is behind its
// last query), and masked where some query does not see some key.

// CHECK-LABEL: func @skips_tiles_above_the_diagonal
// CHECK:         scf.forall (%[[T:.*]]) in
// CHECK:           scf.for %[[K0:[a-z0-9]+]] =
// CHECK:             %[[J:.*]] = arith.index_cast %[[K0]]
// CHECK:             %[[FIRST:.*]] = arith.select %{{.*}}, %[[J]], %{{.*}} : i64
// CHECK:             %[[VISIT:.*]] = arith.cmpi sle, %[[FIRST]], %{{.*}}
// CHECK:             %[[MASKED:.*]] = arith.cmpi {{sgt|slt}},
// CHECK:             scf.if %[[VISIT]]
// CHECK:               attn.online_softmax
// CHECK-SAME:            masked(%[[MASKED]]) keep
// CHECK:                 arith.cmpi sle
// CHECK:             else
// CHECK-NOT:           attn.online_softmax
module attributes {attn.target = "cpu:avx512"} {
  func.func @skips_tiles_above_the_diagonal(%q: tensor<1x1x200x64xf32>, %k: tensor<1x1x?x64xf32>, %v: tensor<1x1x?x64xf32>) -> tensor<1x1x200x64xf32> {
    %o = attn.softmax %q, %k, %v align(top_left) mask(#attn.causal) : (tensor<1x1x200x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>) -> tensor<1x1x200x64xf32>
    return %o : tensor<1x1x200x64xf32>
  }
}

// -----

// Rows are heads times positions: with one query position the four heads of a
// group share a tile.

// CHECK-LABEL: func @folds_the_heads_of_a_group_into_rows
// CHECK:         scf.forall (%{{.*}}, %[[HK:.*]]) in (3, 2)
// CHECK:           %[[HEAD:.*]] = arith.muli %[[HK]], %c4
// CHECK:           tensor.extract_slice %{{.*}}[%{{.*}}, %[[HEAD]], 0, 0] [1, 4, 1, 64]
// CHECK:           attn.online_softmax
// CHECK-SAME:        fold(%c1)
module attributes {attn.target = "cpu:avx512"} {
  func.func @folds_the_heads_of_a_group_into_rows(%q: tensor<3x8x1x64xf32>, %k: tensor<3x2x100x64xf32>, %v: tensor<3x2x100x64xf32>) -> tensor<3x8x1x64xf32> {
    %o = attn.gqa %q, %k, %v : (tensor<3x8x1x64xf32>, tensor<3x2x100x64xf32>, tensor<3x2x100x64xf32>) -> tensor<3x8x1x64xf32>
    return %o : tensor<3x8x1x64xf32>
  }
}

// -----

// Lengths are clamped to 0..Skv and bound the loop over keys; bottom_right
// aligns to the clamped length.

// CHECK-LABEL: func @clamps_lengths
// CHECK-DAG:     %[[SKV:.*]] = tensor.dim %arg1
// CHECK:         %[[ENTRY:.*]] = tensor.extract %arg3
// CHECK:         %[[N:.*]] = arith.index_cast %[[ENTRY]]
// CHECK:         %[[BELOW:.*]] = arith.minsi %[[N]], %[[SKV]]
// CHECK:         %[[LENGTH:.*]] = arith.maxsi %[[BELOW]], %c0
// CHECK:         arith.subi %[[LENGTH]], %{{.*}}
// CHECK:         scf.for %{{.*}} = %c0 to %[[LENGTH]]
module attributes {attn.target = "cpu:avx512"} {
  func.func @clamps_lengths(%q: tensor<2x1x200x64xf32>, %k: tensor<2x1x?x64xf32>, %v: tensor<2x1x?x64xf32>, %n: tensor<2xi32>) -> tensor<2x1x200x64xf32> {
    %o = attn.softmax %q, %k, %v align(bottom_right) mask(#attn.causal) lengths(%n : tensor<2xi32>) : (tensor<2x1x200x64xf32>, tensor<2x1x?x64xf32>, tensor<2x1x?x64xf32>) -> tensor<2x1x200x64xf32>
    return %o : tensor<2x1x200x64xf32>
  }
}

// -----

// What the mask reads at positions of queries is looked up once per query tile,
// what it reads at those of keys once per key tile.
// CHECK-LABEL: func @looks_up_queries_outside_of_the_key_loop
// CHECK: scf.forall
// CHECK: scf.for {{.*}} -> (i64, i64)
// CHECK: scf.for {{.*}} -> (tensor<
// CHECK-COUNT-1: scf.for {{.*}} -> (i64, i64)
// CHECK-NOT: scf.for
// CHECK: attn.online_softmax
module attributes {attn.target = "cpu:avx512"} {
  func.func @looks_up_queries_outside_of_the_key_loop(
      %q: tensor<1x1x200x8xf32>, %k: tensor<1x1x?x8xf32>,
      %document: tensor<?xi32>) -> tensor<1x1x200x8xf32> {
    %o = attn.softmax %q, %k, %k align(top_left)
        keep {
        ^bb0(%b: index, %h: index, %i: index, %j: index):
          %di = tensor.extract %document[%i] : tensor<?xi32>
          %dj = tensor.extract %document[%j] : tensor<?xi32>
          %same = arith.cmpi eq, %di, %dj : i32
          attn.yield %same : i1
        }
        : (tensor<1x1x200x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>)
        -> tensor<1x1x200x8xf32>
    return %o : tensor<1x1x200x8xf32>
  }
}

// -----

// Static sizes that no tile divides: canonicalisation narrows types, and folds
// the casts that come of it, around an op without regions.

// CHECK-LABEL: func @survives_canonicalisation_of_static_sizes
// CHECK:         attn.online_softmax
// CHECK-NOT:     attn.gqa
module attributes {attn.target = "cpu:generic"} {
  func.func @survives_canonicalisation_of_static_sizes(%q: tensor<2x4x33x16xf32>, %k: tensor<2x2x40x16xf32>, %v: tensor<2x2x40x16xf32>) -> tensor<2x4x33x16xf32> {
    %o = attn.gqa %q, %k, %v : (tensor<2x4x33x16xf32>, tensor<2x2x40x16xf32>, tensor<2x2x40x16xf32>) -> tensor<2x4x33x16xf32>
    return %o : tensor<2x4x33x16xf32>
  }
}

// -----

// Few rows and many keys: the states after each 2048 keys are computed in
// parallel, then merged in order.

// CHECK-LABEL: func @splits_the_keys_of_few_rows
// CHECK:         %[[SPLITS:.*]] = arith.ceildivui %{{.*}}, %c2048
// CHECK:         %[[PARTS:.*]]:3 = scf.forall (%[[B:.*]], %[[HK:.*]], %[[SPLIT:.*]]) in (3, 2, %[[SPLITS]])
// CHECK:           %[[LOWER:.*]] = arith.muli %[[SPLIT]], %c2048
// CHECK:           %[[END:.*]] = arith.addi %[[LOWER]], %c2048
// CHECK:           %[[UPPER:.*]] = arith.minsi %{{.*}}, %[[END]]
// CHECK:           scf.for %{{.*}} = %[[LOWER]] to %[[UPPER]] step %c512
// CHECK:             attn.online_softmax
// CHECK:           tensor.parallel_insert_slice
// CHECK:         scf.forall (%{{.*}}, %{{.*}}) in (3, 2)
// CHECK:           scf.for %[[S:.*]] = %c0 to %[[SPLITS]] step %c1
// CHECK:             tensor.extract_slice %[[PARTS]]#0
// CHECK:             attn.online_merge
// CHECK:           attn.online_finish
module attributes {attn.target = "cpu:avx512"} {
  func.func @splits_the_keys_of_few_rows(%q: tensor<3x8x1x64xf32>, %k: tensor<3x2x?x64xf32>, %v: tensor<3x2x?x64xf32>) -> tensor<3x8x1x64xf32> {
    %o = attn.gqa %q, %k, %v : (tensor<3x8x1x64xf32>, tensor<3x2x?x64xf32>, tensor<3x2x?x64xf32>) -> tensor<3x8x1x64xf32>
    return %o : tensor<3x8x1x64xf32>
  }
}

// -----

// CHECK-LABEL: func @does_not_split_few_keys
// CHECK-COUNT-1: scf.forall
// CHECK-NOT:     attn.online_merge
// CHECK:         return
module attributes {attn.target = "cpu:avx512"} {
  func.func @does_not_split_few_keys(%q: tensor<3x8x1x64xf32>, %k: tensor<3x2x2048x64xf32>, %v: tensor<3x2x2048x64xf32>) -> tensor<3x8x1x64xf32> {
    %o = attn.gqa %q, %k, %v : (tensor<3x8x1x64xf32>, tensor<3x2x2048x64xf32>, tensor<3x2x2048x64xf32>) -> tensor<3x8x1x64xf32>
    return %o : tensor<3x8x1x64xf32>
  }
}

// -----

// Where the number of query positions is not known there are loops for one
// position, in which the heads of a group are the rows of one tile, and loops for
// any number, over the same output. A call runs one of them.

// CHECK-LABEL: func @has_loops_for_decoding
// CHECK-DAG:     %[[SQ:.*]] = tensor.dim %arg0, %c2
// CHECK:         %[[OUT:.*]] = tensor.empty(%[[SQ]])
// CHECK:         %[[IS_ONE:.*]] = arith.cmpi eq, %[[SQ]], %c1
// CHECK:         %[[IS_NOT:.*]] = arith.cmpi ne, %[[SQ]], %c1
// CHECK:         %[[BATCH:.*]] = arith.select %[[IS_ONE]], %c3, %c0
// CHECK:         %[[DECODED:.*]] = scf.forall (%{{.*}}, %{{.*}}) in (%[[BATCH]], 2) shared_outs(%{{.*}} = %[[OUT]])
// CHECK:           tensor.extract_slice %arg0[%{{.*}}, %{{.*}}, 0, 0] [1, 4, 1, 64]
// CHECK:           attn.online_softmax {{.*}} outs({{.*}} tensor<64x16xf32>
// CHECK:         %[[OTHER:.*]] = arith.select %[[IS_NOT]], %c3, %c0
// CHECK:         scf.forall ({{.*}}) in (%[[OTHER]], 2, {{.*}}) shared_outs(%{{.*}} = %[[DECODED]])
// CHECK:           attn.online_softmax {{.*}} outs({{.*}} tensor<64x48xf32>
module attributes {attn.target = "cpu:avx512"} {
  func.func @has_loops_for_decoding(%q: tensor<3x8x?x64xf32>, %k: tensor<3x2x512x64xf32>) -> tensor<3x8x?x64xf32> {
    %o = attn.gqa %q, %k, %k : (tensor<3x8x?x64xf32>, tensor<3x2x512x64xf32>, tensor<3x2x512x64xf32>) -> tensor<3x8x?x64xf32>
    return %o : tensor<3x8x?x64xf32>
  }
}

// -----

// A state starts from the sinks: as a weight of 1 at the sink as maximum.

// CHECK-LABEL: func @starts_from_sinks
// CHECK:         scf.forall (%[[H:.*]], %{{.*}}) in (3, {{.*}})
// CHECK:           %[[START:.*]]:2 = linalg.generic
// CHECK:             %[[SINK:.*]] = tensor.extract %arg1[%[[H]]]
// CHECK:             linalg.yield
// CHECK:           scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[START]]#0, %{{.*}} = %[[START]]#1)
module attributes {attn.target = "cpu:avx512"} {
  func.func @starts_from_sinks(%q: tensor<1x3x200x64xf32>, %sinks: tensor<3xf32>) -> tensor<1x3x200x64xf32> {
    %o = attn.softmax %q, %q, %q sinks(%sinks : tensor<3xf32>) : (tensor<1x3x200x64xf32>, tensor<1x3x200x64xf32>, tensor<1x3x200x64xf32>) -> tensor<1x3x200x64xf32>
    return %o : tensor<1x3x200x64xf32>
  }
}

// -----

// Packed sequences: starts made ascending and the longest sequence come first;
// tiles lie within one sequence, and rows of none are 0.

// CHECK-LABEL: func @tiles_each_packed_sequence
// CHECK:         %[[ZEROS:.*]] = linalg.fill
// CHECK:         %[[STARTS:.*]]:4 = scf.for
// CHECK-NOT:     scf.for {{.*}}tensor<6xindex>
// CHECK-DAG:     %[[LONGEST:.*]] = arith.cmpi eq, %[[STARTS]]#2, %c1
// CHECK-DAG:     %[[SHORTEST:.*]] = arith.cmpi eq, %[[STARTS]]#3, %c1
// CHECK:         %[[IS_DECODE:.*]] = arith.andi %[[LONGEST]], %[[SHORTEST]]
// CHECK:         arith.select %[[IS_DECODE]], %c5, %c0
// CHECK:         %[[DECODED:.*]] = scf.forall {{.*}} shared_outs(%{{.*}} = %[[ZEROS]])
// CHECK:         scf.forall (%[[N:.*]], %{{.*}}, %{{.*}}) in (%{{.*}}, 2, %{{.*}}) shared_outs(%{{.*}} = %[[DECODED]])
// CHECK:           tensor.extract %[[STARTS]]#0[%[[N]]]
// CHECK:           tensor.extract_slice %arg0[0, %{{.*}}, %{{.*}}, 0]
// CHECK:           attn.online_softmax {{.*}} at(%[[N]], %{{.*}}, %{{.*}}, %{{.*}})
module attributes {attn.target = "cpu:avx512"} {
  func.func @tiles_each_packed_sequence(%q: tensor<1x2x?x64xf32>, %starts: tensor<6xi32>) -> tensor<1x2x?x64xf32> {
    %o = attn.softmax %q, %q, %q query_starts(%starts : tensor<6xi32>) key_starts(%starts : tensor<6xi32>) : (tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>) -> tensor<1x2x?x64xf32>
    return %o : tensor<1x2x?x64xf32>
  }
}
