// Linear attention as a model may have it: (Q K^T) V, two products of matrices
// and no softmax. What runs is Q (K^T V).

// RUN: attn-run %s --check
// RUN: attn-run %s --remarks --emit=llvm 2>&1 >/dev/null | FileCheck %s
// CHECK: 'linalg.matmul' reassociated: 16.8 MFLOP

func.func @main(%q: tensor<1024x64xf32>, %k: tensor<64x1024xf32>,
                %v: tensor<1024x64xf32>) -> tensor<1024x64xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<1024x1024xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<1024x1024xf32>)
      -> tensor<1024x1024xf32>
  %s = linalg.matmul ins(%q, %k : tensor<1024x64xf32>, tensor<64x1024xf32>)
      outs(%s0 : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %oe = tensor.empty() : tensor<1024x64xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<1024x64xf32>)
      -> tensor<1024x64xf32>
  %o = linalg.matmul ins(%s, %v : tensor<1024x1024xf32>, tensor<1024x64xf32>)
      outs(%o0 : tensor<1024x64xf32>) -> tensor<1024x64xf32>
  return %o : tensor<1024x64xf32>
}
