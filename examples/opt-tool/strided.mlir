// A mask that attn does not have, beside one that it has.
func.func @main(%q: tensor<1x4x512x64xf32>, %k: tensor<1x4x512x64xf32>,
                %v: tensor<1x4x512x64xf32>) -> tensor<1x4x512x64xf32> {
  %o = attn.softmax %q, %k, %v align(top_left)
      mask(#attn.causal, #strided.every<8>)
      : (tensor<1x4x512x64xf32>, tensor<1x4x512x64xf32>,
         tensor<1x4x512x64xf32>) -> tensor<1x4x512x64xf32>
  return %o : tensor<1x4x512x64xf32>
}
