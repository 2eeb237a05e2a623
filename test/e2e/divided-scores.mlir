// (Q K^T / 4) V as Q (K^T V) / 4: rows of scores are 1, 2 and 2, 4.
// RUN: attn-run %s --device=cpu --reassociate=always --remarks --no-cache --input=2x1xf32=4,8 --input=1x2xf32=1,2 --input=2x1xf32=1,1 --expect=2x1xf32=3,6 2>&1 | FileCheck %s
// RUN: attn-run %s --device=reference --input=2x1xf32=4,8 --input=1x2xf32=1,2 --input=2x1xf32=1,1 --expect=2x1xf32=3,6
// CHECK: 'linalg.matmul' reassociated

func.func @main(%q: tensor<2x1xf32>, %k: tensor<1x2xf32>, %v: tensor<2x1xf32>)
    -> tensor<2x1xf32> {
  %zero = arith.constant 0.0 : f32
  %four = arith.constant 4.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>)
      -> tensor<2x2xf32>
  %s = linalg.matmul ins(%q, %k : tensor<2x1xf32>, tensor<1x2xf32>)
      outs(%s0 : tensor<2x2xf32>) -> tensor<2x2xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
                                        affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%x: f32, %y: f32):
    %r = arith.divf %x, %four : f32
    linalg.yield %r : f32
  } -> tensor<2x2xf32>
  %oe = tensor.empty() : tensor<2x1xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x1xf32>)
      -> tensor<2x1xf32>
  %o = linalg.matmul ins(%p, %v : tensor<2x2xf32>, tensor<2x1xf32>)
      outs(%o0 : tensor<2x1xf32>) -> tensor<2x1xf32>
  return %o : tensor<2x1xf32>
}
