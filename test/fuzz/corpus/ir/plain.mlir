func.func @main(%q: tensor<2x4x33x16xf32>, %k: tensor<2x2x40x16xf32>, %v: tensor<2x2x40x24xf32>) -> tensor<2x4x33x24xf32> {
  %o = attn.gqa %q, %k, %v : (tensor<2x4x33x16xf32>, tensor<2x2x40x16xf32>, tensor<2x2x40x24xf32>) -> tensor<2x4x33x24xf32>
  return %o : tensor<2x4x33x24xf32>
}
