// Why patterns and passes left operations as they are: the op, who left it and
// why, once each, however often it was tried. Who found nothing of what it is
// about says nothing.

// RUN: attn-opt %s --attn-to-cpu=target=cpu:avx2 --explain 2>&1 >/dev/null | FileCheck %s
// RUN: attn-run %s --target=cpu:avx2 --emit=llvm --explain 2>&1 >/dev/null | FileCheck %s
// RUN: attn-run %s --target=cpu:avx2 --emit=llvm --explain 2>&1 >/dev/null | FileCheck %s --check-prefix=ONCE
// RUN: attn-run %s --target=cpu:avx2 --emit=llvm --explain 2>&1 >/dev/null | FileCheck %s --check-prefix=NOTHING
// RUN: attn-run %s --target=cpu:avx2 --emit=llvm --explain --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=BOTH

// Without being asked, and beside a filter.
// RUN: attn-run %s --target=cpu:avx2 --emit=llvm 2>&1 >/dev/null | count 0
// RUN: attn-run %s --target=cpu:avx2 --emit=llvm --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARKS
// RUN: attn-opt %s --attn-to-tile=target=cpu:avx2 --remarks-filter=explain --remark-format=emitRemark 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=FILTER
// RUN: not attn-opt %s --attn-to-tile --explain --remarks-filter=attn.* 2>&1 | FileCheck %s --check-prefix=TWO

// CHECK: explain.mlir:[[#@LINE+24]]:8: remark: [Missed] left-as-is | Category:explain | Remark="'attn.gqa' left as it is by canonicalize, pattern DropIdentityScore: score region changes the logit"
// CHECK-DAG: Remark="'attn.gqa' left as it is by canonicalize, pattern DropUnusedAlign: positions matter"
// CHECK-DAG: Remark="'attn.gqa' left as it is by canonicalize, pattern GqaToSoftmax: heads are not known to be equal"
// CHECK-DAG: Remark="'linalg.generic' left as it is by attn-tile-matmul: expected a result with rows and columns"
// CHECK-DAG: Remark="'attn.online_softmax' left as it is by attn-pack-tiles: few rows are used as they are"

// No clause for a region, masks in their one form, no keep region, no log-sum-exp,
// a fill that is no sum, and fma on a target that has it.
// NOTHING-NOT: nothing to do
// NOTHING-NOT: {{attn-expand-clauses|SimplifyMasks|DropTrueKeep|DropUnusedLse|SplitFma}}
// NOTHING-NOT: 'linalg.fill' left as it is by attn-tile-matmul

// ONCE-COUNT-1: pattern GqaToSoftmax
// ONCE-NOT: pattern GqaToSoftmax

// BOTH-DAG: Category:explain
// BOTH-DAG: Category:attn-tile
// REMARKS-NOT: Category:explain
// REMARKS: Category:attn-tile
// REMARKS-NOT: Category:explain
// FILTER: Category:explain
// TWO: option --explain: expected no filter of remarks beside it; one that matches 'explain' does the same

func.func @main(%q: tensor<1x4x2x16xf32>, %k: tensor<1x2x100x16xf32>, %x: tensor<8x8xf64>) -> (tensor<1x4x2x16xf32>, tensor<8xf64>) {
  %o = attn.gqa %q, %k, %k align(bottom_right) mask(#attn.causal)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %t = arith.addf %s, %s : f32
        attn.yield %t : f32
      }
      : (tensor<1x4x2x16xf32>, tensor<1x2x100x16xf32>, tensor<1x2x100x16xf32>) -> tensor<1x4x2x16xf32>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<8xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<8xf64>) -> tensor<8xf64>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : tensor<8x8xf64>, tensor<8x8xf64>) outs(%f : tensor<8xf64>) {
      ^bb0(%a: f64, %b: f64, %z: f64):
        %y = math.absf %a : f64
        %p = arith.maximumf %y, %b : f64
        %t = arith.addf %z, %p : f64
        linalg.yield %t : f64
      } -> tensor<8xf64>
  return %o, %r : tensor<1x4x2x16xf32>, tensor<8xf64>
}
