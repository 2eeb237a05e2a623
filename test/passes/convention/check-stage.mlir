// RUN: attn-opt %s --attn-check-stage=stage=source | FileCheck %s

// CHECK-LABEL: func.func @attend
func.func @attend(%q: tensor<1x1x2x4xf32>, %t: tensor<3xindex>)
    -> tensor<1x1x2x4xf32> {
  %c2 = arith.constant 2 : index
  %p = tensor.extract %t[%c2] : tensor<3xindex>
  %o = attn.softmax %q, %q, %q offset(%p : index) mask(#attn.causal)
      : (tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>)
      -> tensor<1x1x2x4xf32>
  return %o : tensor<1x1x2x4xf32>
}
