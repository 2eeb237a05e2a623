// Softcapped logits: 50 tanh(logit / 50) keeps them between -50 and 50. Here
// with a scale of its own and key lengths per batch entry, one of them zero: a
// row without keys gives 0.

// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-run %s --check --input='3x4x45x64xf32=normal(0,4)' \
// RUN:   --input='3x4x45x64xf32=normal(0,4)' \
// RUN:   --input='3x4x45x64xf32=normal(0,1)' --input=3xi64=45,17,0

// CHECK: attn.softmax {{.*}} scale(2.500000e-01) softcap(5.000000e+01) lengths(%{{.*}} : tensor<?xi64>)
func.func @main(%q: tensor<?x4x?x64xf32>, %k: tensor<?x4x?x64xf32>,
                %v: tensor<?x4x?x64xf32>, %n: tensor<?xi64>)
    -> tensor<?x4x?x64xf32> {
  %o = attn.softmax %q, %k, %v scale(0.25) softcap(50.0)
      lengths(%n : tensor<?xi64>)
      : (tensor<?x4x?x64xf32>, tensor<?x4x?x64xf32>, tensor<?x4x?x64xf32>)
      -> tensor<?x4x?x64xf32>
  return %o : tensor<?x4x?x64xf32>
}
