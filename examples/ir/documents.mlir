// Several documents packed into one sequence: a token sees a key if both belong
// to the same document, which a tensor of the surrounding function says. Where
// the ids are sorted, most tiles of keys hold none of the documents of a tile of
// queries and are skipped; nothing but this region is needed for that.

// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-run %s --check --input='1x4x12x64xf32=normal(0,1)' \
// RUN:   --input='1x4x12x64xf32=normal(0,1)' \
// RUN:   --input='1x4x12x64xf32=normal(0,1)' \
// RUN:   --input=12xi32=3,3,3,3,3,5,5,8,8,8,8,9

// CHECK: attn.softmax {{.*}} keep {
// CHECK: ^bb0(%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index):
// CHECK: attn.yield %{{.*}} : i1
func.func @main(%q: tensor<1x4x?x64xf32>, %k: tensor<1x4x?x64xf32>,
                %v: tensor<1x4x?x64xf32>, %document: tensor<?xi32>)
    -> tensor<1x4x?x64xf32> {
  %o = attn.softmax %q, %k, %v align(top_left)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %mine = tensor.extract %document[%i] : tensor<?xi32>
        %theirs = tensor.extract %document[%j] : tensor<?xi32>
        %same = arith.cmpi eq, %mine, %theirs : i32
        attn.yield %same : i1
      }
      : (tensor<1x4x?x64xf32>, tensor<1x4x?x64xf32>, tensor<1x4x?x64xf32>)
      -> tensor<1x4x?x64xf32>
  return %o : tensor<1x4x?x64xf32>
}
