// Causal attention of new tokens over a cache, with 2 key heads for 8 query
// heads; the numbers of queries and keys are free.
func.func @main(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>,
                %v: tensor<1x2x?x64xf32>)
    -> (tensor<1x8x?x64xf32>, tensor<1x8x?xf32>) {
  %o, %lse = attn.gqa %q, %k, %v align(bottom_right) mask(#attn.causal)
      : (tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>)
      -> (tensor<1x8x?x64xf32>, tensor<1x8x?xf32>)
  return %o, %lse : tensor<1x8x?x64xf32>, tensor<1x8x?xf32>
}
