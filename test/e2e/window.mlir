// A window of one key to the left, the token itself not counted, as an attribute
// and as a keep region; q = 0 and V[j] = j + 1.

// RUN: attn-run %s --function=attribute --device=reference --input=1x1x4x1xf32=0 --input=1x1x4x1xf32=0 --input=1x1x4x1xf32=1,2,3,4 --expect=1x1x4x1xf32=1,1.5,2.5,3.5
// RUN: attn-run %s --function=attribute --device=cpu --input=1x1x4x1xf32=0 --input=1x1x4x1xf32=0 --input=1x1x4x1xf32=1,2,3,4 --expect=1x1x4x1xf32=1,1.5,2.5,3.5
// RUN: attn-run %s --function=region --device=reference --input=1x1x4x1xf32=0 --input=1x1x4x1xf32=0 --input=1x1x4x1xf32=1,2,3,4 --expect=1x1x4x1xf32=1,1.5,2.5,3.5
// RUN: attn-run %s --function=region --device=cpu --input=1x1x4x1xf32=0 --input=1x1x4x1xf32=0 --input=1x1x4x1xf32=1,2,3,4 --expect=1x1x4x1xf32=1,1.5,2.5,3.5

func.func @attribute(%q: tensor<1x1x4x1xf32>, %k: tensor<1x1x4x1xf32>,
                     %v: tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32> {
  %o = attn.softmax %q, %k, %v align(top_left)
      mask(#attn.window<left = 1, right = 0>)
      : (tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>)
      -> tensor<1x1x4x1xf32>
  return %o : tensor<1x1x4x1xf32>
}

func.func @region(%q: tensor<1x1x4x1xf32>, %k: tensor<1x1x4x1xf32>,
                  %v: tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32> {
  %o = attn.softmax %q, %k, %v align(top_left)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %two = arith.constant 2 : index
        %distance = arith.subi %i, %j : index
        %kept = arith.cmpi ult, %distance, %two : index
        attn.yield %kept : i1
      }
      : (tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>)
      -> tensor<1x1x4x1xf32>
  return %o : tensor<1x1x4x1xf32>
}
