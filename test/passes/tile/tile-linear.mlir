// RUN: attn-opt %s --attn-tile=target=cpu:avx512 --split-input-file | FileCheck %s

// A parallel loop over batch entries and heads of the state, around one over
// chunks that carries the rows of the output and the state, its columns whole
// vectors.
// CHECK-LABEL: func @causal
// CHECK:       scf.forall (%[[B:.*]], %[[H:.*]]) in (%{{.*}}, 8) shared_outs(%[[ALL:.*]] = %{{.*}})
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
func.func @causal(%q: tensor<?x16x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x65xf32>) -> tensor<?x16x?x65xf32> {
  %o = attn.linear %q, %k, %v normalize(token) causal : (tensor<?x16x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x65xf32>) -> tensor<?x16x?x65xf32>
  return %o : tensor<?x16x?x65xf32>
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
// CHECK:         attn.linear_chunk {{.*}} initial(%{{.*}} : tensor<64x64xf32>) streams(%[[LARGE]]) {{.*}} recurrent
func.func @step(%q: tensor<?x8x1x64xf32>, %s: tensor<?x8x64x64xf32>) -> (tensor<?x8x1x64xf32>, tensor<?x8x64x64xf32>) {
  %o, %s1 = attn.linear %q, %q, %q state(%s : tensor<?x8x64x64xf32>) causal {attn.form = "recurrent"} : (tensor<?x8x1x64xf32>, tensor<?x8x1x64xf32>, tensor<?x8x1x64xf32>) -> (tensor<?x8x1x64xf32>, tensor<?x8x64x64xf32>)
  return %o, %s1 : tensor<?x8x1x64xf32>, tensor<?x8x64x64xf32>
}

// -----

// A few heads are spread over threads by tiles of the columns.
// CHECK-LABEL: func @few_heads
// CHECK:       scf.forall (%{{.*}}, %{{.*}}, %[[P:.*]]) in (%{{.*}}, 2, 4)
// CHECK:         %[[COLUMN:.*]] = arith.muli %[[P]], %c32
// CHECK:         tensor.extract_slice %{{.*}}, %[[COLUMN]]] [1, 1, %{{.*}}, 32]
func.func @few_heads(%q: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x128xf32>) -> tensor<?x2x?x128xf32> {
  %o = attn.linear %q, %q, %v causal : (tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x128xf32>) -> tensor<?x2x?x128xf32>
  return %o : tensor<?x2x?x128xf32>
}

// -----

// The whole sequence at once.
// CHECK-LABEL: func @quadratic
// CHECK:       attn.linear_chunk {{.*}} rows(%c48)
func.func @quadratic(%q: tensor<1x2x48x16xf32>) -> tensor<1x2x48x16xf32> {
  %o = attn.linear %q, %q, %q causal {attn.form = "quadratic"} : (tensor<1x2x48x16xf32>, tensor<1x2x48x16xf32>, tensor<1x2x48x16xf32>) -> tensor<1x2x48x16xf32>
  return %o : tensor<1x2x48x16xf32>
}

// -----

// Segments in parallel start from the sums of those before them. A column of
// ones without values becomes the decay of a segment.
// CHECK-LABEL: func @segments
// CHECK:       %[[SUMS:.*]] = scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}}, 2, 4)
// CHECK:         tensor.insert_slice %{{.*}} into %{{.*}}[0, 30] [16, 1]
// CHECK:         attn.linear_chunk {{.*}} outs(%{{.*}} : tensor<16x32xf32>) rows
// CHECK:       scf.forall (%{{.*}}, %{{.*}}, %[[G:.*]]) in (%{{.*}}, 2, 4)
// CHECK:         scf.for %[[I:.*]] = %c0 to %[[G]] step %c1
// CHECK:           tensor.extract_slice %[[SUMS]][%{{.*}}, %{{.*}}, 0, %[[I]], 0, 30]
// CHECK:           linalg.generic
// CHECK:         attn.linear_chunk {{.*}} query
func.func @segments(%q: tensor<?x2x?x16xf32>, %g: tensor<2xf32>) -> tensor<?x2x?x16xf32> {
  %o = attn.linear %q, %q, %q decay(%g : tensor<2xf32>) causal {attn.segments = 4} : (tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>) -> tensor<?x2x?x16xf32>
  return %o : tensor<?x2x?x16xf32>
}

// -----

// The final state of a tile is one insertion: the normaliser goes behind the
// columns of the last tile, whose slice has a column more.
// CHECK-LABEL: func @final_state
// CHECK:       scf.forall (%[[B:.*]], %[[H:.*]], %[[P:.*]]) in (%{{.*}}, 2, 3) shared_outs(%{{.*}}, %[[ALL:.*]] = %{{.*}})
// CHECK:         %[[COLUMN:.*]] = arith.muli %[[P]], %c47
// CHECK:         %[[REST:.*]] = arith.subi %c128, %[[COLUMN]]
// CHECK:         %[[COLUMNS:.*]] = arith.minsi %[[REST]], %c47
// CHECK:         %[[VALUES:.*]] = tensor.extract_slice %[[STATE:.*]]#1[0, 0] [64, %[[COLUMNS]]]
// CHECK:         %[[LAST:.*]] = arith.cmpi eq, %[[P]], %c2
// CHECK:         %[[MORE:.*]] = arith.select %[[LAST]], %c1, %c0
// CHECK:         %[[COUNT:.*]] = arith.addi %[[COLUMNS]], %[[MORE]]
// CHECK-DAG:     %[[PART:.*]] = tensor.extract_slice %[[ALL]][%[[B]], %[[H]], 0, %[[COLUMN]]] [1, 1, 64, %[[COUNT]]]
// CHECK-DAG:     %[[SUMS:.*]] = tensor.extract_slice %[[STATE]]#1[0, 47] [64, %[[MORE]]]
// CHECK:         %[[FIRST:.*]] = tensor.insert_slice %[[VALUES]] into %[[PART]][0, 0] [64, %[[COLUMNS]]]
// CHECK:         %[[BOTH:.*]] = tensor.insert_slice %[[SUMS]] into %[[FIRST]][0, %[[COLUMNS]]] [64, %[[MORE]]]
// CHECK:         scf.forall.in_parallel
// CHECK-NEXT:      tensor.parallel_insert_slice
// CHECK-NEXT:      tensor.parallel_insert_slice %[[BOTH]] into %[[ALL]][%[[B]], %[[H]], 0, %[[COLUMN]]] [1, 1, 64, %[[COUNT]]]
// CHECK-NEXT:    }
func.func @final_state(%q: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x128xf32>) -> (tensor<?x2x?x128xf32>, tensor<?x2x64x129xf32>) {
  %o, %s = attn.linear %q, %q, %v normalize(token) causal : (tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x128xf32>) -> (tensor<?x2x?x128xf32>, tensor<?x2x64x129xf32>)
  return %o, %s : tensor<?x2x?x128xf32>, tensor<?x2x64x129xf32>
}

// -----

// Packed sequences are iterations, as batch entries are: each has its rows of
// the operands and its state, and what is of none is 0.
// CHECK-LABEL: func @packed
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<1x3x?x16xf32>, %[[S0:[a-z0-9]+]]: tensor<4x3x16x16xf32>
// CHECK:       %[[STARTS:.*]]:4 = scf.for
// CHECK:       %[[ZEROS:.*]] = scf.forall
// CHECK:         linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<?x?x?x16xf32>)
// CHECK:       scf.forall (%[[N:.*]], %[[H:.*]]) in (4, 3{{.*}}) shared_outs(%[[ALL:.*]] = %[[ZEROS]], %[[STATES:.*]] = %{{.*}})
// CHECK:         %[[FIRST:.*]] = tensor.extract %[[STARTS]]#0[%[[N]]]
// CHECK:         %[[END:.*]] = tensor.extract %[[STARTS]]#0[%{{.*}}]
// CHECK:         %[[COUNT:.*]] = arith.subi %[[END]], %[[FIRST]]
// CHECK:         tensor.extract_slice %[[S0]][%[[N]], %[[H]], 0, 0]
// CHECK:         scf.for %[[T:.*]] = %c0 to %[[COUNT]] step
// CHECK:           %[[ROW:.*]] = arith.addi %[[FIRST]], %[[T]]
// CHECK:           tensor.extract_slice %[[Q]][0, %[[H]], %[[ROW]], 0]
// CHECK:         scf.forall.in_parallel
// CHECK-DAG:       tensor.parallel_insert_slice %{{.*}} into %[[ALL]][0, %{{.*}}, %[[FIRST]], 0] [1, 1, %[[COUNT]], 16]
// CHECK-DAG:       tensor.parallel_insert_slice %{{.*}} into %[[STATES]][%[[N]], %[[H]], 0, 0]
func.func @packed(%q: tensor<1x3x?x16xf32>, %s0: tensor<4x3x16x16xf32>, %s: tensor<5xi64>) -> (tensor<1x3x?x16xf32>, tensor<4x3x16x16xf32>) {
  %o, %s1 = attn.linear %q, %q, %q state(%s0 : tensor<4x3x16x16xf32>) query_starts(%s : tensor<5xi64>) causal : (tensor<1x3x?x16xf32>, tensor<1x3x?x16xf32>, tensor<1x3x?x16xf32>) -> (tensor<1x3x?x16xf32>, tensor<4x3x16x16xf32>)
  return %o, %s1 : tensor<1x3x?x16xf32>, tensor<4x3x16x16xf32>
}

// -----

// A loop of one iteration goes, and leaves both parts of the state.
// CHECK-LABEL: func @one_iteration
// CHECK-NOT:   scf.forall
// CHECK:       %[[R:.*]]:2 = attn.linear_chunk
// CHECK-DAG:   %[[VALUES:.*]] = tensor.extract_slice %[[R]]#1[0, 0] [8, 8]
// CHECK-DAG:   %[[SUMS:.*]] = tensor.extract_slice %[[R]]#1[0, 15] [8, 1]
// CHECK:       %[[FIRST:.*]] = tensor.insert_slice %[[VALUES]] into
// CHECK:       %[[BOTH:.*]] = tensor.insert_slice %[[SUMS]] into %[[FIRST]][0, 8] [8, 1]
// CHECK:       %[[STATE:.*]] = tensor.insert_slice %[[BOTH]] into %{{.*}}[0, 0, 0, 0] [1, 1, 8, 9]
// CHECK:       return %{{.*}}, %[[STATE]]
func.func @one_iteration(%q: tensor<1x1x3x8xf32>) -> (tensor<1x1x3x8xf32>, tensor<1x1x8x9xf32>) {
  %o, %s = attn.linear %q, %q, %q normalize(token) causal : (tensor<1x1x3x8xf32>, tensor<1x1x3x8xf32>, tensor<1x1x3x8xf32>) -> (tensor<1x1x3x8xf32>, tensor<1x1x8x9xf32>)
  return %o, %s : tensor<1x1x3x8xf32>, tensor<1x1x8x9xf32>
}

// -----

// A block that may be longer than all tokens takes no more rows than there are.
// CHECK-LABEL: func @long_block
// CHECK:       %[[TOKENS:.*]] = tensor.dim
// CHECK:       %[[ROWS:.*]] = arith.maxsi %[[TOKENS]], %c1
// CHECK:       attn.linear_chunk {{.*}} rows(%[[ROWS]])
func.func @long_block(%q: tensor<2x3x?x16xf32>) -> tensor<2x3x?x16xf32> {
  %o = attn.linear %q, %q, %q block(9223372036854775807) causal : (tensor<2x3x?x16xf32>, tensor<2x3x?x16xf32>, tensor<2x3x?x16xf32>) -> tensor<2x3x?x16xf32>
  return %o : tensor<2x3x?x16xf32>
}
