func.func @main(%q: tensor<2x4x?x16xf32>, %k: tensor<2x2x?x16xf32>, %s: f32, %c: f32, %n: tensor<2xi64>, %slopes: tensor<4xf32>, %x: tensor<1x4x?x?xf32>, %m: tensor<?xi1>, %l: tensor<2xi32>, %k0: index, %sink: tensor<4xf32>) -> (tensor<2x4x?x16xf32>, tensor<2x4x?xf32>) {
  %o, %lse = attn.gqa %q, %k, %k scale(%s : f32) softcap(%c : f32) align(bottom_right) mask(#attn.prefix, #attn.window<left = 40>) prefix(%n : tensor<2xi64>) alibi(%slopes : tensor<4xf32>) bias(%x : tensor<1x4x?x?xf32>) select(%m : tensor<?xi1>) lengths(%l : tensor<2xi32>) key_offset(%k0 : index) sinks(%sink : tensor<4xf32>) : (tensor<2x4x?x16xf32>, tensor<2x2x?x16xf32>, tensor<2x2x?x16xf32>) -> (tensor<2x4x?x16xf32>, tensor<2x4x?xf32>)
  return %o, %lse : tensor<2x4x?x16xf32>, tensor<2x4x?xf32>
}
