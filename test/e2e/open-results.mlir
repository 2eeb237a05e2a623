// Types of results that leave known sizes open, for every op. All keys weigh the
// same (q = 0), so that each row is the mean of V, 2 and 3, and with lse = ln 2.

// RUN: attn-run %s --function=softmax --device=reference --input=1x1x2x1xf32=0 --input=1x1x2x1xf32=0 --input=1x1x2x2xf32=1,2,3,4 --expect=1x1x2x2xf32=2,3,2,3 --expect=1x1x2xf32=0.69314718,0.69314718
// RUN: attn-run %s --function=softmax --device=cpu --input=1x1x2x1xf32=0 --input=1x1x2x1xf32=0 --input=1x1x2x2xf32=1,2,3,4 --expect=1x1x2x2xf32=2,3,2,3 --expect=1x1x2xf32=0.69314718,0.69314718
// RUN: attn-run %s --function=gqa --device=reference --input=1x2x1x1xf32=0 --input=1x1x2x1xf32=0 --input=1x1x2x2xf32=1,2,3,4 --expect=1x2x1x2xf32=2,3,2,3
// RUN: attn-run %s --function=gqa --device=cpu --input=1x2x1x1xf32=0 --input=1x1x2x1xf32=0 --input=1x1x2x2xf32=1,2,3,4 --expect=1x2x1x2xf32=2,3,2,3

// Two parts with as many keys: the mean of both outputs, and lse + ln 2.
// RUN: attn-run %s --function=merge --device=reference --input=1x1x1x2xf32=1,2 --input=1x1x1xf32=0 --input=1x1x1x2xf32=3,6 --input=1x1x1xf32=0 --expect=1x1x1x2xf32=2,4 --expect=1x1x1xf32=0.69314718
// RUN: attn-run %s --function=merge --device=cpu --input=1x1x1x2xf32=1,2 --input=1x1x1xf32=0 --input=1x1x1x2xf32=3,6 --input=1x1x1xf32=0 --expect=1x1x1x2xf32=2,4 --expect=1x1x1xf32=0.69314718

// q = 1, 1; k = 1, 2; v = 3, 5: states 3 and 13, with the normaliser 1 and 3. The
// values of the second head are twice as large.
// RUN: attn-run %s --function=linear --device=reference --input=1x2x2x1xf32=1 --input=1x2x2x1xf32=1,2,1,2 --input=1x2x2x1xf32=3,5,6,10 --expect=1x2x2x1xf32=3,4.3333333,6,8.6666667 --expect=1x2x1x2xf32=13,3,26,3
// RUN: attn-run %s --function=linear --device=cpu --input=1x2x2x1xf32=1 --input=1x2x2x1xf32=1,2,1,2 --input=1x2x2x1xf32=3,5,6,10 --expect=1x2x2x1xf32=3,4.3333333,6,8.6666667 --expect=1x2x1x2xf32=13,3,26,3

// (max(x, 0) cos 0, max(x, 0) sin 0): two features of one entry.
// RUN: attn-run %s --function=features --device=reference --input=1x1x1x1xf32=3 --expect=1x1x1x2xf32=3,0
// RUN: attn-run %s --function=features --device=cpu --input=1x1x1x1xf32=3 --expect=1x1x1x2xf32=3,0

// Equal features, so that all keys weigh the same.
// RUN: attn-run %s --function=favor --device=reference --input=1x1x1x1xf32=1 --input=1x1x2x1xf32=1 --input=1x1x2x1xf32=1,4 --input=1x1xf32=1 --expect=1x1x1x1xf32=2.5
// RUN: attn-run %s --function=favor --device=cpu --input=1x1x1x1xf32=1 --input=1x1x2x1xf32=1 --input=1x1x2x1xf32=1,4 --input=1x1xf32=1 --expect=1x1x1x1xf32=2.5

func.func @softmax(%q: tensor<1x1x2x1xf32>, %k: tensor<1x1x2x1xf32>,
                   %v: tensor<1x1x2x2xf32>)
    -> (tensor<?x1x?x?xf32>, tensor<?x?x2xf32>) {
  %o, %lse = attn.softmax %q, %k, %v
      : (tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x2xf32>)
      -> (tensor<?x1x?x?xf32>, tensor<?x?x2xf32>)
  return %o, %lse : tensor<?x1x?x?xf32>, tensor<?x?x2xf32>
}

func.func @gqa(%q: tensor<1x2x1x1xf32>, %k: tensor<1x1x2x1xf32>,
               %v: tensor<1x1x2x2xf32>) -> tensor<?x?x?x?xf32> {
  %o = attn.gqa %q, %k, %v
      : (tensor<1x2x1x1xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x2xf32>)
      -> tensor<?x?x?x?xf32>
  return %o : tensor<?x?x?x?xf32>
}

func.func @merge(%o1: tensor<1x1x1x2xf32>, %l1: tensor<1x1x1xf32>,
                 %o2: tensor<1x1x1x2xf32>, %l2: tensor<1x1x1xf32>)
    -> (tensor<?x1x1x?xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.merge %o1, %l1, %o2, %l2
      : (tensor<1x1x1x2xf32>, tensor<1x1x1xf32>, tensor<1x1x1x2xf32>,
         tensor<1x1x1xf32>) -> (tensor<?x1x1x?xf32>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x1x1x?xf32>, tensor<?x?x?xf32>
}

func.func @linear(%q: tensor<1x2x2x1xf32>, %k: tensor<1x2x2x1xf32>,
                  %v: tensor<1x2x2x1xf32>)
    -> (tensor<?x?x?x?xf32>, tensor<1x2x?x?xf32>) {
  %o, %s = attn.linear %q, %k, %v normalize(token) causal
      : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>)
      -> (tensor<?x?x?x?xf32>, tensor<1x2x?x?xf32>)
  return %o, %s : tensor<?x?x?x?xf32>, tensor<1x2x?x?xf32>
}

func.func @features(%x: tensor<1x1x1x1xf32>) -> tensor<?x1x?x?xf32> {
  %f = attn.feature_map %x feature(#attn.cosformer<length = 4>)
      : tensor<1x1x1x1xf32> -> tensor<?x1x?x?xf32>
  return %f : tensor<?x1x?x?xf32>
}

func.func @favor(%q: tensor<1x1x1x1xf32>, %k: tensor<1x1x2x1xf32>,
                 %v: tensor<1x1x2x1xf32>, %w: tensor<1x1xf32>)
    -> tensor<?x?x1x?xf32> {
  %o = attn.favor %q, %k, %v, %w kind(positive)
      : (tensor<1x1x1x1xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>,
         tensor<1x1xf32>) -> tensor<?x?x1x?xf32>
  return %o : tensor<?x?x1x?xf32>
}
