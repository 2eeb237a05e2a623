// The attention of one layer of all-MiniLM-L6-v2: 12 heads of 32, a batch of
// sentences padded to one length. A key past the length of its sentence has no
// weight. The scale is the default, 1/sqrt(32). README.md runs it on the model's
// own data; here it runs on random operands, one sentence being empty.

// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-run %s --check --input='3x12x19x32xf32=normal(0,1)' \
// RUN:   --input='3x12x19x32xf32=normal(0,1)' \
// RUN:   --input='3x12x19x32xf32=normal(0,1)' --input=3xi64=19,7,0

// CHECK-LABEL: func.func @main
// CHECK: attn.softmax %{{.*}}, %{{.*}}, %{{.*}} lengths(%{{.*}} : tensor<?xi64>)
func.func @main(%q: tensor<?x12x?x32xf32>, %k: tensor<?x12x?x32xf32>,
                     %v: tensor<?x12x?x32xf32>, %n: tensor<?xi64>)
    -> tensor<?x12x?x32xf32> {
  %o = attn.softmax %q, %k, %v lengths(%n : tensor<?xi64>)
      : (tensor<?x12x?x32xf32>, tensor<?x12x?x32xf32>, tensor<?x12x?x32xf32>)
      -> tensor<?x12x?x32xf32>
  return %o : tensor<?x12x?x32xf32>
}
