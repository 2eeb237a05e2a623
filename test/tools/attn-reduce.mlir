// A long program with a wrong result becomes one op of the least sizes with the
// mask that makes it wrong: the compiler behind %broken-run forgets masks in
// functions with this name.

// RUN: printf '#!/no/such/interpreter\n' > %t.interpreter.sh
// RUN: printf '#!/bin/sh\nkill -9 $$\n' > %t.killed.sh
// RUN: printf '#!/bin/sh\nexit 3\n' > %t.other.sh
// RUN: printf '#!/bin/sh\ngrep -q causal "$1" && exit 1\nexit 3\n' > %t.fragile.sh
// RUN: chmod +x %t.interpreter.sh %t.killed.sh %t.other.sh %t.fragile.sh

// RUN: env ATTN_RUN=%broken-run attn-reduce %s -o %t.mlir \
// RUN:   --attn-reduction='test=%root/examples/reduce/differs.sh'
// RUN: FileCheck %s < %t.mlir
// RUN: not %broken-run %t.mlir --check
// RUN: attn-run %t.mlir --check

// On a terminal it says how far it is, and nothing elsewhere.
// RUN: %python -c "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))" \
// RUN:   %bin/attn-reduce %s -o %t.same.mlir --attn-reduction='test=%t.fragile.sh' | FileCheck %s --check-prefix=PROGRESS
// RUN: attn-reduce %t.mlir -o %t.same.mlir --attn-reduction='test=%t.fragile.sh' 2>&1 | count 0
// PROGRESS: attn-reduce: 1 programs tried, 1 changes kept, {{[0-9]+}} operations left
// PROGRESS: attn-reduce: {{[2-9]}} programs tried

// What can be wrong with a script: it is not named, not there, not executable,
// can't be run, does not end by itself, exits with neither 0 nor 1, finds nothing.
// RUN: not attn-reduce %t.mlir --attn-reduction 2>&1 | FileCheck %s --check-prefix=UNNAMED
// RUN: not attn-reduce %t.mlir --attn-reduction='test=/no/such/script' 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not attn-reduce %t.mlir --attn-reduction='test=%s' 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: not attn-reduce %t.mlir --attn-reduction='test=%t.interpreter.sh' 2>&1 | FileCheck %s --check-prefix=INTERPRETER
// RUN: not attn-reduce %t.mlir --attn-reduction='test=%t.killed.sh' 2>&1 | FileCheck %s --check-prefix=KILLED
// RUN: not attn-reduce %t.mlir --attn-reduction='test=%t.other.sh' 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not attn-reduce %t.mlir --attn-reduction='test=%root/examples/reduce/differs.sh' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SOUND

// UNNAMED: error: option 'test': expected a program that exits with 1 for what is interesting, got none
// ABSENT: error: option 'test': expected a file, got '/no/such/script', which does not exist
// PLAIN: error: option 'test': expected an executable file, got '{{.*}}attn-reduce.mlir', which is not one
// INTERPRETER: error: option 'test': '{{.*}}interpreter.sh' did not run to its end: {{.+}}
// KILLED: error: option 'test': '{{.*}}killed.sh' did not run to its end: {{.+}}
// OTHER: error: option 'test': expected exit status 0 or 1, got 3 from '{{.*}}other.sh'
// SOUND: error: option 'test': expected exit status 1 for the whole program, which is to be interesting, got 0 from '{{.*}}differs.sh'

// A script that fails on a smaller program does not find it interesting.
// RUN: attn-reduce %t.mlir -o %t.kept.mlir --attn-reduction='test=%t.fragile.sh'
// RUN: grep -q 'causal' %t.kept.mlir

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
