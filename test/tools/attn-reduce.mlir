// A long program with a wrong result becomes one op of the least sizes with the
// mask that makes it wrong: the compiler behind %broken-run forgets masks in
// functions with this name.

// RUN: env ATTN_RUN=%broken-run attn-reduce %s -o %t.mlir \
// RUN:   --attn-reduction='test=%root/examples/reduce/differs.sh'
// RUN: FileCheck %s < %t.mlir
// RUN: not %broken-run %t.mlir --check
// RUN: attn-run %t.mlir --check

// Without anything to be found, and without a script.
// RUN: not attn-reduce %t.mlir --attn-reduction='test=%root/examples/reduce/differs.sh' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SOUND
// RUN: not attn-reduce %t.mlir --attn-reduction='test=/no/such/script' 2>&1 | FileCheck %s --check-prefix=SCRIPT
// RUN: not attn-reduce %t.mlir --attn-reduction 2>&1 | FileCheck %s --check-prefix=SCRIPT

// SOUND: error: option 'test': expected an executable file that exits with 1 for the program, got '{{.*}}differs.sh'
// SCRIPT: error: option 'test': expected an executable file that exits with 1 for the program, got '{{.*}}'

// CHECK-NOT: @sound
// CHECK: func.func @it_breaks_rewrite(%{{.*}}: tensor<[[S:1x1x[1-4]x1xf32]]>, %{{.*}}: tensor<[[S]]>{{.*}}) -> tensor<1x1x{{[1-4]}}{{(x1)?}}xf32>
// CHECK-NEXT: attn.softmax %{{.*}} align(top_left) mask(#attn.causal) :
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: }

func.func @sound(%q: tensor<1x4x40x16xf32>, %k: tensor<1x2x40x16xf32>) -> tensor<1x4x40x16xf32> {
  %o = attn.gqa %q, %k, %k align(top_left) mask(#attn.causal)
      : (tensor<1x4x40x16xf32>, tensor<1x2x40x16xf32>, tensor<1x2x40x16xf32>) -> tensor<1x4x40x16xf32>
  return %o : tensor<1x4x40x16xf32>
}

func.func @it_breaks_rewrite(%x: tensor<2x2x40x16xf32>, %k: tensor<2x2x40x16xf32>, %v: tensor<2x2x40x24xf32>, %n: tensor<40xi32>)
    -> (tensor<2x2x40x24xf32>, tensor<2x2x40xf32>) {
  %empty = tensor.empty() : tensor<2x2x40x16xf32>
  %q = linalg.exp ins(%x : tensor<2x2x40x16xf32>) outs(%empty : tensor<2x2x40x16xf32>) -> tensor<2x2x40x16xf32>
  %o, %lse = attn.softmax %q, %k, %v scale(0.5) softcap(20.0) align(top_left) mask(#attn.causal, #attn.window<left = 45>)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %two = arith.constant 2.0 : f32
        %t = arith.mulf %s, %two : f32
        attn.yield %t : f32
      }
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %a = tensor.extract %n[%j] : tensor<40xi32>
        %z = arith.constant 0 : i32
        %p = arith.cmpi eq, %a, %z : i32
        attn.yield %p : i1
      }
      : (tensor<2x2x40x16xf32>, tensor<2x2x40x16xf32>, tensor<2x2x40x24xf32>) -> (tensor<2x2x40x24xf32>, tensor<2x2x40xf32>)
  return %o, %lse : tensor<2x2x40x24xf32>, tensor<2x2x40xf32>
}
