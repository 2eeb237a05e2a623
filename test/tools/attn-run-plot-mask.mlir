// RUN: split-file %s %t

// Queries in tiles of 8, keys in tiles of 64. Row tile t of 16 sees the keys up
// to 8t + 7: the first 8 row tiles touch one of two key tiles, the others both;
// the tile on the diagonal is masked.
// RUN: attn-run %t/causal.mlir --target=cpu:generic --plot-mask=%t/causal.svg --plot-head=1 | count 0
// RUN: FileCheck %s < %t/causal.svg

// CHECK: <svg xmlns="http://www.w3.org/2000/svg" width="740"
// CHECK: >main: attention 0, batch 0, head 1</text>
// CHECK-NEXT: >128 queries x 128 keys, tiles of 8 x 64, cpu:generic</text>
// CHECK-NEXT: >8 skipped (25 %), 8 plain (25 %), 16 masked (50 %)</text>

// The first row is masked and skipped, the last one plain and masked: the
// picture begins at 76, 116 and has 5 pixels for a query or a key.
// CHECK-NEXT: <rect x="76.00" y="116.00" width="320.00" height="40.00" fill="#eeaa55"/>
// CHECK-NEXT: <rect x="396.00" y="116.00" width="320.00" height="40.00" fill="#f1f1ee"/>
// CHECK: <rect x="76.00" y="716.00" width="320.00" height="40.00" fill="#4477aa"/>
// CHECK-NEXT: <rect x="396.00" y="716.00" width="320.00" height="40.00" fill="#eeaa55"/>
// CHECK: >key position j</text>
// CHECK: >query position i</text>
// CHECK: >skipped</text>
// CHECK: >plain</text>
// CHECK: >masked</text>
// CHECK: >key seen by query</text>
// CHECK: </svg>

// A square for each pair of a query and a key that it sees: 16 * 17 / 2.
// RUN: sed 's/128/16/g' %t/causal.mlir > %t/small.mlir
// RUN: attn-run %t/small.mlir --target=cpu:generic --plot-mask=%t/small.svg
// RUN: grep -o 'h20.00v20.00h-20.00z' %t/small.svg | count 136

// Too many elements to be seen are not drawn.
// RUN: sed 's/128/2048/g' %t/causal.mlir > %t/large.mlir
// RUN: attn-run %t/large.mlir --target=cpu:avx2 --plot-mask=%t/large.svg
// RUN: FileCheck %s --check-prefix=LARGE < %t/large.svg
// LARGE: >2048 queries x 2048 keys, tiles of 24 x 64, cpu:avx2</text>
// LARGE-NOT: key seen by query

// Lengths are those of the call; four heads share a tile.
// RUN: attn-run %t/decode.mlir --target=cpu:avx2 --input=k=2x2x1000x8xf32=1 \
// RUN:   --input=n=2xi64=1000,300 --plot-batch=1 --plot-head=5 --plot-mask=%t/decode.svg
// RUN: FileCheck %s --check-prefix=DECODE < %t/decode.svg
// DECODE: >main: attention 0, batch 1, head 5</text>
// DECODE: >2 queries x 1000 keys, tiles of 8 x 512 with 4 heads each, cpu:avx2</text>
// DECODE: >1 skipped (50 %), 0 plain (0 %), 1 masked (50 %)</text>
// DECODE: fill="#eeaa55"
// DECODE-NEXT: fill="#c9c9c4"
// DECODE: >298</text>
// DECODE: >beyond the keys in use</text>

// The tiles are those of the loops that the call takes, and as many as the
// benchmark counts, times two key heads.
// RUN: attn-run %t/step.mlir --target=cpu:avx2 --input=q=1x8x1x8xf32=1 --input=k=1x2x1100x8xf32=1 --plot-mask=%t/step.svg
// RUN: FileCheck %s --check-prefix=STEP < %t/step.svg
// RUN: attn-run %t/step.mlir --target=cpu:avx2 --input=q=1x8x1x8xf32=1 --input=k=1x2x1100x8xf32=1 --remarks 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=STEPS
// RUN: attn-run %t/step.mlir --target=cpu:avx2 --input=q=1x8x90x8xf32=1 --input=k=1x2x1100x8xf32=1 --plot-mask=%t/prompt.svg
// RUN: FileCheck %s --check-prefix=PROMPT < %t/prompt.svg
// STEP: >1 queries x 1100 keys, tiles of 8 x 512 with 4 heads each, cpu:avx2</text>
// STEP: >0 skipped (0 %), 3 plain (100 %), 0 masked (0 %)</text>
// STEPS: key tiles: 0 skipped, 6 plain, 0 masked
// PROMPT: >90 queries x 1100 keys, tiles of 24 x 64, cpu:avx2</text>

// The picture in the documents is what its command draws.
// RUN: attn-run %root/examples/ir/dilated-window.mlir --target=cpu:avx2 --plot-mask=%t/dilated.svg \
// RUN:   --input=1x2x301x64xf32=0 --input=1x2x301x64xf32=0 --input=1x2x301x64xf32=0
// RUN: diff %root/docs/dilated-window.svg %t/dilated.svg

// RUN: not attn-run %t/causal.mlir --plot-mask=%t/x.svg --plot-head=2 2>&1 | FileCheck %s --check-prefix=HEAD
// RUN: not attn-run %t/causal.mlir --plot-mask=%t/x.svg --plot-batch=1 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not attn-run %t/causal.mlir --plot-mask=%t/x.svg --plot-attention=1 2>&1 | FileCheck %s --check-prefix=ATTENTION
// RUN: not attn-run %t/none.mlir --plot-mask=%t/x.svg 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not attn-run %t/causal.mlir --plot-mask=/no/such/folder/x.svg 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not attn-run %t/causal.mlir --plot-head=1 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not attn-run %t/causal.mlir --plot-mask=%t/x.svg --device=reference 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not attn-run %t/causal.mlir --plot-mask=%t/x.svg --plot-head=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not attn-run %t/causal.mlir --plot-mask=%t/x.png 2>&1 | FileCheck %s --check-prefix=PNG
// RUN: not attn-run %t/causal.mlir --plot-mask=%t/x.svg.gz 2>&1 | FileCheck %s --check-prefix=GZ
// RUN: not test -e %t/x.png
// PNG: option --plot-mask: expected a file name that ends in .svg, as pictures are SVG, got '{{.*}}x.png'
// GZ: option --plot-mask: expected a file name that ends in .svg, as pictures are SVG, got '{{.*}}x.svg.gz'
// HEAD: function 'main': head: expected 0 to 1, got 2
// BATCH: function 'main': batch: expected 0 to 0, got 1
// ATTENTION: function 'main': attention: expected 0 to 0, got 1
// NONE: function 'main': attention: expected none as there is none, got 0
// FILE: '/no/such/folder/x.svg'
// ALONE: option --plot-head, --plot-batch or --plot-attention: expected --plot-mask beside it
// DEVICE: option --plot-mask: expected device cpu, got reference
// NEGATIVE: option --plot-head: expected an integer from 0 to 9223372036854775807, got '-1'

//--- causal.mlir
func.func @main(%q: tensor<1x2x128x16xf32>) -> tensor<1x2x128x16xf32> {
  %o = attn.softmax %q, %q, %q align(top_left) mask(#attn.causal) : (tensor<1x2x128x16xf32>, tensor<1x2x128x16xf32>, tensor<1x2x128x16xf32>) -> tensor<1x2x128x16xf32>
  return %o : tensor<1x2x128x16xf32>
}

//--- decode.mlir
func.func @main(%q: tensor<2x8x2x8xf32>, %k: tensor<2x2x?x8xf32>, %n: tensor<2xi64>) -> tensor<2x8x2x8xf32> {
  %o = attn.gqa %q, %k, %k align(bottom_right) mask(#attn.causal) lengths(%n : tensor<2xi64>)
      : (tensor<2x8x2x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x8xf32>) -> tensor<2x8x2x8xf32>
  return %o : tensor<2x8x2x8xf32>
}

//--- none.mlir
func.func @main(%q: tensor<2xf32>) -> tensor<2xf32> {
  return %q : tensor<2xf32>
}

//--- step.mlir
// The number of queries is only known to the call, which takes the loops for a
// step of decoding.
func.func @main(%q: tensor<1x8x?x8xf32>, %k: tensor<1x2x?x8xf32>) -> tensor<1x8x?x8xf32> {
  %o = attn.gqa %q, %k, %k align(bottom_right) mask(#attn.causal)
      : (tensor<1x8x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) -> tensor<1x8x?x8xf32>
  return %o : tensor<1x8x?x8xf32>
}
