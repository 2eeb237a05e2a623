// Attention with a softcap that the call brings.

func.func @main(%q: tensor<1x8x4x64xf32>, %c: f32) -> tensor<1x8x4x64xf32> {
  %o = attn.softmax %q, %q, %q softcap(%c : f32)
      : (tensor<1x8x4x64xf32>, tensor<1x8x4x64xf32>, tensor<1x8x4x64xf32>)
      -> tensor<1x8x4x64xf32>
  return %o : tensor<1x8x4x64xf32>
}
