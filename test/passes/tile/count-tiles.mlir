// RUN: attn-opt %s --attn-set-target=target=cpu:generic --attn-count-tiles --canonicalize --cse | FileCheck %s
// RUN: attn-opt %s --attn-to-tile="target=cpu:generic count-tiles" | FileCheck %s --check-prefix=STAGE

// STAGE: func.func @causal(
// STAGE: func.func @causal.tiles(

// The function stays; beside it there is one of the same arguments. The class of
// a tile is two compares of its corners, unless those have wrapped.
// CHECK-LABEL: func.func @causal(
// CHECK: attn.softmax
// CHECK-LABEL: func.func @causal.tiles(
// CHECK-SAME: %{{.*}}: tensor<1x2x40x8xf32>, %[[K:.*]]: tensor<1x2x?x8xf32>) -> tensor<3xi64>
// CHECK-NOT: attn.softmax
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK: %[[S:.*]] = tensor.dim %[[K]], %[[C2]]
// CHECK: scf.for %{{.*}} = %[[C0]] to %[[C2]] step %[[C1]]
// CHECK: scf.for %[[TILE:[^ ]*]] = %[[C0]] to %{{.*}} step %[[C1]]
// CHECK: %[[ILO:.*]] = arith.muli %[[TILE]], %[[C8]]
// CHECK: scf.for %[[JLO:[^ ]*]] = %[[C0]] to %[[S]] step %[[C64]]
// CHECK-DAG: %[[I0:.*]] = arith.index_cast %[[ILO]]
// CHECK-DAG: %[[J0:.*]] = arith.index_cast %[[JLO]]
// CHECK-DAG: %[[I:.*]] = arith.select %{{.*}}, %[[I0]], %{{.*}} : i64
// CHECK-DAG: %[[J:.*]] = arith.select %{{.*}}, %[[J0]], %{{.*}} : i64
// CHECK: %[[VISIT:.*]] = arith.cmpi sle, %[[J]], %{{.*}} : i64
// CHECK: %[[MASK:.*]] = arith.cmpi sgt, %{{.*}}, %[[I]] : i64
// CHECK: %[[SKIP:.*]] = arith.select %[[VISIT]], %[[C0]], %[[C1]]
// CHECK: arith.select %[[MASK]]
// CHECK: tensor.from_elements
func.func @causal(%q: tensor<1x2x40x8xf32>, %k: tensor<1x2x?x8xf32>)
    -> tensor<1x2x40x8xf32> {
  %o = attn.softmax %q, %k, %k align(top_left) mask(#attn.causal)
      : (tensor<1x2x40x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>)
      -> tensor<1x2x40x8xf32>
  return %o : tensor<1x2x40x8xf32>
}

// Without a mask no tile is looked at; keys beyond the length are skipped.
// CHECK-LABEL: func.func @lengths.tiles(
// CHECK-SAME: %{{.*}}: tensor<?x1x5x8xf32>, %[[K:[^:]*]]: tensor<?x1x?x8xf32>, %[[N:[^:]*]]: tensor<?xi64>
// CHECK: %[[KEYS:.*]] = tensor.dim %[[K]]
// CHECK: scf.for %[[B:[^ ]*]] =
// CHECK: tensor.extract %[[N]][%[[B]]]
// CHECK: %[[LENGTH:.*]] = arith.maxsi
// CHECK: %[[ALL:.*]] = arith.ceildivui %[[KEYS]]
// CHECK: %[[PLAIN:.*]] = arith.ceildivui %[[LENGTH]]
// CHECK: arith.subi %[[ALL]], %[[PLAIN]]
// CHECK: tensor.from_elements
func.func @lengths(%q: tensor<?x1x5x8xf32>, %k: tensor<?x1x?x8xf32>,
                   %n: tensor<?xi64>) -> tensor<?x1x5x8xf32> {
  %o = attn.softmax %q, %k, %k lengths(%n : tensor<?xi64>)
      : (tensor<?x1x5x8xf32>, tensor<?x1x?x8xf32>, tensor<?x1x?x8xf32>)
      -> tensor<?x1x5x8xf32>
  return %o : tensor<?x1x5x8xf32>
}

// Of two ops the counts are added, and the first is not computed for the sizes
// of the second.
// CHECK-LABEL: func.func @chain.tiles(
// CHECK-NOT: attn.softmax
// CHECK: %[[FIRST:[^:]*]]:3 = scf.for
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]]#0
// CHECK-NOT: attn.softmax
// CHECK: return %{{.*}} : tensor<3xi64>
func.func @chain(%q: tensor<1x1x?x8xf32>, %k: tensor<1x1x?x8xf32>)
    -> (tensor<1x1x?x8xf32> {attn.note}) {
  %0 = attn.softmax %q, %k, %k align(top_left) mask(#attn.causal)
      : (tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>)
      -> tensor<1x1x?x8xf32>
  %1 = attn.softmax %0, %k, %k align(top_left) mask(#attn.window<left = 3>)
      : (tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>)
      -> tensor<1x1x?x8xf32>
  return %1 : tensor<1x1x?x8xf32>
}

// A mask that reads a tensor at a position has the tensor's minimum and maximum
// by blocks, filled once.
// CHECK-LABEL: func.func @documents.tiles(
// CHECK-SAME: %{{.*}}: tensor<1x1x?x8xf32>, %[[DOC:.*]]: tensor<?xi32>
// CHECK: %[[MIN:.*]] = tensor.empty(%{{.*}}) : tensor<?xi64>
// CHECK: %[[TABLES:[^:]*]]:2 = scf.for
// CHECK: tensor.extract %[[DOC]]
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: tensor.insert
// CHECK: tensor.insert
// CHECK: scf.for
// CHECK: tensor.extract %[[TABLES]]#0
// CHECK: tensor.extract %[[TABLES]]#1
func.func @documents(%q: tensor<1x1x?x8xf32>, %document: tensor<?xi32>)
    -> tensor<1x1x?x8xf32> {
  %o = attn.softmax %q, %q, %q align(top_left)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %di = tensor.extract %document[%i] : tensor<?xi32>
        %dj = tensor.extract %document[%j] : tensor<?xi32>
        %same = arith.cmpi eq, %di, %dj : i32
        attn.yield %same : i1
      }
      : (tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>)
      -> tensor<1x1x?x8xf32>
  return %o : tensor<1x1x?x8xf32>
}

// Private functions can't be called.
// CHECK-NOT: @hidden.tiles
func.func private @hidden(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
