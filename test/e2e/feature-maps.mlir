// Features whose values fit on a line, on both devices.

// 1, s, s^2 / sqrt(2) of s = x / 2.
// RUN: attn-run %s --function=taylor --device=reference --input=1x1x2x1xf32=2,-4 --expect=1x1x2x3xf32=1,1,0.70710678,1,-2,2.8284271
// RUN: attn-run %s --function=taylor --device=cpu --input=1x1x2x1xf32=2,-4 --expect=1x1x2x3xf32=1,1,0.70710678,1,-2,2.8284271

// The softmax over x and -x, of numbers whose exponentials no f32 holds.
// RUN: attn-run %s --function=hedgehog --device=reference --input=1x1x3x1xf32=-100,100,0 --expect=1x1x3x2xf32=0,1,1,0,0.5,0.5
// RUN: attn-run %s --function=hedgehog --device=cpu --input=1x1x3x1xf32=-100,100,0 --expect=1x1x3x2xf32=0,1,1,0,0.5,0.5

// A map of keys whose head dim only the query tells, also of packed sequences:
// q and k are 1, whose product of features is 1 + 1 + 1/2, times a value of 2.
// RUN: attn-run %s --function=key --device=reference --input=1x1x2x1xf32=1,1 --input=1x1x2x1xf32=1,1 --input=1x1x2x1xf32=2,2 --expect=1x1x2x1xf32=5,10
// RUN: attn-run %s --function=key --device=cpu --input=1x1x2x1xf32=1,1 --input=1x1x2x1xf32=1,1 --input=1x1x2x1xf32=2,2 --expect=1x1x2x1xf32=5,10
// RUN: attn-run %s --function=packed --device=reference --input=1x1x2x1xf32=1,1 --input=1x1x2x1xf32=1,1 --input=1x1x2x1xf32=2,2 --input=3xi64=0,1,2 --expect=1x1x2x1xf32=5,5
// RUN: attn-run %s --function=packed --device=cpu --input=1x1x2x1xf32=1,1 --input=1x1x2x1xf32=1,1 --input=1x1x2x1xf32=2,2 --input=3xi64=0,1,2 --expect=1x1x2x1xf32=5,5

func.func @taylor(%x: tensor<1x1x?x1xf32>) -> tensor<1x1x?x3xf32> {
  %y = attn.feature_map %x feature(#attn.taylor2) scale(0.5)
      : tensor<1x1x?x1xf32> -> tensor<1x1x?x3xf32>
  return %y : tensor<1x1x?x3xf32>
}

func.func @hedgehog(%x: tensor<1x1x?x1xf32>) -> tensor<1x1x?x2xf32> {
  %y = attn.feature_map %x feature(#attn.hedgehog)
      : tensor<1x1x?x1xf32> -> tensor<1x1x?x2xf32>
  return %y : tensor<1x1x?x2xf32>
}

func.func @key(%q: tensor<1x1x?x1xf32>, %k: tensor<1x1x?x?xf32>,
               %v: tensor<1x1x?x1xf32>) -> tensor<1x1x?x1xf32> {
  %o = attn.linear %q, %k, %v feature(#attn.taylor2) causal
      : (tensor<1x1x?x1xf32>, tensor<1x1x?x?xf32>, tensor<1x1x?x1xf32>)
      -> tensor<1x1x?x1xf32>
  return %o : tensor<1x1x?x1xf32>
}

func.func @packed(%q: tensor<1x1x?x1xf32>, %k: tensor<1x1x?x?xf32>,
                  %v: tensor<1x1x?x1xf32>, %starts: tensor<?xi64>)
    -> tensor<1x1x?x1xf32> {
  %o = attn.linear %q, %k, %v query_starts(%starts : tensor<?xi64>)
      feature(#attn.taylor2) causal
      : (tensor<1x1x?x1xf32>, tensor<1x1x?x?xf32>, tensor<1x1x?x1xf32>)
      -> tensor<1x1x?x1xf32>
  return %o : tensor<1x1x?x1xf32>
}
