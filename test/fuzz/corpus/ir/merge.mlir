func.func @main(%q: tensor<1x4x?x16xf32>, %k: tensor<1x2x?x16xf32>, %qs: tensor<?xi64>, %ks: tensor<?xi64>, %o2: tensor<1x4x?x16xf32>, %l2: tensor<1x4x?xf32>) -> (tensor<1x4x?x16xf32>, tensor<1x4x?xf32>) {
  %o1, %l1 = attn.gqa %q, %k, %k align(bottom_right) mask(#attn.causal) query_starts(%qs : tensor<?xi64>) key_starts(%ks : tensor<?xi64>) : (tensor<1x4x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>) -> (tensor<1x4x?x16xf32>, tensor<1x4x?xf32>)
  %o, %l = attn.merge %o1, %l1, %o2, %l2 : (tensor<1x4x?x16xf32>, tensor<1x4x?xf32>, tensor<1x4x?x16xf32>, tensor<1x4x?xf32>) -> (tensor<1x4x?x16xf32>, tensor<1x4x?xf32>)
  return %o, %l : tensor<1x4x?x16xf32>, tensor<1x4x?xf32>
}
