// A remark for each decision of the tile and cpu stages and of the rewriting of
// clauses, once per op.

// RUN: split-file %s %t
// RUN: attn-opt %t/prefill.mlir --attn-to-cpu=target=cpu:avx2 --remarks-filter='attn.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=FMA
// RUN: attn-opt %t/prefill.mlir --attn-to-cpu=target=cpu:avx512bf16 --remarks-filter='attn.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=DOT
// RUN: attn-opt %t/prefill.mlir --attn-to-cpu=target=cpu:amx --remarks-filter='attn.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=AMX
// RUN: attn-opt %t/decode.mlir --attn-to-cpu=target=cpu:avx2 --remarks-filter='attn.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=DECODE
// RUN: attn-opt %t/regions.mlir --attn-to-cpu=target=cpu:avx2 --remarks-filter='attn.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=REGIONS
// RUN: attn-opt %t/products.mlir --attn-to-cpu=target=cpu:avx2 --remarks-filter='attn.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=PRODUCTS
// RUN: attn-opt %t/products.mlir --attn-to-cpu=target=cpu:avx512bf16 --remarks-filter='attn.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=PAIRS
// RUN: attn-opt %t/direct.mlir --attn-to-cpu=target=cpu:avx2 --remarks-filter='attn.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=DIRECT
// RUN: attn-run %t/prefill.mlir --target=cpu:generic --remarks --no-cache 2>&1 >/dev/null | FileCheck %s --check-prefix=CALL

// FMA: prefill.mlir:2:8: remark: [Analysis] tile-sizes | Category:attn-tile | Remark="'attn.softmax' query tile 24, key tile 64"
// FMA: remark: [Analysis] key-loop | Category:attn-tile | Remark="'attn.softmax' keys one tile after the other, query tiles in parallel"
// FMA: remark: [Analysis] mask-classes | Category:attn-tile | Remark="'attn.softmax' no mask: every tile runs without mask code"
// FMA: remark: [Analysis] query-form | Category:attn-cpu | Remark="'attn.online_softmax' 24 query rows, packed once as f32: queries are lanes"
// FMA: remark: [Analysis] kernel | Category:attn-cpu | Remark="'attn.online_softmax' fma kernel, 3 vectors of 8 f32"
// FMA-NOT: remark:

// DOT: query-form {{.*}} packed once in pairs of bf16
// DOT: kernel {{.*}}'attn.online_softmax' dot kernel, 3 vectors of 16 f32
// AMX: kernel {{.*}}'attn.online_softmax' amx kernel

// DECODE: tile-sizes {{.*}}'attn.gqa' query tile 8, key tile 512
// DECODE: key-loop {{.*}}'attn.gqa' one query tile per key head: keys in parallel parts of 2048, then merged
// DECODE: mask-classes {{.*}}'attn.gqa' tiles are classified: skipped, run without mask code, or run with it
// DECODE: query-form {{.*}}'attn.online_softmax' 4 query rows, not packed: columns are lanes
// DECODE: kernel {{.*}}'attn.online_softmax' row kernel, 1 vectors of 8 f32

// REGIONS: [Passed] clauses | Category:attn-rewrite | Remark="'attn.softmax' softcap: part of the score region"
// REGIONS: [Passed] clauses {{.*}} alibi: part of the score region
// REGIONS: [Passed] clauses {{.*}} bias: part of the score region
// REGIONS: [Passed] clauses {{.*}} select: part of the keep region
// REGIONS: [Missed] mask-classification {{.*}} every tile runs with its mask, for 'tensor.extract' cannot be classified
// REGIONS: [Analysis] region-width | Category:attn-cpu | Remark="'attn.online_softmax' score region in lanes of 32 bits, of 64 bits in tiles whose positions or values don't fit"
// REGIONS: [Analysis] region-width {{.*}} keep region in lanes of 32 bits

// A constant of more than 32 bits that the mask compares with.
// REGIONS: [Missed] region-width | Category:attn-cpu | Remark="'attn.online_softmax' keep region in lanes of 64 bits: '[[OP:arith.[a-z]*]]' does not fit 32 bits"

// PRODUCTS: tile-sizes {{.*}}'linalg.matmul' tile {{[0-9]+}} by {{[0-9]+}}, panel {{[0-9]+}}
// PRODUCTS: [Missed] matmul-tiles | Category:attn-tile | Remark="'linalg.generic' is no tiled product of matrices: expected a result with rows and columns"
// PRODUCTS: kernel {{.*}}'attn.matmul_tile' fma products, panels of {{[0-9]+}} columns, packed"
// DIRECT: kernel {{.*}}'attn.matmul_tile' fma products, panels of 24 columns, packed unless there are few rows
// PAIRS: kernel {{.*}}'attn.matmul_tile' dot products

// CALL: kernel {{.*}}'attn.online_softmax' fma kernel
// CALL: remark: cache: off
// CALL: main: remark: key tiles: 0 skipped, {{[0-9]+}} plain, 0 masked

//--- prefill.mlir
func.func @main(%q: tensor<1x2x96x16xbf16>) -> tensor<1x2x96x16xbf16> {
  %o = attn.softmax %q, %q, %q
      : (tensor<1x2x96x16xbf16>, tensor<1x2x96x16xbf16>, tensor<1x2x96x16xbf16>) -> tensor<1x2x96x16xbf16>
  return %o : tensor<1x2x96x16xbf16>
}

//--- decode.mlir
func.func @main(%q: tensor<1x8x1x64xf32>, %k: tensor<1x2x?x64xf32>) -> tensor<1x8x1x64xf32> {
  %o = attn.gqa %q, %k, %k align(bottom_right) mask(#attn.window<left = 99>)
      : (tensor<1x8x1x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>) -> tensor<1x8x1x64xf32>
  return %o : tensor<1x8x1x64xf32>
}

//--- regions.mlir
func.func @clauses(%q: tensor<1x1x96x16xf32>, %c: f32, %a: tensor<1xf32>, %b: tensor<96x96xf32>, %m: tensor<96x96xi1>)
    -> tensor<1x1x96x16xf32> {
  %o = attn.softmax %q, %q, %q softcap(%c : f32) align(top_left) alibi(%a : tensor<1xf32>)
      bias(%b : tensor<96x96xf32>) select(%m : tensor<96x96xi1>)
      : (tensor<1x1x96x16xf32>, tensor<1x1x96x16xf32>, tensor<1x1x96x16xf32>) -> tensor<1x1x96x16xf32>
  return %o : tensor<1x1x96x16xf32>
}

func.func @wide(%q: tensor<1x1x96x16xf32>) -> tensor<1x1x96x16xf32> {
  %o = attn.softmax %q, %q, %q align(top_left)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %n = arith.constant 4294967297 : index
        %x = arith.minsi %j, %n : index
        %p = arith.cmpi sle, %x, %i : index
        attn.yield %p : i1
      }
      : (tensor<1x1x96x16xf32>, tensor<1x1x96x16xf32>, tensor<1x1x96x16xf32>) -> tensor<1x1x96x16xf32>
  return %o : tensor<1x1x96x16xf32>
}

//--- products.mlir
func.func @main(%a: tensor<64x32xbf16>, %b: tensor<32x48xbf16>, %c: tensor<64x48xf32>) -> (tensor<64x48xf32>, tensor<64xf32>) {
  %r = linalg.matmul ins(%a, %b : tensor<64x32xbf16>, tensor<32x48xbf16>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%r, %c : tensor<64x48xf32>, tensor<64x48xf32>) outs(%f : tensor<64xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %p = arith.maximumf %x, %y : f32
        %t = arith.addf %z, %p : f32
        linalg.yield %t : f32
      } -> tensor<64xf32>
  return %r, %s : tensor<64x48xf32>, tensor<64xf32>
}

//--- direct.mlir
func.func @main(%a: tensor<?x32xf32>, %b: tensor<32x48xf32>, %c: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x32xf32>, tensor<32x48xf32>) outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}
