// A batch of sequences of different lengths, packed one behind the other: causal
// attention within each of three sequences of 7, 1 and 40 tokens, of which the
// second has a cache of 30 keys before its token.

// RUN: attn-run %s --check --input='1x4x48x64xf32=normal(0,1)' \
// RUN:   --input='1x2x77x64xf32=normal(0,1)' \
// RUN:   --input='1x2x77x64xf32=normal(0,1)' \
// RUN:   --input=4xi32=0,7,8,48 --input=4xi32=0,7,37,77

func.func @main(%q: tensor<1x4x?x64xf32>, %k: tensor<1x2x?x64xf32>,
                %v: tensor<1x2x?x64xf32>, %query_starts: tensor<?xi32>,
                %key_starts: tensor<?xi32>) -> tensor<1x4x?x64xf32> {
  %o = attn.gqa %q, %k, %v align(bottom_right) mask(#attn.causal)
      query_starts(%query_starts : tensor<?xi32>)
      key_starts(%key_starts : tensor<?xi32>)
      : (tensor<1x4x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>)
      -> tensor<1x4x?x64xf32>
  return %o : tensor<1x4x?x64xf32>
}
