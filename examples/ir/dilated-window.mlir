// A new mask without touching C++: a dilated window. A token sees itself and
// every fourth token before it, 32 of them at most.

// RUN: attn-run %s --check --input='1x2x301x64xf32=normal(0,1)' \
// RUN:   --input='1x2x301x64xf32=normal(0,1)' \
// RUN:   --input='1x2x301x64xf32=normal(0,1)'

func.func @main(%q: tensor<?x2x?x64xf32>, %k: tensor<?x2x?x64xf32>,
                %v: tensor<?x2x?x64xf32>) -> tensor<?x2x?x64xf32> {
  %o = attn.softmax %q, %k, %v align(bottom_right)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %zero = arith.constant 0 : index
        %dilation = arith.constant 4 : index
        %reach = arith.constant 128 : index
        %distance = arith.subi %i, %j : index
        %past = arith.cmpi sge, %distance, %zero : index
        %near = arith.cmpi sle, %distance, %reach : index
        %step = arith.remsi %distance, %dilation : index
        %fourth = arith.cmpi eq, %step, %zero : index
        %inside = arith.andi %past, %near : i1
        %kept = arith.andi %inside, %fourth : i1
        attn.yield %kept : i1
      }
      : (tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>)
      -> tensor<?x2x?x64xf32>
  return %o : tensor<?x2x?x64xf32>
}
