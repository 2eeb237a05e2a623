// ALiBi written as a score region: the logit of query i and key j falls with
// their distance, at a rate of its own for each head. The region sees the scaled
// logit %s and the indices of batch, head, query and key, and reads the slopes
// from a tensor of the surrounding function.

// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-run %s --check --input='2x8x77x64xf32=normal(0,1)' \
// RUN:   --input='2x8x77x64xf32=normal(0,1)' \
// RUN:   --input='2x8x77x64xf32=normal(0,1)' \
// RUN:   --input=8xf32=0.5,0.25,0.125,0.0625,0.03125,0.015625,0.0078125,0.00390625

// CHECK: attn.softmax {{.*}} score {
// CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index):
// CHECK: attn.yield %{{.*}} : f32
func.func @main(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>,
                %v: tensor<?x8x?x64xf32>, %slopes: tensor<8xf32>)
    -> tensor<?x8x?x64xf32> {
  %o = attn.softmax %q, %k, %v align(bottom_right) mask(#attn.causal)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %slope = tensor.extract %slopes[%h] : tensor<8xf32>
        %distance = arith.subi %j, %i : index
        %integer = arith.index_cast %distance : index to i64
        %float = arith.sitofp %integer : i64 to f32
        %bias = arith.mulf %slope, %float : f32
        %biased = arith.addf %s, %bias : f32
        attn.yield %biased : f32
      }
      : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>)
      -> tensor<?x8x?x64xf32>
  return %o : tensor<?x8x?x64xf32>
}
