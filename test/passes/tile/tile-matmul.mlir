// RUN: attn-opt %s --split-input-file --attn-tile-matmul --canonicalize --cse | FileCheck %s
// RUN: attn-opt %s --split-input-file --attn-tile-matmul --remarks-filter='attn.*' \
// RUN:   --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// A product is a parallel loop over tiles of the result. One that is filled is
// not read.

// CHECK-LABEL: func @a_tile_of_the_result_at_a_time
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<300x7xf32>, %[[B:[a-z0-9]+]]: tensor<7x384xf32>
// CHECK:         %[[ZERO:.*]] = arith.constant 0.0
// CHECK:         %[[EMPTY:.*]] = tensor.empty()
// CHECK-NOT:     linalg
// CHECK:         scf.forall (%[[I:.*]], %[[J:.*]]) = (0, 0) to (300, 384) step (152, 192) shared_outs(%[[OUT:.*]] = %[[EMPTY]])
// CHECK-DAG:       %[[ROWS:.*]] = arith.minsi
// CHECK-DAG:       %[[AI:.*]] = tensor.extract_slice %[[A]][%[[I]], 0] [%[[ROWS]], 7]
// CHECK-DAG:       %[[BJ:.*]] = tensor.extract_slice %[[B]][0, %[[J]]] [7, 192]
// CHECK-DAG:       %[[CIJ:.*]] = tensor.extract_slice %[[OUT]][%[[I]], %[[J]]] [%[[ROWS]], 192]
// CHECK:           %[[TILE:.*]] = attn.matmul_tile ins(%[[AI]], %[[BJ]] :
// CHECK-SAME:        outs(%[[CIJ]] :
// CHECK-SAME:        init(%[[ZERO]]) tile(256, 192) panel(48) multiple_of(4, 48)
// CHECK-NOT:         transpose
// CHECK:           tensor.parallel_insert_slice %[[TILE]] into %[[OUT]][%[[I]], %[[J]]]
module attributes {attn.target = "cpu:avx512"} {
  func.func @a_tile_of_the_result_at_a_time(%a: tensor<300x7xf32>, %b: tensor<7x384xf32>) -> tensor<300x384xf32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<300x384xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<300x384xf32>) -> tensor<300x384xf32>
    %c = linalg.matmul ins(%a, %b : tensor<300x7xf32>, tensor<7x384xf32>) outs(%fill : tensor<300x384xf32>) -> tensor<300x384xf32>
    return %c : tensor<300x384xf32>
  }
}

// -----

// Where there is work for several threads, a call has tiles for all it may use.

// CHECK-LABEL: func @tiles_for_every_thread
// CHECK:         %[[WORKERS:.*]] = attn.num_workers
// CHECK:         %[[REST:.*]] = arith.remui %c1, %[[WORKERS]]
// CHECK:         %[[EVEN:.*]] = arith.cmpi sle, %[[REST]], %c0
// CHECK:         arith.select %[[EVEN]]
// CHECK:         scf.forall (%[[I:.*]], %[[J:.*]]) = (0, 0) to (256, 128) step (%[[ROWS:.*]], %[[COLUMNS:.*]]) shared_outs
// CHECK:           arith.minsi %[[ROWS]]
// CHECK:           arith.minsi %[[COLUMNS]]
// CHECK:           attn.matmul_tile
// CHECK-SAME:        tile(256, 128) panel(32) multiple_of(8, 32)
module attributes {attn.target = "cpu:avx512"} {
  func.func @tiles_for_every_thread(%a: tensor<256x4096xf32>, %b: tensor<4096x128xf32>, %c: tensor<256x128xf32>) -> tensor<256x128xf32> {
    %r = linalg.matmul ins(%a, %b : tensor<256x4096xf32>, tensor<4096x128xf32>) outs(%c : tensor<256x128xf32>) -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

// Either operand may be transposed, and what a product adds to is read. The
// panel has as many vectors as waste least: 64 columns are two panels of 32.

// CHECK-LABEL: func @adds_products_of_transposed_operands
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<30x20xbf16>, %[[B:[a-z0-9]+]]: tensor<64x30xbf16>, %[[C:[a-z0-9]+]]: tensor<20x64xf32>
// CHECK:         attn.matmul_tile ins(%[[A]], %[[B]] : tensor<30x20xbf16>, tensor<64x30xbf16>)
// CHECK-SAME:      outs(%[[C]] : tensor<20x64xf32>)
// CHECK-NOT:       init
// CHECK-SAME:      tile(24, 64) panel(32) multiple_of(4, 32) transpose_left transpose_right
module attributes {attn.target = "cpu:avx512bf16"} {
  func.func @adds_products_of_transposed_operands(%a: tensor<30x20xbf16>, %b: tensor<64x30xbf16>, %c: tensor<20x64xf32>) -> tensor<20x64xf32> {
    %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%a, %b : tensor<30x20xbf16>, tensor<64x30xbf16>) outs(%c : tensor<20x64xf32>) -> tensor<20x64xf32>
    return %r : tensor<20x64xf32>
  }
}

// -----

// The dimensions in front are loops, where an operand has them. Tiles of few
// rows are wider, which is decided when the number of rows is known.

// CHECK-LABEL: func @weights_have_no_batch
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<?x?x40xf32>, %[[W:[a-z0-9]+]]: tensor<40x1000xf32>, %[[C:[a-z0-9]+]]: tensor<?x?x1000xf32>
// CHECK-DAG:     %[[M:.*]] = tensor.dim %[[C]], %c1
// CHECK-DAG:     %[[FEW:.*]] = arith.cmpi sle, %[[M]], %c16
// CHECK-DAG:     arith.select %[[FEW]], %c504, %c168
// CHECK:         scf.forall (%[[S:.*]], %[[I:.*]], %[[J:.*]]) = (0, 0, 0) to (%{{.*}}, %[[M]], 1000) step (1, %{{.*}}, %{{.*}})
// CHECK-DAG:       tensor.extract_slice %[[A]][%[[S]], %[[I]], 0] [1, %{{.*}}, 40]
// CHECK-DAG:       tensor.extract_slice %[[W]][0, %[[J]]] [40, %{{.*}}]
// CHECK:           attn.matmul_tile
// CHECK-SAME:        tile(256, 768) panel(24)
module attributes {attn.target = "cpu:avx2"} {
  func.func @weights_have_no_batch(%a: tensor<?x?x40xf32>, %w: tensor<40x1000xf32>, %c: tensor<?x?x1000xf32>) -> tensor<?x?x1000xf32> {
    %r = linalg.contract indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>]
        ins(%a, %w : tensor<?x?x40xf32>, tensor<40x1000xf32>) outs(%c : tensor<?x?x1000xf32>) -> tensor<?x?x1000xf32>
    return %r : tensor<?x?x1000xf32>
  }
}

// -----

// A sum over heads, too, is a loop in a tile, which is filled before it.

// CHECK-LABEL: func @sums_over_heads
// CHECK-SAME:    %[[O:[a-z0-9]+]]: tensor<4x300x16xf32>, %[[W:[a-z0-9]+]]: tensor<4x16x48xf32>
// CHECK:         scf.forall
// CHECK:           %[[FILLED:.*]] = linalg.fill
// CHECK:           scf.for %[[H:.*]] = %c0 to %c4 step %c1 iter_args(%[[SUM:.*]] = %[[FILLED]])
// CHECK-DAG:         %[[OH:.*]] = tensor.extract_slice %[[O]][%[[H]],
// CHECK-DAG:         %[[WH:.*]] = tensor.extract_slice %[[W]][%[[H]],
// CHECK:             attn.matmul_tile ins(%[[OH]], %[[WH]] :
// CHECK-SAME:          outs(%[[SUM]] :
// CHECK-NOT:           init
module attributes {attn.target = "cpu:avx512"} {
  func.func @sums_over_heads(%o: tensor<4x300x16xf32>, %w: tensor<4x16x48xf32>) -> tensor<300x48xf32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<300x48xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<300x48xf32>) -> tensor<300x48xf32>
    %r = linalg.contract indexing_maps = [affine_map<(m, n, h, k) -> (h, m, k)>, affine_map<(m, n, h, k) -> (h, k, n)>, affine_map<(m, n, h, k) -> (m, n)>]
        ins(%o, %w : tensor<4x300x16xf32>, tensor<4x16x48xf32>) outs(%fill : tensor<300x48xf32>) -> tensor<300x48xf32>
    return %r : tensor<300x48xf32>
  }
}

// -----

// The operand with the columns of the result is the right one.

// CHECK-LABEL: func @a_generic_op_with_its_operands_swapped
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<7x9xf32>, %[[A:[a-z0-9]+]]: tensor<5x7xf32>
// CHECK:         attn.matmul_tile ins(%[[A]], %[[B]] :
module attributes {attn.target = "cpu:avx2"} {
  func.func @a_generic_op_with_its_operands_swapped(%b: tensor<7x9xf32>, %a: tensor<5x7xf32>, %c: tensor<5x9xf32>) -> tensor<5x9xf32> {
    %r = linalg.generic {indexing_maps = [affine_map<(k, m, n) -> (k, n)>, affine_map<(k, m, n) -> (m, k)>, affine_map<(k, m, n) -> (m, n)>],
        iterator_types = ["reduction", "parallel", "parallel"]}
        ins(%b, %a : tensor<7x9xf32>, tensor<5x7xf32>) outs(%c : tensor<5x9xf32>) {
      ^bb0(%x: f32, %y: f32, %sum: f32):
        %product = arith.mulf %x, %y : f32
        %next = arith.addf %product, %sum : f32
        linalg.yield %next : f32
    } -> tensor<5x9xf32>
    return %r : tensor<5x9xf32>
  }
}

// -----

// What is not such a product stays, with the reason.

// REMARK:        remark: {{.*}}tile-sizes{{.*}}'linalg.matmul' tile 256 by 192, panel 48
// REMARK:        remark: {{.*}}matmul-tiles{{.*}}'linalg.generic' is no tiled product of matrices: expected a sum of f32 or f64, or f16 or bf16 throughout
// REMARK:        'linalg.generic' is no tiled product of matrices: expected a sum of products
// REMARK:        'linalg.generic' is no tiled product of matrices: expected each dimension to have a loop of its own
// REMARK:        'linalg.contract' is no tiled product of matrices: expected f32 or f64 for a sum over two dimensions

// CHECK-LABEL: func @stays
// CHECK-NOT:     attn.matmul_tile
// CHECK:         linalg.generic
// CHECK:         linalg.generic
// CHECK:         linalg.generic
// CHECK:         linalg.contract
// CHECK-NOT:     attn.matmul_tile
module attributes {attn.target = "cpu:avx2"} {
  func.func @stays(%x: tensor<5x5xf32>, %diagonals: tensor<9x5xf32>, %h: tensor<5x5x5xbf16>, %c: tensor<5x5xbf16>)
      -> (tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xbf16>) {
    // Rounded to f16 before it is multiplied.
    %half = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %x : tensor<5x5xf32>, tensor<5x5xf32>) outs(%x : tensor<5x5xf32>) {
      ^bb0(%a: f32, %b: f32, %sum: f32):
        %short = arith.truncf %a : f32 to f16
        %long = arith.extf %short : f16 to f32
        %product = arith.mulf %long, %b : f32
        %next = arith.addf %product, %sum : f32
        linalg.yield %next : f32
    } -> tensor<5x5xf32>
    // The largest product instead of their sum.
    %max = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %x : tensor<5x5xf32>, tensor<5x5xf32>) outs(%x : tensor<5x5xf32>) {
      ^bb0(%a: f32, %b: f32, %best: f32):
        %product = arith.mulf %a, %b : f32
        %next = arith.maximumf %product, %best : f32
        linalg.yield %next : f32
    } -> tensor<5x5xf32>
    // A sum of diagonals.
    %diagonal = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m + k, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%diagonals, %x : tensor<9x5xf32>, tensor<5x5xf32>) outs(%x : tensor<5x5xf32>) {
      ^bb0(%a: f32, %b: f32, %sum: f32):
        %product = arith.mulf %a, %b : f32
        %next = arith.addf %product, %sum : f32
        linalg.yield %next : f32
    } -> tensor<5x5xf32>
    // Each of the outer sums would be rounded.
    %rounded = linalg.contract indexing_maps = [affine_map<(m, n, h, k) -> (h, m, k)>, affine_map<(m, n, h, k) -> (h, k, n)>, affine_map<(m, n, h, k) -> (m, n)>]
        ins(%h, %h : tensor<5x5x5xbf16>, tensor<5x5x5xbf16>) outs(%c : tensor<5x5xbf16>) -> tensor<5x5xbf16>
    return %half, %max, %diagonal, %rounded : tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xbf16>
  }
}

// -----

// Sums of f64 have half as many lanes; factors may be narrower. C of f16 is
// summed in f32.

// CHECK-LABEL: func @double_and_half
// CHECK:         attn.matmul_tile ins({{.*}} : tensor<100x40xf64>, tensor<40x12xf64>) outs({{.*}} : tensor<100x12xf64>) tile(100, 12) panel(12)
// CHECK:         attn.matmul_tile ins({{.*}} : tensor<100x40xf32>, tensor<40x12xbf16>) outs({{.*}} : tensor<100x12xf64>) tile(100, 12) panel(12)
// CHECK:         attn.matmul_tile ins({{.*}} : tensor<100x40xf16>, tensor<40x12xf16>) outs({{.*}} : tensor<100x12xf16>) tile(100, 16) panel(16)
// CHECK-NOT:     linalg.
module attributes {attn.target = "cpu:avx2"} {
  func.func @double_and_half(%a: tensor<100x40xf64>, %b: tensor<40x12xf64>, %c: tensor<100x12xf64>, %d: tensor<100x40xf32>, %e: tensor<40x12xbf16>,
                             %f: tensor<100x40xf16>, %g: tensor<40x12xf16>, %h: tensor<100x12xf16>)
      -> (tensor<100x12xf64>, tensor<100x12xf64>, tensor<100x12xf16>) {
    %0 = linalg.matmul ins(%a, %b : tensor<100x40xf64>, tensor<40x12xf64>) outs(%c : tensor<100x12xf64>) -> tensor<100x12xf64>
    %1 = linalg.matmul ins(%d, %e : tensor<100x40xf32>, tensor<40x12xbf16>) outs(%c : tensor<100x12xf64>) -> tensor<100x12xf64>
    %2 = linalg.matmul ins(%f, %g : tensor<100x40xf16>, tensor<40x12xf16>) outs(%h : tensor<100x12xf16>) -> tensor<100x12xf16>
    return %0, %1, %2 : tensor<100x12xf64>, tensor<100x12xf64>, tensor<100x12xf16>
  }
}
