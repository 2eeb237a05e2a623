// Tree attention, as in speculative decoding: drafted tokens are the nodes of a
// tree behind a prompt. A node sees the prompt and its ancestors, which a bit set
// per node names: bit n of %ancestors[m] is set if node n is m or above it.

// RUN: attn-run %s --check --input='1x2x5x64xf32=normal(0,1)' \
// RUN:   --input='1x2x45x64xf32=normal(0,1)' \
// RUN:   --input='1x2x45x64xf32=normal(0,1)' --input=5xi64=1,3,5,11,21

func.func @main(%q: tensor<1x2x?x64xf32>, %k: tensor<1x2x?x64xf32>,
                %v: tensor<1x2x?x64xf32>, %ancestors: tensor<?xi64>)
    -> tensor<1x2x?x64xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %queries = tensor.dim %q, %c2 : tensor<1x2x?x64xf32>
  %keys = tensor.dim %k, %c2 : tensor<1x2x?x64xf32>
  %prompt = arith.subi %keys, %queries : index
  %o = attn.softmax %q, %k, %v align(bottom_right) mask(#attn.causal)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %in_prompt = arith.cmpi slt, %j, %prompt : index
        %node = arith.subi %i, %prompt : index
        %other = arith.subi %j, %prompt : index
        %set = tensor.extract %ancestors[%node] : tensor<?xi64>
        %bit = arith.index_cast %other : index to i64
        %zero = arith.constant 0 : i64
        %one = arith.constant 1 : i64
        %shifted = arith.shrui %set, %bit : i64
        %low = arith.andi %shifted, %one : i64
        %above = arith.cmpi ne, %low, %zero : i64
        %kept = arith.ori %in_prompt, %above : i1
        attn.yield %kept : i1
      }
      : (tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>)
      -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}
