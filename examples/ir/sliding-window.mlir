// A causal sliding window: every token sees itself and the 64 tokens before it.
// Both masks hold; tiles of keys that no query of a tile sees are never read.

// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-run %s --check --input='1x4x333x64xf32=normal(0,1)' \
// RUN:   --input='1x4x333x64xf32=normal(0,1)' \
// RUN:   --input='1x4x333x64xf32=normal(0,1)'

// CHECK: attn.softmax {{.*}} mask(#attn.causal, #attn.window<left = 64>)
func.func @main(%q: tensor<?x4x?x64xf32>, %k: tensor<?x4x?x64xf32>,
                %v: tensor<?x4x?x64xf32>) -> tensor<?x4x?x64xf32> {
  %o = attn.softmax %q, %k, %v align(bottom_right)
      mask(#attn.causal, #attn.window<left = 64>)
      : (tensor<?x4x?x64xf32>, tensor<?x4x?x64xf32>, tensor<?x4x?x64xf32>)
      -> tensor<?x4x?x64xf32>
  return %o : tensor<?x4x?x64xf32>
}
