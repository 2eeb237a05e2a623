// Chunked attention: tokens see their own chunk of 128 up to themselves, and
// nothing of the chunks before it.

// RUN: attn-run %s --check --input='1x2x301x64xf32=normal(0,1)' \
// RUN:   --input='1x2x301x64xf32=normal(0,1)' \
// RUN:   --input='1x2x301x64xf32=normal(0,1)'

func.func @main(%q: tensor<?x2x?x64xf32>, %k: tensor<?x2x?x64xf32>,
                %v: tensor<?x2x?x64xf32>) -> tensor<?x2x?x64xf32> {
  %o = attn.softmax %q, %k, %v align(bottom_right) mask(#attn.causal)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %size = arith.constant 128 : index
        %mine = arith.floordivsi %i, %size : index
        %theirs = arith.floordivsi %j, %size : index
        %same = arith.cmpi eq, %mine, %theirs : index
        attn.yield %same : i1
      }
      : (tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>)
      -> tensor<?x2x?x64xf32>
  return %o : tensor<?x2x?x64xf32>
}
