// Attention sinks, ALiBi and a bias that broadcasts over the batch, as clauses.

// RUN: attn-run %s --check --input='2x4x37x64xf32=normal(0,1)' \
// RUN:   --input='2x4x53x64xf32=normal(0,1)' \
// RUN:   --input='2x4x53x64xf32=normal(0,1)' \
// RUN:   --input=4xf32=0.25,0.0625,0.015625,0.00390625 \
// RUN:   --input='4x37x53xf32=normal(0,1)' --input=4xf32=0.5,-1,0,2

func.func @main(%q: tensor<?x4x?x64xf32>, %k: tensor<?x4x?x64xf32>,
                %v: tensor<?x4x?x64xf32>, %slopes: tensor<4xf32>,
                %bias: tensor<4x?x?xf32>, %sinks: tensor<4xf32>)
    -> tensor<?x4x?x64xf32> {
  %o = attn.softmax %q, %k, %v align(bottom_right) mask(#attn.causal)
      alibi(%slopes : tensor<4xf32>) bias(%bias : tensor<4x?x?xf32>)
      sinks(%sinks : tensor<4xf32>)
      : (tensor<?x4x?x64xf32>, tensor<?x4x?x64xf32>, tensor<?x4x?x64xf32>)
      -> tensor<?x4x?x64xf32>
  return %o : tensor<?x4x?x64xf32>
}
