// BigBird as published (Zaheer et al. 2020): each block of 16 tokens sees itself
// and its neighbours, the first and the last block, which see all, and the blocks
// that a table names for it: one row of two for each of 32 blocks, and for all
// heads here.

// RUN: attn-run %s --check --input='1x4x500x64xf32=normal(0,1)' \
// RUN:   --input='1x4x500x64xf32=normal(0,1)' \
// RUN:   --input='1x4x500x64xf32=normal(0,1)' --input='1x32x2xi32=9'

func.func @main(%q: tensor<1x4x?x64xf32>, %k: tensor<1x4x?x64xf32>,
                %v: tensor<1x4x?x64xf32>, %table: tensor<1x?x2xi32>)
    -> tensor<1x4x?x64xf32> {
  %o = attn.softmax %q, %k, %v align(top_left)
      mask(#attn.bigbird<block = 16, window = 1, global = 1, last = 1>)
      random_blocks(%table : tensor<1x?x2xi32>)
      : (tensor<1x4x?x64xf32>, tensor<1x4x?x64xf32>, tensor<1x4x?x64xf32>)
      -> tensor<1x4x?x64xf32>
  return %o : tensor<1x4x?x64xf32>
}
