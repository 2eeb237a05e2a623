func.func @main(%q: tensor<1x4x?x32xf32>, %k: tensor<1x4x?x32xf32>, %v: tensor<1x4x?x32xf32>, %p: index) -> (tensor<1x4x?x32xf32>, tensor<1x4x?xf32>) {
  %o, %lse = attn.softmax %q, %k, %v offset(%p : index) mask(#attn.window<left = 3>) : (tensor<1x4x?x32xf32>, tensor<1x4x?x32xf32>, tensor<1x4x?x32xf32>) -> (tensor<1x4x?x32xf32>, tensor<1x4x?xf32>)
  %o2, %lse2 = attn.gqa %o, %k, %v : (tensor<1x4x?x32xf32>, tensor<1x4x?x32xf32>, tensor<1x4x?x32xf32>) -> (tensor<1x4x?x32xf32>, tensor<1x4x?xf32>)
  return %o2, %lse : tensor<1x4x?x32xf32>, tensor<1x4x?xf32>
}
func.func @other(%q: tensor<1x4x5x32xf32>) -> tensor<1x4x5x32xf32> {
  %o = attn.softmax %q, %q, %q scale(-1.0e-3) : (tensor<1x4x5x32xf32>, tensor<1x4x5x32xf32>, tensor<1x4x5x32xf32>) -> tensor<1x4x5x32xf32>
  return %o : tensor<1x4x5x32xf32>
}
