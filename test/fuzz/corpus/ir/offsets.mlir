func.func @main(%q: tensor<?x8x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf32>, %p: tensor<?xi64>, %n: tensor<?xi32>, %k0: index) -> tensor<?x8x?x64xf32> {
  %o = attn.gqa %q, %k, %v offset(%p : tensor<?xi64>) mask(#attn.causal) lengths(%n : tensor<?xi32>) key_offset(%k0 : index)
      : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %o : tensor<?x8x?x64xf32>
}
