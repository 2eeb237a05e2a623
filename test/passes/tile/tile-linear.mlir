// RUN: attn-opt %s --attn-tile=target=cpu:avx512 --split-input-file | FileCheck %s

// A parallel loop over batch entries and heads of the state, around one over
// chunks that carries the rows of the output and the state, its columns whole
// vectors.
// CHECK-LABEL: func @causal
// CHECK:       scf.forall (%[[B:.*]], %[[H:.*]]) in (%{{.*}}, 4) shared_outs(%[[ALL:.*]] = %{{.*}})
// CHECK:         %[[STATE:.*]] = linalg.fill {{.*}} -> tensor<64x80xf32>
// CHECK:         scf.for %[[T:.*]] = %c0 to %[[N:.*]] step %c32 iter_args(%[[ROWS:.*]] = %{{.*}}, %[[S:.*]] = %[[STATE]])
// CHECK:           %[[LEFT:.*]] = arith.subi %[[N]], %[[T]]
// CHECK:           %[[COUNT:.*]] = arith.minsi %[[LEFT]], %c32
// CHECK:           %[[Q:.*]] = tensor.extract_slice %{{.*}}[%[[B]], %{{.*}}, %[[T]], 0] [1, 2, %[[COUNT]], 64]
// CHECK:           %[[R:.*]]:2 = attn.linear_chunk ins({{.*}}) query(%[[Q]] : tensor<2x?x64xf32>)
// CHECK-SAME:        outs(%[[S]] : tensor<64x80xf32>) output({{.*}}) rows(%c32) normalize(token)
// CHECK:           tensor.insert_slice %[[R]]#0 into %[[ROWS]][0, %[[T]], 0]
// CHECK:           scf.yield %{{.*}}, %[[R]]#1
// CHECK:         scf.forall.in_parallel
// CHECK:           tensor.parallel_insert_slice %{{.*}} into %[[ALL]][%[[B]], %{{.*}}, 0, 0] [1, 2, %{{.*}}, 65]
func.func @causal(%q: tensor<?x8x?x64xf32>, %k: tensor<?x4x?x64xf32>, %v: tensor<?x4x?x65xf32>) -> tensor<?x8x?x65xf32> {
  %o = attn.linear %q, %k, %v normalize(token) causal : (tensor<?x8x?x64xf32>, tensor<?x4x?x64xf32>, tensor<?x4x?x65xf32>) -> tensor<?x8x?x65xf32>
  return %o : tensor<?x8x?x65xf32>
}

// -----

// Rows past the length read what the last token left.
// CHECK-LABEL: func @lengths
// CHECK:       %[[R:.*]]:2 = scf.for %{{.*}} = %c0 to %[[N:.*]] step %c32
// CHECK:         attn.linear_chunk
// CHECK:       scf.for %{{.*}} = %[[N]] to %{{.*}} step %c32
// CHECK:         attn.linear_read ins(%{{.*}}, %[[R]]#1
func.func @lengths(%q: tensor<2x3x?x16xf32>, %n: tensor<2xi64>) -> tensor<2x3x?x16xf32> {
  %o = attn.linear %q, %q, %q lengths(%n : tensor<2xi64>) causal : (tensor<2x3x?x16xf32>, tensor<2x3x?x16xf32>, tensor<2x3x?x16xf32>) -> tensor<2x3x?x16xf32>
  return %o : tensor<2x3x?x16xf32>
}

// -----

// Rows of a block read the state from before it.
// CHECK-LABEL: func @block
// CHECK:       scf.for {{.*}} step %c128 iter_args(%{{.*}} = %{{.*}}, %[[S:.*]] = %{{.*}})
// CHECK:         attn.linear_read ins(%{{.*}}, %[[S]]
// CHECK:         attn.linear_chunk ins({{.*}}) outs(%[[S]]
// CHECK-NOT:     output
// CHECK-SAME:    rows(%c128)
func.func @block(%q: tensor<1x2x?x16xf32>) -> tensor<1x2x?x16xf32> {
  %o = attn.linear %q, %q, %q block(128) causal : (tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>) -> tensor<1x2x?x16xf32>
  return %o : tensor<1x2x?x16xf32>
}

// -----

// Without causal the state is summed first; queries are read in parallel.
// CHECK-LABEL: func @bidirectional
// CHECK:       %[[SUMS:.*]] = scf.forall
// CHECK:         attn.linear_chunk
// CHECK:       scf.forall
// CHECK:         tensor.extract_slice %[[SUMS]]
// CHECK:         attn.linear_read
func.func @bidirectional(%q: tensor<1x2x?x16xf32>) -> tensor<1x2x?x16xf32> {
  %o = attn.linear %q, %q, %q : (tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>) -> tensor<1x2x?x16xf32>
  return %o : tensor<1x2x?x16xf32>
}

// -----

// One token goes from state to state, past the caches if they are large.
// CHECK-LABEL: func @step
// CHECK:       %[[LARGE:.*]] = arith.cmpi sgt, %{{.*}}, %c33554432
// CHECK:       scf.forall
// CHECK:         %[[S0:.*]] = tensor.extract_slice %{{.*}} to tensor<64x64xf32>
// CHECK:         attn.linear_chunk {{.*}} initial(%[[S0]] : tensor<64x64xf32>) streams(%[[LARGE]]) {{.*}} recurrent
func.func @step(%q: tensor<?x8x1x64xf32>, %s: tensor<?x8x64x64xf32>) -> (tensor<?x8x1x64xf32>, tensor<?x8x64x64xf32>) {
  %o, %s1 = attn.linear %q, %q, %q state(%s : tensor<?x8x64x64xf32>) causal {attn.form = "recurrent"} : (tensor<?x8x1x64xf32>, tensor<?x8x1x64xf32>, tensor<?x8x1x64xf32>) -> (tensor<?x8x1x64xf32>, tensor<?x8x64x64xf32>)
  return %o, %s1 : tensor<?x8x1x64xf32>, tensor<?x8x64x64xf32>
}

// -----

// The whole sequence at once.
// CHECK-LABEL: func @quadratic
// CHECK:       attn.linear_chunk {{.*}} rows(%c48)
func.func @quadratic(%q: tensor<1x2x48x16xf32>) -> tensor<1x2x48x16xf32> {
  %o = attn.linear %q, %q, %q causal {attn.form = "quadratic"} : (tensor<1x2x48x16xf32>, tensor<1x2x48x16xf32>, tensor<1x2x48x16xf32>) -> tensor<1x2x48x16xf32>
  return %o : tensor<1x2x48x16xf32>
}
