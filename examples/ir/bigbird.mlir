// BigBird: each block of 16 tokens sees its neighbours, the first block, and two
// blocks drawn by head. Nothing of the mask is stored; whole tiles of keys that
// no block of a tile of queries sees are skipped.

// RUN: attn-run %s --check --input='1x4x500x64xf32=normal(0,1)' \
// RUN:   --input='1x4x500x64xf32=normal(0,1)' \
// RUN:   --input='1x4x500x64xf32=normal(0,1)'

func.func @main(%q: tensor<1x4x?x64xf32>, %k: tensor<1x4x?x64xf32>,
                %v: tensor<1x4x?x64xf32>) -> tensor<1x4x?x64xf32> {
  %o = attn.softmax %q, %k, %v align(top_left)
      mask(#attn.bigbird<block = 16, window = 1, global = 1, random = 2,
                         blocks = 32, seed = 7>)
      : (tensor<1x4x?x64xf32>, tensor<1x4x?x64xf32>, tensor<1x4x?x64xf32>)
      -> tensor<1x4x?x64xf32>
  return %o : tensor<1x4x?x64xf32>
}
