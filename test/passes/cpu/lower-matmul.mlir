// RUN: attn-opt %s --split-input-file --attn-lower-matmul --canonicalize --cse | FileCheck %s

// An element of A is broadcast and multiplied with the vectors of a packed
// panel of B, in blocks of k. C is in f32 in a buffer while it is summed.

// CHECK-LABEL: func @broadcasts_a_against_panels_of_b
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<256x512xf32>, %[[B:[a-z0-9]+]]: memref<512x96xf32>, %[[C:[a-z0-9]+]]: memref<256x96xf32>
// CHECK:         %[[SUMS:.*]] = memref.alloc() {{.*}} : memref<256x112xf32>
// CHECK:         vector.load %[[C]]
// CHECK:         scf.for %[[K:.*]] = %c0 to %c512 step %c256
// CHECK:           %[[AK:.*]] = memref.subview %[[A]][0, %[[K]]]
// CHECK:           scf.for %[[J:.*]] = %c0 to %c96 step %c48
// CHECK:             %[[PANEL:.*]] = memref.alloc() {{.*}} : memref<256x48xf32>
// CHECK:             memref.prefetch %[[B]]
// CHECK:             vector.load %[[B]]
// CHECK:             vector.store %{{.*}}, %[[PANEL]]
// CHECK:             scf.for %[[I:.*]] = %c0 to %c256 step %c8
// CHECK-COUNT-24:      vector.load %[[SUMS]]
// CHECK:               scf.for %[[S:.*]] = %c0 to
// CHECK-COUNT-3:         vector.load %{{.*}}[%[[S]],
// CHECK:                 memref.load %{{.*}}[%[[I]], %[[S]]]
// CHECK:                 vector.broadcast
// CHECK-COUNT-24:        math.fma
// CHECK-NOT:             math.fma
// CHECK-COUNT-24:      vector.store %{{.*}}, %[[SUMS]]
// CHECK:         vector.store %{{.*}}, %[[C]]
module attributes {attn.target = "cpu:avx512"} {
  func.func @broadcasts_a_against_panels_of_b(%a: memref<256x512xf32>, %b: memref<512x96xf32>, %c: memref<256x96xf32>) {
    attn.matmul_tile ins(%a, %b : memref<256x512xf32>, memref<512x96xf32>) outs(%c : memref<256x96xf32>) tile(256, 96) panel(48)
    return
  }
}

// -----

// Few rows of A read B where it is, some rows of it at a time. One row has a
// register block of its own. C is not read where it is filled.

// CHECK-LABEL: func @one_row_reads_b_in_place
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<1x512xf32>, %[[B:[a-z0-9]+]]: memref<512x96xf32>, %[[C:[a-z0-9]+]]: memref<1x96xf32>
// CHECK-NOT:     vector.load %[[C]]
// CHECK:         scf.for %[[K:.*]] = %c0 to %c512 step %c16
// CHECK:           scf.for %[[J:.*]] = %c0 to %c96 step %c48
// CHECK:             memref.prefetch %[[B]]
// CHECK-NOT:         vector.store
// CHECK:             memref.subview %[[B]][%[[K]], %[[J]]]
// CHECK-COUNT-6:       math.fma
// CHECK-NOT:           math.fma
module attributes {attn.target = "cpu:avx512bf16"} {
  func.func @one_row_reads_b_in_place(%a: memref<1x512xf32>, %b: memref<512x96xf32>, %c: memref<1x96xf32>, %zero: f32) {
    attn.matmul_tile ins(%a, %b : memref<1x512xf32>, memref<512x96xf32>) outs(%c : memref<1x96xf32>) init(%zero) tile(8, 96) panel(48)
    return
  }
}

// -----

// With dot products of bf16 pairs, rows of B are interleaved in twos. A is read
// where it is: its pairs are neighbours.

// CHECK-LABEL: func @multiplies_pairs_of_bf16
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<256x512xbf16>, %[[B:[a-z0-9]+]]: memref<512x96xbf16>, %[[C:[a-z0-9]+]]: memref<256x96xbf16>
// CHECK:         %[[PANEL:.*]] = memref.alloc() {{.*}} : memref<256x96xbf16>
// CHECK:           vector.interleave
// CHECK:           vector.store %{{.*}}, %[[PANEL]]
// CHECK-COUNT-24:  llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK-NOT:       llvm.call_intrinsic
// CHECK:         vector.store %{{.*}}, %[[C]]{{.*}}, vector<16xbf16>
module attributes {attn.target = "cpu:avx512bf16"} {
  func.func @multiplies_pairs_of_bf16(%a: memref<256x512xbf16>, %b: memref<512x96xbf16>, %c: memref<256x96xbf16>) {
    attn.matmul_tile ins(%a, %b : memref<256x512xbf16>, memref<512x96xbf16>) outs(%c : memref<256x96xbf16>) tile(256, 96) panel(48)
    return
  }
}

// -----

// Elsewhere bf16 is widened into buffers.

// CHECK-LABEL: func @widens_bf16
// CHECK-NOT:     vector<16xbf16>
// CHECK:         arith.extui %{{.*}} : vector<8xi16> to vector<8xi32>
// CHECK:         math.fma %{{.*}} : vector<8xf32>
module attributes {attn.target = "cpu:avx2"} {
  func.func @widens_bf16(%a: memref<256x512xbf16>, %b: memref<512x96xbf16>, %c: memref<256x96xf32>) {
    attn.matmul_tile ins(%a, %b : memref<256x512xbf16>, memref<512x96xbf16>) outs(%c : memref<256x96xf32>) tile(256, 96) panel(24)
    return
  }
}

// -----

// Rows of a transposed B become columns of the panel by shuffles.

// CHECK-LABEL: func @transposes_b
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<256x512xf32>, %[[B:[a-z0-9]+]]: memref<96x512xf32>
// CHECK:         %[[ROWS:.*]] = memref.subview %[[B]][%{{.*}}, %{{.*}}] [24, %{{.*}}]
// CHECK-COUNT-8: vector.load %[[ROWS]]
// CHECK-COUNT-24: vector.shuffle
// CHECK-COUNT-8: vector.store
// CHECK:         math.fma
module attributes {attn.target = "cpu:avx2"} {
  func.func @transposes_b(%a: memref<256x512xf32>, %b: memref<96x512xf32>, %c: memref<256x96xf32>) {
    attn.matmul_tile ins(%a, %b : memref<256x512xf32>, memref<96x512xf32>) outs(%c : memref<256x96xf32>) tile(256, 96) panel(24) transpose_right
    return
  }
}

// -----

// The rows of one column have unit stride, whatever the type of the view says.

// CHECK-LABEL: func @one_column
// CHECK-SAME:    %[[A:[^:]*]]: memref<1x1xf32, strided<[?, ?], offset: ?>>
// CHECK:         %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[A]]
// CHECK:         memref.reinterpret_cast %{{.*}} to offset: [%[[OFFSET]]], sizes: [1, 1], strides: [%[[STRIDES]]#0, 1] : memref<1x1xf32, strided<[?, ?], offset: ?>> to memref<1x1xf32, strided<[?, 1], offset: ?>>
// CHECK-NOT:     attn.matmul_tile
module attributes {attn.target = "cpu:avx2"} {
  func.func @one_column(%a: memref<1x1xf32, strided<[?, ?], offset: ?>>, %b: memref<1x5xf32>, %c: memref<1x5xf32>) {
    attn.matmul_tile ins(%a, %b : memref<1x1xf32, strided<[?, ?], offset: ?>>, memref<1x5xf32>) outs(%c : memref<1x5xf32>) tile(256, 192) panel(24)
    return
  }
}
