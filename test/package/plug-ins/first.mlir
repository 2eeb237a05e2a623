// Every query sees every key.
func.func @main(%q: tensor<1x1x5x8xf32>, %k: tensor<1x1x5x8xf32>, %v: tensor<1x1x5x8xf32>) -> tensor<1x1x5x8xf32> {
  %o = attn.softmax %q, %k, %v : (tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<1x1x5x8xf32>
  return %o : tensor<1x1x5x8xf32>
}
