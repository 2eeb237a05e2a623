// Causal attention of a language model, 32 query heads on 8 key and value heads
// of 128 in bf16, for any batch, any number of new tokens and any number of
// cached keys. The new tokens are the last ones: align(bottom_right) gives query
// row r the position Skv - Sq + r. One compiled function serves the whole
// prompt, a chunk of it, and the decoding of one token. The second result is the
// log of the sum of exponentials per row.

// RUN: attn-opt %s | attn-opt | FileCheck %s
// A prompt of 70 tokens in a batch of two; a chunk of 7 after 93 cached keys;
// one token against 150 cached keys.
// RUN: attn-run %s --check --input='2x32x70x128xbf16=normal(0,1)' \
// RUN:   --input='2x8x70x128xbf16=normal(0,1)' \
// RUN:   --input='2x8x70x128xbf16=normal(0,1)'
// RUN: attn-run %s --check --input='1x32x7x128xbf16=normal(0,1)' \
// RUN:   --input='1x8x100x128xbf16=normal(0,1)' \
// RUN:   --input='1x8x100x128xbf16=normal(0,1)'
// RUN: attn-run %s --check --input='1x32x1x128xbf16=normal(0,1)' \
// RUN:   --input='1x8x151x128xbf16=normal(0,1)' \
// RUN:   --input='1x8x151x128xbf16=normal(0,1)'

// CHECK: attn.gqa {{.*}} align(bottom_right) mask(#attn.causal)
func.func @main(%q: tensor<?x32x?x128xbf16>, %k: tensor<?x8x?x128xbf16>,
                %v: tensor<?x8x?x128xbf16>)
    -> (tensor<?x32x?x128xbf16>, tensor<?x32x?xf32>) {
  %o, %lse = attn.gqa %q, %k, %v align(bottom_right) mask(#attn.causal)
      : (tensor<?x32x?x128xbf16>, tensor<?x8x?x128xbf16>,
         tensor<?x8x?x128xbf16>)
      -> (tensor<?x32x?x128xbf16>, tensor<?x32x?xf32>)
  return %o, %lse : tensor<?x32x?x128xbf16>, tensor<?x32x?xf32>
}
