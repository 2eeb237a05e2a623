// Where causal rows stand. All keys weigh the same (q = 0) and V[j] = j + 1, so
// each row is the mean of j + 1 over the keys it sees.

// RUN: attn-run %s --function=bottom_right --device=reference --input=1x1x2x1xf32=0 --input=1x1x5x1xf32=0 --input=1x1x5x1xf32=1,2,3,4,5 --expect=1x1x2x1xf32=2.5,3
// RUN: attn-run %s --function=bottom_right --device=cpu --input=1x1x2x1xf32=0 --input=1x1x5x1xf32=0 --input=1x1x5x1xf32=1,2,3,4,5 --expect=1x1x2x1xf32=2.5,3
// RUN: attn-run %s --function=bottom_right --target=cpu:generic --input=1x1x2x1xf32=0 --input=1x1x5x1xf32=0 --input=1x1x5x1xf32=1,2,3,4,5 --expect=1x1x2x1xf32=2.5,3
// RUN: attn-run %s --function=top_left --device=reference --input=1x1x2x1xf32=0 --input=1x1x5x1xf32=0 --input=1x1x5x1xf32=1,2,3,4,5 --expect=1x1x2x1xf32=1,1.5
// RUN: attn-run %s --function=top_left --device=cpu --input=1x1x2x1xf32=0 --input=1x1x5x1xf32=0 --input=1x1x5x1xf32=1,2,3,4,5 --expect=1x1x2x1xf32=1,1.5

// More queries than keys: the first rows see nothing and are 0.
// RUN: attn-run %s --function=bottom_right --device=reference --input=1x1x4x1xf32=0 --input=1x1x2x1xf32=0 --input=1x1x2x1xf32=1,2 --expect=1x1x4x1xf32=0,0,1,1.5
// RUN: attn-run %s --function=bottom_right --device=cpu --input=1x1x4x1xf32=0 --input=1x1x2x1xf32=0 --input=1x1x2x1xf32=1,2 --expect=1x1x4x1xf32=0,0,1,1.5

// A wrong expectation is exit status 1.
// RUN: not attn-run %s --function=top_left --device=cpu --input=1x1x2x1xf32=0 --input=1x1x5x1xf32=0 --input=1x1x5x1xf32=1,2,3,4,5 --expect=1x1x2x1xf32=2.5,3

func.func @bottom_right(%q: tensor<1x1x?x1xf32>, %k: tensor<1x1x?x1xf32>,
                        %v: tensor<1x1x?x1xf32>) -> tensor<1x1x?x1xf32> {
  %o = attn.softmax %q, %k, %v align(bottom_right) mask(#attn.causal)
      : (tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32>)
      -> tensor<1x1x?x1xf32>
  return %o : tensor<1x1x?x1xf32>
}

func.func @top_left(%q: tensor<1x1x?x1xf32>, %k: tensor<1x1x?x1xf32>,
                    %v: tensor<1x1x?x1xf32>) -> tensor<1x1x?x1xf32> {
  %o = attn.softmax %q, %k, %v align(top_left) mask(#attn.causal)
      : (tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32>)
      -> tensor<1x1x?x1xf32>
  return %o : tensor<1x1x?x1xf32>
}
