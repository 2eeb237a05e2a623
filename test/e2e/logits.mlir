// Scale, softcap, score region and lse on logits that are worked out by hand.

// The logits are 1.59 and 0: 1 / (1 + exp(-1.59)), ln(1 + exp(1.59)).
// RUN: attn-run %s --function=scale --device=reference --input=1x1x1x1xf32=1 --input=1x1x2x1xf32=1,0 --input=1x1x2x1xf32=1,0 --expect=1x1x1x1xf32=0.8306161 --expect=1x1x1xf32=1.7755876
// RUN: attn-run %s --function=scale --device=cpu --input=1x1x1x1xf32=1 --input=1x1x2x1xf32=1,0 --input=1x1x2x1xf32=1,0 --expect=1x1x1x1xf32=0.8306161 --expect=1x1x1xf32=1.7755876

// 0.5 tanh(2 / 0.5) and 0.5 tanh(1 / 0.5); the third key is past the length.
// RUN: attn-run %s --function=softcap --device=reference --input=1x1x1x1xf32=1 --input=1x1x3x1xf32=2,1,nan --input=1x1x3x1xf32=1,2,nan --input=1xi64=2 --expect=1x1x1x1xf32=1.4955874
// RUN: attn-run %s --function=softcap --device=cpu --input=1x1x1x1xf32=1 --input=1x1x3x1xf32=2,1,nan --input=1x1x3x1xf32=1,2,nan --input=1xi64=2 --expect=1x1x1x1xf32=1.4955874

// The largest and the smallest numbers that may stand there: the logits are 4
// and 0, then 1 and 0 (a cap far above them), then at most 1.2e-38, which is 0.
// RUN: attn-run %s --function=largest_scale --device=reference --input=1x1x1x1xf32=1 --input=1x1x2x1xf32=1.1754944e-38,0 --input=1x1x2x1xf32=1,0 --expect=1x1x1x1xf32=0.9820138
// RUN: attn-run %s --function=largest_scale --device=cpu --input=1x1x1x1xf32=1 --input=1x1x2x1xf32=1.1754944e-38,0 --input=1x1x2x1xf32=1,0 --expect=1x1x1x1xf32=0.9820138
// RUN: attn-run %s --function=largest_softcap --device=reference --input=1x1x1x1xf32=1 --input=1x1x2x1xf32=1,0 --input=1x1x2x1xf32=1,0 --expect=1x1x1x1xf32=0.7310586
// RUN: attn-run %s --function=largest_softcap --device=cpu --input=1x1x1x1xf32=1 --input=1x1x2x1xf32=1,0 --input=1x1x2x1xf32=1,0 --expect=1x1x1x1xf32=0.7310586
// RUN: attn-run %s --function=smallest_softcap --device=reference --input=1x1x1x1xf32=1 --input=1x1x2x1xf32=1,0 --input=1x1x2x1xf32=1,0 --expect=1x1x1x1xf32=0.5
// RUN: attn-run %s --function=smallest_softcap --device=cpu --input=1x1x1x1xf32=1 --input=1x1x2x1xf32=1,0 --input=1x1x2x1xf32=1,0 --expect=1x1x1x1xf32=0.5

// Logit 2 + j ln 2 from scores 2 and 2: weights 1/3 and 2/3.
// RUN: attn-run %s --function=score --device=reference --input=1x1x1x1xf32=2 --input=1x1x2x1xf32=1 --input=1x1x2x1xf32=3,6 --input=1xf32=0.69314718 --expect=1x1x1x1xf32=5
// RUN: attn-run %s --function=score --device=cpu --input=1x1x1x1xf32=2 --input=1x1x2x1xf32=1 --input=1x1x2x1xf32=3,6 --input=1xf32=0.69314718 --expect=1x1x1x1xf32=5

func.func @scale(%q: tensor<1x1x1x1xf32>, %k: tensor<1x1x?x1xf32>,
                 %v: tensor<1x1x?x1xf32>)
    -> (tensor<1x1x1x1xf32>, tensor<1x1x1xf32>) {
  %o, %lse = attn.softmax %q, %k, %v scale(1.59)
      : (tensor<1x1x1x1xf32>, tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32>)
      -> (tensor<1x1x1x1xf32>, tensor<1x1x1xf32>)
  return %o, %lse : tensor<1x1x1x1xf32>, tensor<1x1x1xf32>
}

func.func @softcap(%q: tensor<1x1x1x1xf32>, %k: tensor<1x1x?x1xf32>,
                   %v: tensor<1x1x?x1xf32>, %n: tensor<1xi64>)
    -> tensor<1x1x1x1xf32> {
  %o = attn.softmax %q, %k, %v softcap(0.5) lengths(%n : tensor<1xi64>)
      : (tensor<1x1x1x1xf32>, tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32>)
      -> tensor<1x1x1x1xf32>
  return %o : tensor<1x1x1x1xf32>
}

func.func @largest_scale(%q: tensor<1x1x1x1xf32>, %k: tensor<1x1x?x1xf32>,
                         %v: tensor<1x1x?x1xf32>)
    -> tensor<1x1x1x1xf32> {
  %o = attn.softmax %q, %k, %v scale(3.4028234e38)
      : (tensor<1x1x1x1xf32>, tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32>)
      -> tensor<1x1x1x1xf32>
  return %o : tensor<1x1x1x1xf32>
}

func.func @largest_softcap(%q: tensor<1x1x1x1xf32>, %k: tensor<1x1x?x1xf32>,
                           %v: tensor<1x1x?x1xf32>)
    -> tensor<1x1x1x1xf32> {
  %o = attn.softmax %q, %k, %v softcap(8.5070592e37)
      : (tensor<1x1x1x1xf32>, tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32>)
      -> tensor<1x1x1x1xf32>
  return %o : tensor<1x1x1x1xf32>
}

func.func @smallest_softcap(%q: tensor<1x1x1x1xf32>, %k: tensor<1x1x?x1xf32>,
                            %v: tensor<1x1x?x1xf32>)
    -> tensor<1x1x1x1xf32> {
  %o = attn.softmax %q, %k, %v softcap(1.1754944e-38)
      : (tensor<1x1x1x1xf32>, tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32>)
      -> tensor<1x1x1x1xf32>
  return %o : tensor<1x1x1x1xf32>
}

func.func @score(%q: tensor<1x1x1x1xf32>, %k: tensor<1x1x?x1xf32>,
                 %v: tensor<1x1x?x1xf32>, %slopes: tensor<1xf32>)
    -> tensor<1x1x1x1xf32> {
  %o = attn.softmax %q, %k, %v
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %slope = tensor.extract %slopes[%h] : tensor<1xf32>
        %integer = arith.index_cast %j : index to i64
        %float = arith.sitofp %integer : i64 to f32
        %bias = arith.mulf %slope, %float : f32
        %logit = arith.addf %s, %bias : f32
        attn.yield %logit : f32
      }
      : (tensor<1x1x1x1xf32>, tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32>)
      -> tensor<1x1x1x1xf32>
  return %o : tensor<1x1x1x1xf32>
}
