// Query head h reads key and value head h / G, in f32 and in bf16; a chunk of a
// sequence has the rows of the whole.

// RUN: attn-run %s --function=f32 --device=reference --input=1x4x1x1xf32=0 --input=1x2x1x1xf32=0 --input=1x2x1x1xf32=10,11 --expect=1x4x1x1xf32=10,10,11,11
// RUN: attn-run %s --function=f32 --device=cpu --input=1x4x1x1xf32=0 --input=1x2x1x1xf32=0 --input=1x2x1x1xf32=10,11 --expect=1x4x1x1xf32=10,10,11,11
// RUN: attn-run %s --function=bf16 --device=reference --input=1x6x1x1xbf16=0 --input=1x2x1x1xbf16=0 --input=1x2x1x1xbf16=10,11 --expect=1x6x1x1xbf16=10,10,10,11,11,11
// RUN: attn-run %s --function=bf16 --device=cpu --input=1x6x1x1xbf16=0 --input=1x2x1x1xbf16=0 --input=1x2x1x1xbf16=10,11 --expect=1x6x1x1xbf16=10,10,10,11,11,11

// Three rows after three cached keys, a window of one: (3+4)/2, (4+5)/2, ...
// RUN: attn-run %s --function=chunk --device=reference --input=1x1x3x1xf32=0 --input=1x1x6x1xf32=0 --input=1x1x6x1xf32=1,2,3,4,5,6 --input=index=3 --expect=1x1x3x1xf32=3.5,4.5,5.5
// RUN: attn-run %s --function=chunk --device=cpu --input=1x1x3x1xf32=0 --input=1x1x6x1xf32=0 --input=1x1x6x1xf32=1,2,3,4,5,6 --input=index=3 --expect=1x1x3x1xf32=3.5,4.5,5.5

func.func @f32(%q: tensor<1x?x1x1xf32>, %k: tensor<1x?x1x1xf32>,
               %v: tensor<1x?x1x1xf32>) -> tensor<1x?x1x1xf32> {
  %o = attn.gqa %q, %k, %v
      : (tensor<1x?x1x1xf32>, tensor<1x?x1x1xf32>, tensor<1x?x1x1xf32>)
      -> tensor<1x?x1x1xf32>
  return %o : tensor<1x?x1x1xf32>
}

func.func @bf16(%q: tensor<1x6x1x1xbf16>, %k: tensor<1x2x1x1xbf16>,
                %v: tensor<1x2x1x1xbf16>) -> tensor<1x6x1x1xbf16> {
  %o = attn.gqa %q, %k, %v
      : (tensor<1x6x1x1xbf16>, tensor<1x2x1x1xbf16>, tensor<1x2x1x1xbf16>)
      -> tensor<1x6x1x1xbf16>
  return %o : tensor<1x6x1x1xbf16>
}

func.func @chunk(%q: tensor<1x1x?x1xf32>, %k: tensor<1x1x?x1xf32>,
                 %v: tensor<1x1x?x1xf32>, %p: index) -> tensor<1x1x?x1xf32> {
  %o = attn.softmax %q, %k, %v offset(%p : index)
      mask(#attn.causal, #attn.window<left = 1>)
      : (tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32>)
      -> tensor<1x1x?x1xf32>
  return %o : tensor<1x1x?x1xf32>
}
