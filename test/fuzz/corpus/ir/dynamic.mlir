func.func @main(%q: tensor<?x?x?x?xbf16>, %k: tensor<?x?x?x?xbf16>, %v: tensor<?x?x?x?xbf16>) -> (tensor<?x?x?x?xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.softmax %q, %k, %v scale(0.125) softcap(30.0) align(bottom_right) mask(#attn.causal, #attn.window<left = 4, right = 0>)
      : (tensor<?x?x?x?xbf16>, tensor<?x?x?x?xbf16>, tensor<?x?x?x?xbf16>) -> (tensor<?x?x?x?xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x?xbf16>, tensor<?x?x?xf32>
}
