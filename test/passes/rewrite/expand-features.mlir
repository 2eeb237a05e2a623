// RUN: attn-opt %s --attn-expand-features --canonicalize --cse | FileCheck %s

// The feature clause is a map of the query and one of the key, in their type,
// here both elementwise.
// CHECK-LABEL: func @a_clause_is_maps_in_front
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<1x2x9x4xbf16>, %[[K:[a-z0-9]+]]: tensor<1x2x7x4xbf16>
// CHECK:         %[[FQ:.*]] = linalg.generic {{.*}} ins(%[[Q]] :
// CHECK:           %[[X:.*]] = arith.extf
// CHECK:           %[[POSITIVE:.*]] = arith.cmpf ogt, %[[X]], %{{.*}}
// CHECK:           %[[PLUS:.*]] = arith.addf %[[X]], %{{.*}}
// CHECK:           %[[EXP:.*]] = math.exp %[[X]]
// CHECK:           %[[F:.*]] = arith.select %[[POSITIVE]], %[[PLUS]], %[[EXP]]
// CHECK:           arith.truncf %[[F]]
// CHECK:         %[[FK:.*]] = linalg.generic {{.*}} ins(%[[K]] :
// CHECK:           arith.maximumf
// CHECK:         attn.linear %[[FQ]], %[[FK]], %[[K]] normalize(token) :
// CHECK-NOT:     feature
func.func @a_clause_is_maps_in_front(%q: tensor<1x2x9x4xbf16>, %k: tensor<1x2x7x4xbf16>) -> tensor<1x2x9x4xbf16> {
  %o = attn.linear %q, %k, %k feature(#attn.elu1, #attn.relu) normalize(token)
      : (tensor<1x2x9x4xbf16>, tensor<1x2x7x4xbf16>, tensor<1x2x7x4xbf16>) -> tensor<1x2x9x4xbf16>
  return %o : tensor<1x2x9x4xbf16>
}

// A projection is a product of matrices that is summed in f32; its result meets
// |x|^2 of the row.
// CHECK-LABEL: func @positive
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x2x?x8xbf16>, %[[W:[a-z0-9]+]]: tensor<16x8xf32>
// CHECK:         %[[U:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[W]] : {{.*}} outs(%{{.*}} : tensor<1x2x?x16xf32>)
// CHECK:           arith.mulf
// CHECK:           arith.addf
// CHECK:         %[[N:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[X]] : tensor<1x2x?x8xbf16>) outs(%{{.*}} : tensor<1x2x?xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[U]], %{{.*}} : tensor<1x2x?x16xf32>, tensor<1x2x?xf32>)
// CHECK:           %[[SCALED:.*]] = arith.mulf %{{.*}}, %cst
// CHECK:           %[[LOG:.*]] = arith.addf %[[SCALED]], %{{.*}}
// CHECK-NEXT:      %[[EXP:.*]] = math.exp %[[LOG]]
// CHECK-NEXT:      linalg.yield %[[EXP]]
// CHECK-LABEL: func @logarithms
// CHECK-NOT:     math.exp
func.func @positive(%x: tensor<1x2x?x8xbf16>, %w: tensor<16x8xf32>) -> tensor<1x2x?x16xf32> {
  %f = attn.feature_map %x feature(#attn.positive) projection(%w : tensor<16x8xf32>) scale(0.5)
      : tensor<1x2x?x8xbf16> -> tensor<1x2x?x16xf32>
  return %f : tensor<1x2x?x16xf32>
}
func.func @logarithms(%x: tensor<1x2x?x8xf32>, %w: tensor<16x8xf32>) -> tensor<1x2x?x16xf32> {
  %f = attn.feature_map %x feature(#attn.positive) projection(%w : tensor<16x8xf32>) log
      : tensor<1x2x?x8xf32> -> tensor<1x2x?x16xf32>
  return %f : tensor<1x2x?x16xf32>
}

// Features in two halves are concatenated.
// CHECK-LABEL: func @trigonometric
// CHECK:         math.cos
// CHECK:         math.sin
// CHECK:         tensor.concat dim(3)
func.func @trigonometric(%x: tensor<?x2x?x8xf64>, %w: tensor<16x8xf64>) -> tensor<?x2x?x32xf64> {
  %f = attn.feature_map %x feature(#attn.trigonometric) projection(%w : tensor<16x8xf64>)
      : tensor<?x2x?x8xf64> -> tensor<?x2x?x32xf64>
  return %f : tensor<?x2x?x32xf64>
}

// A softmax subtracts its maximum; positions beyond a length give 0.
// CHECK-LABEL: func @softmax_over_positions
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x2x9x4xf32>, %[[N:[a-z0-9]+]]: tensor<2xi32>
// CHECK:         %[[MAX:.*]] = linalg.generic {{.*}}"reduction", "parallel"]} ins(%[[X]], %[[N]] :
// CHECK:           %[[S:.*]] = linalg.index 2
// CHECK:           %[[END:.*]] = arith.index_cast
// CHECK:           %[[USED:.*]] = arith.cmpi slt, %[[S]], %[[END]]
// CHECK:           arith.select %[[USED]]
// CHECK:           arith.maximumf
// CHECK:         %[[E:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[N]], %[[MAX]] :
// CHECK:           arith.subf
// CHECK:           math.exp
// CHECK:           arith.select
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}}"reduction", "parallel"]} ins(%[[E]] :
// CHECK:         linalg.generic {{.*}} ins(%[[E]], %[[N]], %[[SUM]] :
// CHECK:           arith.divf
// CHECK:           arith.select
func.func @softmax_over_positions(%x: tensor<2x2x9x4xf32>, %n: tensor<2xi32>) -> tensor<2x2x9x4xf32> {
  %f = attn.feature_map %x feature(#attn.softmax_positions) lengths(%n : tensor<2xi32>)
      : tensor<2x2x9x4xf32> -> tensor<2x2x9x4xf32>
  return %f : tensor<2x2x9x4xf32>
}

// Of two entries there are 1 + 2 + 3 features; tables say of which entries.
// CHECK-LABEL: func @taylor
// CHECK-DAG:     arith.constant 0.840896427 : f32
// CHECK-DAG:     arith.constant 0.707106769 : f32
// CHECK-NOT:     dense<
// CHECK:         %[[I:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<6xi64>)
// CHECK:           math.sqrt
// CHECK:         %[[J:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<6xi64>)
// CHECK:         %[[FACTORS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<6xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[I]], %[[J]], %[[FACTORS]] : {{.*}} outs(%{{.*}} : tensor<1x1x9x6xf32>)
// CHECK-NOT:     attn.
func.func @taylor(%x: tensor<1x1x9x2xf32>) -> tensor<1x1x9x6xf32> {
  %f = attn.feature_map %x feature(#attn.taylor2) : tensor<1x1x9x2xf32> -> tensor<1x1x9x6xf32>
  return %f : tensor<1x1x9x6xf32>
}

// A region is the body.
// CHECK-LABEL: func @region
// CHECK:         linalg.generic
// CHECK:           %[[X:.*]] = arith.mulf
// CHECK:           math.tanh %[[X]]
// CHECK-NOT:     attn.
func.func @region(%x: tensor<1x1x9x2xf32>) -> tensor<1x1x9x2xf32> {
  %f = attn.feature_map %x scale(2.0) map {
    ^bb0(%e: f32):
      %t = math.tanh %e : f32
      attn.yield %t : f32
  } : tensor<1x1x9x2xf32> -> tensor<1x1x9x2xf32>
  return %f : tensor<1x1x9x2xf32>
}

// M of cosFormer is the larger number of rows; positions of packed sequences
// begin at 0 with each.
// CHECK-LABEL: func @cosformer_of_the_call
// CHECK-SAME:    %[[Q:.*]]: tensor<1x2x?x8xf32>, %[[K:.*]]: tensor<1x2x?x8xf32>
// CHECK:         %[[ROWS:.*]] = tensor.dim %[[Q]], %c2
// CHECK:         %[[KEYS:.*]] = tensor.dim %[[K]], %c2
// CHECK:         arith.maxsi %[[ROWS]], %[[KEYS]]
// CHECK-NOT:     scf.for
// CHECK:         attn.linear %{{.*}}, %{{.*}}, %{{.*}} : (tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x8xf32>)
func.func @cosformer_of_the_call(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32> {
  %o = attn.linear %q, %k, %k feature(#attn.cosformer) : (tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// CHECK-LABEL: func @cosformer_of_sequences
// CHECK:         %[[ANGLES:.*]]:4 = scf.for
// CHECK:           scf.for
// CHECK:             tensor.insert
// CHECK:         linalg.generic {{.*}} ins(%[[ANGLES]]#0 : tensor<?xf32>)
// CHECK:           math.cos
// CHECK:         attn.linear %{{.*}}, %{{.*}}, %{{.*}} query_starts(
func.func @cosformer_of_sequences(%q: tensor<1x2x?x8xf32>, %s: tensor<?xi64>) -> tensor<1x2x?x8xf32> {
  %o = attn.linear %q, %q, %q query_starts(%s : tensor<?xi64>) feature(#attn.cosformer) causal : (tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// What reads no position maps all rows at once.
// CHECK-LABEL: func @elu1_of_sequences
// CHECK-NOT:     scf.for
// CHECK:         attn.linear {{.*}} query_starts(
func.func @elu1_of_sequences(%q: tensor<1x2x?x8xf32>, %s: tensor<?xi64>) -> tensor<1x2x?x8xf32> {
  %o = attn.linear %q, %q, %q query_starts(%s : tensor<?xi64>) feature(#attn.elu1) causal : (tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}
