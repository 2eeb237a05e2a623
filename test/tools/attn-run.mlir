// Runs, compares and writes results: the happy paths of attn-run.

// One query over two keys with scores 0 and ln 3 (scale 1): weights 1/4, 3/4.
// RUN: attn-run %s --input=q=1x1x1x1xf32=1 --input=k=1x1x2x1xf32=0,1.0986123 \
// RUN:   --input=v=1x1x2x1xf32=4,8 --output=o=- --output=lse=- \
// RUN:   | FileCheck %s --check-prefix=TEXT
// TEXT: o: 1x1x1x1xf32 = {{\[\[\[\[(7|7\.0000|6\.9999)[0-9]*\]\]\]\]}}
// TEXT: lse: 1x1x1xf32 = {{\[\[\[1\.3862[0-9]*\]\]\]}}

// The same by order, on the reference device, against expected values.
// RUN: attn-run %s --device=reference --input=1x1x1x1xf32=1 \
// RUN:   --input=1x1x2x1xf32=0,1.0986123 --input=1x1x2x1xf32=4,8 \
// RUN:   --expect=1x1x1x1xf32=7 --expect=lse=1x1x1xf32=1.3862944 \
// RUN:   | FileCheck %s --check-prefix=EXPECT
// EXPECT: expect o: ok
// EXPECT: expect lse: ok

// A wrong expectation fails, and says where.
// RUN: not attn-run %s --input=1x1x1x1xf32=1 --input=1x1x2x1xf32=0,1.0986123 \
// RUN:   --input=1x1x2x1xf32=4,8 --expect=1x1x1x1xf32=7.1 \
// RUN:   | FileCheck %s --check-prefix=WRONG
// WRONG: expect o: MISMATCH, max abs error 0.1
// WRONG-NEXT: at [0, 0, 0, 0]: expected {{7\.0999[0-9]*|7\.1[0-9]*}}, got

// A tolerance that covers the difference.
// RUN: attn-run %s --input=1x1x1x1xf32=1 --input=1x1x2x1xf32=0,1.0986123 \
// RUN:   --input=1x1x2x1xf32=4,8 --expect=1x1x1x1xf32=7.1 --atol=0.11

// An expectation of another shape is a mismatch.
// RUN: not attn-run %s --input=1x1x1x1xf32=1 --input=1x1x2x1xf32=0,1 \
// RUN:   --input=1x1x2x1xf32=4,8 --expect=1x1x2x1xf32=7 \
// RUN:   | FileCheck %s --check-prefix=SHAPE
// SHAPE: expect o: MISMATCH: expected 1x1x2x1xf32, got 1x1x1x1xf32

// Files: what is written is read back.
// RUN: attn-run %s --input=2x3x5x8xf32 --input=2x3x7x8xf32 \
// RUN:   --input=2x3x7x4xf32 --seed=3 --output=o=@%t.npy --output=lse=@%t.l.npy
// RUN: attn-run %s --input=2x3x5x8xf32 --input=2x3x7x8xf32 \
// RUN:   --input=2x3x7x4xf32 --seed=3 --expect=o=@%t.npy --expect=lse=@%t.l.npy \
// RUN:   --atol=0 --rtol=0
// Another seed is another problem.
// RUN: not attn-run %s --input=2x3x5x8xf32 --input=2x3x7x8xf32 \
// RUN:   --input=2x3x7x4xf32 --seed=4 --expect=o=@%t.npy

// Against the reference device, by default and with bounds that can't hold.
// RUN: attn-run %s --input=2x3x65x40xf32 --input=2x3x130x40xf32 \
// RUN:   --input=2x3x130x24xf32 --check | FileCheck %s --check-prefix=CHECK
// CHECK: check o: ok, max abs error {{.*}}, relative rms {{.*}}, tolerance 1e-05 (relative rms)
// CHECK: check lse: ok, {{.*}}tolerance 1e-05 (max abs)
// RUN: not attn-run %s --input=2x3x65x40xf32 --input=2x3x130x40xf32 \
// RUN:   --input=2x3x130x24xf32 --check --rtol=1e-12 | FileCheck %s --check-prefix=CLOSER
// CLOSER: check o: MISMATCH

// One line per result where nothing else is asked for.
// RUN: attn-run %s --input=2x3x5x8xf32 --input=2x3x7x8xf32 \
// RUN:   --input=2x3x7x4xf32 | FileCheck %s --check-prefix=SUMMARY
// SUMMARY: o: 2x3x5x4xf32, min -{{.*}}, max {{.*}}, mean
// SUMMARY-NEXT: lse: 2x3x5xf32, min

func.func @main(%q: tensor<?x?x?x?xf32>, %k: tensor<?x?x?x?xf32>,
                %v: tensor<?x?x?x?xf32>)
    -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.softmax %q, %k, %v scale(1.0)
      : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>)
      -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x?xf32>, tensor<?x?x?xf32>
}
