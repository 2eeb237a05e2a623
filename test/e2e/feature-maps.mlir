// Features whose values fit on a line, on both devices.

// 1, s, s^2 / sqrt(2) of s = x / 2.
// RUN: attn-run %s --function=taylor --device=reference --input=1x1x2x1xf32=2,-4 --expect=1x1x2x3xf32=1,1,0.70710678,1,-2,2.8284271
// RUN: attn-run %s --function=taylor --device=cpu --input=1x1x2x1xf32=2,-4 --expect=1x1x2x3xf32=1,1,0.70710678,1,-2,2.8284271

// The softmax over x and -x, of numbers whose exponentials no f32 holds.
// RUN: attn-run %s --function=hedgehog --device=reference --input=1x1x3x1xf32=-100,100,0 --expect=1x1x3x2xf32=0,1,1,0,0.5,0.5
// RUN: attn-run %s --function=hedgehog --device=cpu --input=1x1x3x1xf32=-100,100,0 --expect=1x1x3x2xf32=0,1,1,0,0.5,0.5

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
