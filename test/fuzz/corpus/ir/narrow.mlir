func.func @main(%q: tensor<1x2x?x8xf16>, %k: tensor<1x1x?x8xf16>, %x: tensor<?x?xf16>, %d: tensor<1x2x3x8xf64>) -> (tensor<1x2x?x8xf16>, tensor<1x2x3x8xf64>) {
  %o = attn.gqa %q, %k, %k align(top_left) mask(#attn.causal) bias(%x : tensor<?x?xf16>) : (tensor<1x2x?x8xf16>, tensor<1x1x?x8xf16>, tensor<1x1x?x8xf16>) -> tensor<1x2x?x8xf16>
  %p = attn.softmax %d, %d, %d : (tensor<1x2x3x8xf64>, tensor<1x2x3x8xf64>, tensor<1x2x3x8xf64>) -> tensor<1x2x3x8xf64>
  return %o, %p : tensor<1x2x?x8xf16>, tensor<1x2x3x8xf64>
}
