// A whole self-attention layer in one function: the projections of a batch of
// token vectors X to queries, keys and values of 4 heads of 32, causal
// attention, and the projection of all heads back. Projections are products of
// matrices that run on the same micro-kernels as attention does. The weights
// have no batch, and the last product sums over heads and their columns.

// RUN: attn-opt %s --attn-to-tile=target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --check --input='3x70x128xf32=normal(0,1)' \
// RUN:   --input='4x128x32xf32=normal(0,0.1)' \
// RUN:   --input='4x128x32xf32=normal(0,0.1)' \
// RUN:   --input='4x128x32xf32=normal(0,0.1)' \
// RUN:   --input='4x32x128xf32=normal(0,0.1)' | FileCheck %s --check-prefix=RESULT

// CHECK-COUNT-3: attn.matmul_tile
// CHECK: attn.online_softmax
// CHECK: attn.matmul_tile
// RESULT: check out: ok

#tokens = affine_map<(b, h, s, d, e) -> (b, s, e)>
#weights = affine_map<(b, h, s, d, e) -> (h, e, d)>
#heads = affine_map<(b, h, s, d, e) -> (b, h, s, d)>

#allHeads = affine_map<(b, s, e, h, d) -> (b, h, s, d)>
#back = affine_map<(b, s, e, h, d) -> (h, d, e)>
#out = affine_map<(b, s, e, h, d) -> (b, s, e)>

func.func private @project(%x: tensor<?x?x128xf32>, %w: tensor<4x128x32xf32>)
    -> tensor<?x4x?x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x128xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x128xf32>
  %empty = tensor.empty(%b, %s) : tensor<?x4x?x32xf32>
  %zeros = linalg.fill ins(%zero : f32)
      outs(%empty : tensor<?x4x?x32xf32>) -> tensor<?x4x?x32xf32>
  %p = linalg.contract indexing_maps = [#tokens, #weights, #heads]
      ins(%x, %w : tensor<?x?x128xf32>, tensor<4x128x32xf32>)
      outs(%zeros : tensor<?x4x?x32xf32>) -> tensor<?x4x?x32xf32>
  return %p : tensor<?x4x?x32xf32>
}

func.func @main(%x: tensor<?x?x128xf32>, %wq: tensor<4x128x32xf32>,
                %wk: tensor<4x128x32xf32>, %wv: tensor<4x128x32xf32>,
                %wo: tensor<4x32x128xf32>) -> tensor<?x?x128xf32> {
  %q = call @project(%x, %wq)
      : (tensor<?x?x128xf32>, tensor<4x128x32xf32>) -> tensor<?x4x?x32xf32>
  %k = call @project(%x, %wk)
      : (tensor<?x?x128xf32>, tensor<4x128x32xf32>) -> tensor<?x4x?x32xf32>
  %v = call @project(%x, %wv)
      : (tensor<?x?x128xf32>, tensor<4x128x32xf32>) -> tensor<?x4x?x32xf32>
  %o = attn.softmax %q, %k, %v align(top_left) mask(#attn.causal)
      : (tensor<?x4x?x32xf32>, tensor<?x4x?x32xf32>,
         tensor<?x4x?x32xf32>) -> tensor<?x4x?x32xf32>

  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x128xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x128xf32>
  %empty = tensor.empty(%b, %s) : tensor<?x?x128xf32>
  %zeros = linalg.fill ins(%zero : f32)
      outs(%empty : tensor<?x?x128xf32>) -> tensor<?x?x128xf32>
  %out = linalg.contract indexing_maps = [#allHeads, #back, #out]
      ins(%o, %wo : tensor<?x4x?x32xf32>, tensor<4x32x128xf32>)
      outs(%zeros : tensor<?x?x128xf32>) -> tensor<?x?x128xf32>
  return %out : tensor<?x?x128xf32>
}
