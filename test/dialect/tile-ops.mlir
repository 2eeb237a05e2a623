// RUN: attn-opt %s | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// CHECK-LABEL: func @on_tensors
// CHECK: attn.pack_query ins(%{{.*}} : tensor<2x?x64xbf16>) outs(%{{.*}} : tensor<64x48xf32>) scale(%{{.*}}) -> tensor<64x48xf32>
// CHECK: attn.online_softmax ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<64x48xf32>, tensor<?x64xbf16>, tensor<?x32xbf16>) outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<32x48xf32>, tensor<48xf32>, tensor<48xf32>) at(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {{.*}}key_tile(64) {{.*}}masked(%{{.*}}) keep {
// CHECK: attn.yield %{{.*}} : i1
// CHECK: } -> tensor<32x48xf32>, tensor<48xf32>, tensor<48xf32>
// CHECK: attn.online_finish ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<32x48xf32>, tensor<48xf32>, tensor<48xf32>) outs(%{{.*}} : tensor<2x?x32xbf16>, %{{.*}} : tensor<2x?xf32>) -> tensor<2x?x32xbf16>, tensor<2x?xf32>
func.func @on_tensors(
    %q: tensor<2x?x64xbf16>, %packed: tensor<64x48xf32>,
    %k: tensor<?x64xbf16>, %v: tensor<?x32xbf16>, %acc: tensor<32x48xf32>,
    %max: tensor<48xf32>, %sum: tensor<48xf32>, %o: tensor<2x?x32xbf16>,
    %lse: tensor<2x?xf32>, %x: index, %masked: i1, %scale: f32)
    -> (tensor<2x?x32xbf16>, tensor<2x?xf32>) {
  %pq = attn.pack_query ins(%q : tensor<2x?x64xbf16>)
      outs(%packed : tensor<64x48xf32>) scale(%scale) -> tensor<64x48xf32>
  %s:3 = attn.online_softmax
      ins(%pq, %k, %v : tensor<64x48xf32>, tensor<?x64xbf16>, tensor<?x32xbf16>)
      outs(%acc, %max, %sum : tensor<32x48xf32>, tensor<48xf32>, tensor<48xf32>)
      at(%x, %x, %x, %x) fold(%x) key_tile(64) masked(%masked)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %kept = arith.cmpi sle, %j, %i : index
        attn.yield %kept : i1
      }
      -> tensor<32x48xf32>, tensor<48xf32>, tensor<48xf32>
  %r:2 = attn.online_finish
      ins(%s#0, %s#1, %s#2 : tensor<32x48xf32>, tensor<48xf32>, tensor<48xf32>)
      outs(%o : tensor<2x?x32xbf16>, %lse : tensor<2x?xf32>)
      -> tensor<2x?x32xbf16>, tensor<2x?xf32>
  return %r#0, %r#1 : tensor<2x?x32xbf16>, tensor<2x?xf32>
}

// On buffers there are no results, and a region may read a buffer.
// CHECK-LABEL: func @on_buffers
// CHECK: attn.online_softmax ins({{.*}} : memref<1x?x64xf32>, memref<?x64xf32>, memref<?x32xf32>) outs({{.*}} : memref<32x48xf32>, memref<48xf32>, memref<48xf32>) {{.*}} scale(%{{.*}}) softcap(3.000000e+01) score {
// CHECK: memref.load
func.func @on_buffers(
    %q: memref<1x?x64xf32>, %k: memref<?x64xf32>, %v: memref<?x32xf32>,
    %acc: memref<32x48xf32>, %max: memref<48xf32>, %sum: memref<48xf32>,
    %x: index, %scale: f32, %bias: memref<8xf32>) {
  attn.online_softmax
      ins(%q, %k, %v : memref<1x?x64xf32>, memref<?x64xf32>, memref<?x32xf32>)
      outs(%acc, %max, %sum : memref<32x48xf32>, memref<48xf32>, memref<48xf32>)
      at(%x, %x, %x, %x) key_tile(64) scale(%scale) softcap(30.0)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %c0 = arith.constant 0 : index
        %y = memref.load %bias[%c0] : memref<8xf32>
        %t = arith.addf %s, %y : f32
        attn.yield %t : f32
      }
  return
}

// A query of f16 is packed in f32, one of f64 in f64, as the state and scores.
// CHECK-LABEL: func @half_and_double
// CHECK: attn.pack_query ins(%{{.*}} : memref<1x?x64xf16>) outs(%{{.*}} : memref<64x48xf32>) scale(%{{.*}})
// CHECK: attn.pack_query ins(%{{.*}} : memref<1x?x64xf64>) outs(%{{.*}} : memref<64x24xf64>) scale(%{{.*}})
// CHECK: attn.online_softmax ins({{.*}}) outs({{.*}} : memref<32x24xf64>, memref<24xf64>, memref<24xf64>) {{.*}} softcap(1.000000e+300) score
func.func @half_and_double(
    %h: memref<1x?x64xf16>, %q: memref<1x?x64xf64>, %k: memref<?x64xf64>,
    %v: memref<?x32xf64>, %packedHalf: memref<64x48xf32>,
    %packed: memref<64x24xf64>, %acc: memref<32x24xf64>, %max: memref<24xf64>,
    %sum: memref<24xf64>, %x: index, %scaleHalf: f32, %scale: f64) {
  attn.pack_query ins(%h : memref<1x?x64xf16>)
      outs(%packedHalf : memref<64x48xf32>) scale(%scaleHalf)
  attn.pack_query ins(%q : memref<1x?x64xf64>)
      outs(%packed : memref<64x24xf64>) scale(%scale)
  attn.online_softmax
      ins(%packed, %k, %v : memref<64x24xf64>, memref<?x64xf64>,
          memref<?x32xf64>)
      outs(%acc, %max, %sum : memref<32x24xf64>, memref<24xf64>, memref<24xf64>)
      at(%x, %x, %x, %x) key_tile(64) softcap(1.0e300)
      score {
      ^bb0(%s: f64, %b: index, %head: index, %i: index, %j: index):
        %t = arith.mulf %s, %s : f64
        attn.yield %t : f64
      }
  return
}

// The state of other keys is merged into that of a tile.
// CHECK-LABEL: func @merges
// CHECK: attn.online_merge ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<32x48xf32>, tensor<48xf32>, tensor<48xf32>) outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<32x48xf32>, tensor<48xf32>, tensor<48xf32>) -> tensor<32x48xf32>, tensor<48xf32>, tensor<48xf32>
// CHECK: attn.online_merge ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<32x48xf32>, memref<48xf32>, memref<48xf32>) outs(%{{.*}}, %{{.*}}, %{{.*}} : memref<32x48xf32>, memref<48xf32>, memref<48xf32>){{$}}
func.func @merges(%a: tensor<32x48xf32>, %m: tensor<48xf32>, %x: memref<32x48xf32>, %y: memref<48xf32>) -> tensor<32x48xf32> {
  %r:3 = attn.online_merge ins(%a, %m, %m : tensor<32x48xf32>, tensor<48xf32>, tensor<48xf32>)
      outs(%a, %m, %m : tensor<32x48xf32>, tensor<48xf32>, tensor<48xf32>)
      -> tensor<32x48xf32>, tensor<48xf32>, tensor<48xf32>
  attn.online_merge ins(%x, %y, %y : memref<32x48xf32>, memref<48xf32>, memref<48xf32>)
      outs(%x, %y, %y : memref<32x48xf32>, memref<48xf32>, memref<48xf32>)
  return %r#0 : tensor<32x48xf32>
}

// CHECK-LABEL: func @matrix_tiles
// CHECK: attn.matmul_tile ins(%{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<64x?xbf16>) outs(%{{.*}} : tensor<?x?xbf16>) tile(256, 192) panel(48) -> tensor<?x?xbf16>
// CHECK: attn.matmul_tile ins(%{{.*}}, %{{.*}} : memref<64x8xf32>, memref<?x64xbf16>) outs(%{{.*}} : memref<8x?xf32>) init(%{{.*}}) tile(8, 768) panel(24) multiple_of(4, 24) transpose_left transpose_right{{$}}
func.func @matrix_tiles(
    %a: tensor<?x64xbf16>, %b: tensor<64x?xbf16>, %c: tensor<?x?xbf16>,
    %d: memref<64x8xf32>, %e: memref<?x64xbf16>, %f: memref<8x?xf32>,
    %init: f32) -> tensor<?x?xbf16> {
  %r = attn.matmul_tile ins(%a, %b : tensor<?x64xbf16>, tensor<64x?xbf16>)
      outs(%c : tensor<?x?xbf16>) tile(256, 192) panel(48) -> tensor<?x?xbf16>
  attn.matmul_tile ins(%d, %e : memref<64x8xf32>, memref<?x64xbf16>)
      outs(%f : memref<8x?xf32>) init(%init) tile(8, 768) panel(24)
      multiple_of(4, 24) transpose_left transpose_right
  return %r : tensor<?x?xbf16>
}

// CHECK-LABEL: func @running_max
// CHECK: attn.running_max ins(%{{.*}} : tensor<?x2x?x8xf32>) lengths(%{{.*}} : tensor<?xi32>) outs(%{{.*}}, %{{.*}} : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>
// CHECK: attn.running_max ins(%{{.*}} : memref<1x1x9x8xf64>) outs(%{{.*}}, %{{.*}} : memref<1x1x9x8xf64>, memref<1x1x9x8xf64>){{$}}
func.func @running_max(%x: tensor<?x2x?x8xf32>, %n: tensor<?xi32>, %y: memref<1x1x9x8xf64>) {
  %r:2 = attn.running_max ins(%x : tensor<?x2x?x8xf32>) lengths(%n : tensor<?xi32>)
      outs(%x, %x : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>
  attn.running_max ins(%y : memref<1x1x9x8xf64>) outs(%y, %y : memref<1x1x9x8xf64>, memref<1x1x9x8xf64>)
  return
}

// CHECK-LABEL: func @linear_chunk
// CHECK:       attn.linear_chunk ins(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x3xf32>) query(%{{.*}} : tensor<2x?x8xf32>)
// CHECK-SAME:    scale(5.000000e-01) decay(%{{.*}} : tensor<?x8xf32>) beta(%{{.*}} : tensor<?xf32>) bonus(%{{.*}} : tensor<8xf32>)
// CHECK-SAME:    outs(%{{.*}} : tensor<16x16xf32>) output(%{{.*}} : tensor<2x?x3xf32>) rows(%{{.*}}) normalize(token) recurrent
// CHECK-SAME:    -> tensor<2x?x3xf32>, tensor<16x16xf32>
// CHECK:       attn.linear_chunk ins(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x3xf32>) transition(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x8xf32>)
// CHECK-SAME:    outs(%{{.*}} : tensor<16x16xf32>) rows(%{{.*}}) -> tensor<16x16xf32>
// CHECK:       attn.linear_read ins(%{{.*}}, %{{.*}} : tensor<2x?x8xf32>, tensor<16x16xf32>) scale(2.000000e+00)
// CHECK-SAME:    outs(%{{.*}} : tensor<2x?x3xf32>) rows(%{{.*}}) normalize(feature) -> tensor<2x?x3xf32>
func.func @linear_chunk(%q: tensor<2x?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x3xf32>, %b: tensor<?xf32>,
                        %u: tensor<8xf32>, %s: tensor<16x16xf32>, %o: tensor<2x?x3xf32>) -> tensor<2x?x3xf32> {
  %c32 = arith.constant 32 : index
  %r:2 = attn.linear_chunk ins(%k, %v : tensor<?x8xf32>, tensor<?x3xf32>) query(%q : tensor<2x?x8xf32>)
      scale(0.5) decay(%k : tensor<?x8xf32>) beta(%b : tensor<?xf32>) bonus(%u : tensor<8xf32>)
      outs(%s : tensor<16x16xf32>) output(%o : tensor<2x?x3xf32>) rows(%c32) normalize(token) recurrent
      -> tensor<2x?x3xf32>, tensor<16x16xf32>
  %t = attn.linear_chunk ins(%k, %v : tensor<?x8xf32>, tensor<?x3xf32>) transition(%k, %k : tensor<?x8xf32>, tensor<?x8xf32>)
      outs(%r#1 : tensor<16x16xf32>) rows(%c32) -> tensor<16x16xf32>
  %read = attn.linear_read ins(%q, %t : tensor<2x?x8xf32>, tensor<16x16xf32>) scale(2.0)
      outs(%r#0 : tensor<2x?x3xf32>) rows(%c32) normalize(feature) -> tensor<2x?x3xf32>
  return %read : tensor<2x?x3xf32>
}

// One token, from one buffer into another.
// CHECK-LABEL: func @linear_step
// CHECK:       initial(%{{.*}} : memref<8x16xf32>) streams(%{{.*}}) outs(%{{.*}} : memref<8x16xf32>) output(%{{.*}} : memref<1x1x16xf32>) rows(%{{.*}}) recurrent
func.func @linear_step(%q: memref<1x1x8xf32>, %k: memref<1x8xf32>, %v: memref<1x16xf32>, %from: memref<8x16xf32>,
                       %to: memref<8x16xf32>, %o: memref<1x1x16xf32>, %large: i1) {
  %c1 = arith.constant 1 : index
  attn.linear_chunk ins(%k, %v : memref<1x8xf32>, memref<1x16xf32>) query(%q : memref<1x1x8xf32>)
      initial(%from : memref<8x16xf32>) streams(%large) outs(%to : memref<8x16xf32>) output(%o : memref<1x1x16xf32>)
      rows(%c1) recurrent
  return
}
