// RUN: attn-opt %s --attn-set-target=target=cpu:avx2 --attn-reassociate | FileCheck %s
// RUN: attn-opt %s --attn-set-target=target=cpu:avx2 --attn-reassociate --remarks-filter='attn.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: attn-opt %s --attn-to-rewrite='target=cpu:avx2 reassociate=never' | FileCheck %s --check-prefix=NEVER
// RUN: attn-opt %s --attn-to-rewrite='target=cpu:avx2 reassociate=always' | FileCheck %s --check-prefix=ALWAYS
// RUN: not attn-opt %s --attn-set-target=target=cpu:avx2 --attn-reassociate=mode=yes 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: attn-reassociate: mode: expected auto, always or never, got 'yes'

// NEVER-NOT: linalg.contract {{.*}} -> tensor<64x64xf32>
// NEVER-NOT: attn.linear

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>

// The scores of 1024 x 1024 go; what was added to the result stays.
// CHECK-DAG: #[[KEYS_A:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[KEYS_B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func @keys_first
// CHECK-SAME: %[[A:[^:]*]]: tensor<1024x64xf32>, %[[B:[^:]*]]: tensor<1024x64xf32>, %[[V:[^:]*]]: tensor<1024x64xf32>, %[[O:[^:]*]]: tensor<1024x64xf32>
// CHECK-NOT: 1024x1024
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<64x64xf32>
// CHECK: %[[T:.*]] = linalg.contract indexing_maps = [#[[KEYS_A]], #[[KEYS_B]], #[[OUT]]] ins(%[[B]], %[[V]] : {{.*}}) outs(%[[ZEROS]] : {{.*}})
// CHECK: linalg.contract indexing_maps = [#[[ROWS]], #[[KEYS_B]], #[[OUT]]] ins(%[[A]], %[[T]] : {{.*}}) outs(%[[O]] : {{.*}})
// CHECK-NEXT: return
// REMARK: [Passed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' reassociated: 16.8 MFLOP in {{.*}} ms against 268 MFLOP in {{.*}} ms, nominally, for 1024 rows; it pays from 65 rows on"
// ALWAYS-LABEL: func @keys_first(
// ALWAYS: linalg.contract
func.func @keys_first(%a: tensor<1024x64xf32>, %b: tensor<1024x64xf32>, %v: tensor<1024x64xf32>, %o: tensor<1024x64xf32>) -> tensor<1024x64xf32> {
  %z = arith.constant dense<0.0> : tensor<1024x1024xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<1024x64xf32>, tensor<1024x64xf32>) outs(%z : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul ins(%p, %v : tensor<1024x1024xf32>, tensor<1024x64xf32>) outs(%o : tensor<1024x64xf32>) -> tensor<1024x64xf32>
  return %r : tensor<1024x64xf32>
}

// CHECK-LABEL: func @few_rows
// CHECK: linalg.matmul {{.*}} -> tensor<32x32xf32>
// CHECK: linalg.matmul {{.*}} -> tensor<32x64xf32>
// REMARK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: it does not pay: 524 kFLOP in {{.*}} ms against 262 kFLOP in {{.*}} ms, nominally, for 32 rows; it pays from 65 rows on"
// ALWAYS-LABEL: func @few_rows(
// ALWAYS: linalg.contract {{.*}} -> tensor<64x64xf32>
func.func @few_rows(%a: tensor<32x64xf32>, %b: tensor<32x64xf32>, %v: tensor<32x64xf32>, %o: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %z = arith.constant dense<0.0> : tensor<32x32xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<32x64xf32>, tensor<32x64xf32>) outs(%z : tensor<32x32xf32>) -> tensor<32x32xf32>
  %r = linalg.matmul ins(%p, %v : tensor<32x32xf32>, tensor<32x64xf32>) outs(%o : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %r : tensor<32x64xf32>
}

// The other way round, where that is what costs less. It is not what `always`
// asks for.
// CHECK-LABEL: func @scores_first
// CHECK: linalg.contract {{.*}} -> tensor<4x5xf32>
// CHECK: linalg.contract {{.*}} -> tensor<4x64xf32>
// REMARK: [Passed] {{.*}}'linalg.matmul' reassociated
// ALWAYS-LABEL: func @scores_first(
// ALWAYS: linalg.matmul {{.*}} -> tensor<64x64xf32>
func.func @scores_first(%a: tensor<4x64xf32>, %b: tensor<64x5xf32>, %v: tensor<5x64xf32>, %o: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %t = linalg.matmul ins(%b, %v : tensor<64x5xf32>, tensor<5x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%a, %t : tensor<4x64xf32>, tensor<64x64xf32>) outs(%o : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}

// Through a transpose, casts and numbers, which are multiplied with the small
// product. Scores of f16 become sums over keys in f32.
// CHECK-LABEL: func @through_numbers
// CHECK-SAME: %{{.*}}, %[[N:[^:]*]]: f32
// CHECK: %[[T:.*]] = linalg.contract {{.*}} -> tensor<3x4x5xf32>
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[T]] :
// CHECK: %[[C:.*]] = arith.constant -5.000000e-01 : f32
// CHECK: arith.mulf %{{.*}}, %[[C]] : f32
// CHECK: arith.divf %{{.*}}, %[[N]] : f32
// CHECK: linalg.contract {{.*}} ins(%{{.*}}, %[[S]] : tensor<3x200x4xf16>, tensor<3x4x5xf32>) {{.*}} -> tensor<3x200x5xf32>
// CHECK-NEXT: return
// REMARK: [Passed] {{.*}}'linalg.batch_matmul' reassociated
func.func @through_numbers(%a: tensor<3x200x4xf16>, %b: tensor<3x4x200xf16>, %v: tensor<3x200x5xf16>, %n: f32) -> tensor<3x200x5xf32> {
  %z = arith.constant dense<0.0> : tensor<200x3x200xf32>
  %zp = arith.constant dense<0.0> : tensor<3x200x200xf32>
  %zo = arith.constant dense<0.0> : tensor<3x200x5xf32>
  %p = linalg.batch_matmul ins(%a, %b : tensor<3x200x4xf16>, tensor<3x4x200xf16>) outs(%zp : tensor<3x200x200xf32>) -> tensor<3x200x200xf32>
  %e = tensor.empty() : tensor<200x3x200xf32>
  %t = linalg.transpose ins(%p : tensor<3x200x200xf32>) outs(%e : tensor<200x3x200xf32>) permutation = [1, 0, 2]
  %h = tensor.empty() : tensor<3x200x200xf16>
  %half = arith.constant -0.5 : f32
  %w = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (i, b, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t : tensor<200x3x200xf32>) outs(%h : tensor<3x200x200xf16>) {
    ^bb0(%s: f32, %out: f16):
      %s1 = arith.mulf %half, %s : f32
      %s2 = arith.divf %s1, %n : f32
      %y = arith.truncf %s2 : f32 to f16
      linalg.yield %y : f16
    } -> tensor<3x200x200xf16>
  %o = linalg.batch_matmul ins(%w, %v : tensor<3x200x200xf16>, tensor<3x200x5xf16>) outs(%zo : tensor<3x200x5xf32>) -> tensor<3x200x5xf32>
  return %o : tensor<3x200x5xf32>
}

// Rows that only a call knows count as many.
// CHECK-LABEL: func @unknown_rows
// CHECK: linalg.contract {{.*}} -> tensor<16x16xf32>
// REMARK: {{.*}}for 4096 rows, which are not known; it pays from
func.func @unknown_rows(%a: tensor<?x16xf32>, %b: tensor<?x16xf32>, %v: tensor<?x16xf32>, %pe: tensor<?x?xf32>, %o: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%pe : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<?x16xf32>, tensor<?x16xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%p, %v : tensor<?x?xf32>, tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}

// CHECK-LABEL: func @causal
// CHECK-SAME: %[[A:[^:]*]]: tensor<99x3xf32>, %[[B:[^:]*]]: tensor<99x3xf32>, %[[V:[^:]*]]: tensor<99x5xf32>
// CHECK-DAG: %[[Q:.*]] = tensor.expand_shape %[[A]] {{.*}} into tensor<1x1x99x3xf32>
// CHECK-DAG: %[[K:.*]] = tensor.expand_shape %[[B]] {{.*}} into tensor<1x1x99x3xf32>
// CHECK-DAG: %[[W:.*]] = tensor.expand_shape %[[V]] {{.*}} into tensor<1x1x99x5xf32>
// CHECK: %[[L:.*]] = attn.linear %[[Q]], %[[K]], %[[W]] scale(2.000000e+00) causal :
// CHECK: %[[O:.*]] = tensor.collapse_shape %[[L]]
// CHECK: return %[[O]]
// REMARK: [Passed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' is linear attention: {{.*}} against
// ALWAYS-LABEL: func @causal(
// ALWAYS: attn.linear
func.func @causal(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<99x99xf32>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %keep = arith.cmpi sge, %i, %j : index
      %zero = arith.constant 0.0 : f32
      %t = arith.select %keep, %s, %zero : f32
      %two = arith.constant 2.0 : f32
      %y = arith.mulf %two, %t : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// A mask of 0 and 1.
// CHECK-LABEL: func @mask_of_numbers
// CHECK: attn.linear {{.*}} scale(1.000000e+00) causal :
func.func @mask_of_numbers(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<99x99xf32>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %out: f32):
      %j = linalg.index 1 : index
      %i = linalg.index 0 : index
      %keep = arith.cmpi ule, %j, %i : index
      %one = arith.uitofp %keep : i1 to f32
      %y = arith.mulf %s, %one : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// exp(c_i - c_j): a decay of c_t - c_{t-1} at token t, 0 at the first.
// CHECK-LABEL: func @decay_per_token
// CHECK-SAME: %[[C:[^:]*]]: tensor<99xf32>)
// CHECK: %[[G:.*]] = linalg.generic
// CHECK: %[[T:.*]] = linalg.index 2
// CHECK: %[[BEFORE:.*]] = arith.maxsi
// CHECK: %[[NOW:.*]] = tensor.extract %[[C]][%[[T]]]
// CHECK: %[[LAST:.*]] = tensor.extract %[[C]][%[[BEFORE]]]
// CHECK: arith.subf %[[NOW]], %[[LAST]] : f32
// CHECK: -> tensor<1x1x99xf32>
// CHECK: attn.linear {{.*}} decay(%[[G]] : tensor<1x1x99xf32>) causal
func.func @decay_per_token(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>, %c: tensor<99xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p, %c, %c : tensor<99x99xf32>, tensor<99xf32>, tensor<99xf32>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %ci: f32, %cj: f32, %out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %keep = arith.cmpi sge, %i, %j : index
      %zero = arith.constant 0.0 : f32
      %d = arith.subf %ci, %cj : f32
      %e = math.exp %d : f32
      %t = arith.mulf %s, %e : f32
      %y = arith.select %keep, %t, %zero : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// The mask may be in the exponent.
// CHECK-LABEL: func @masked_exponent
// CHECK: attn.linear {{.*}} decay(%{{.*}} : tensor<1x1x99xf32>) causal
func.func @masked_exponent(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>, %c: tensor<99xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p, %c, %c : tensor<99x99xf32>, tensor<99xf32>, tensor<99xf32>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %ci: f32, %cj: f32, %out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %keep = arith.cmpi sge, %i, %j : index
      %nothing = arith.constant 0xFF800000 : f32
      %d = arith.subf %ci, %cj : f32
      %m = arith.select %keep, %d, %nothing : f32
      %e = math.exp %m : f32
      %y = arith.mulf %s, %e : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// exp(s (j - i)) is a decay of -s.
// CHECK-LABEL: func @decay_per_head
// CHECK: %[[G:.*]] = linalg.generic
// CHECK: arith.mulf
// CHECK: -> tensor<1xf32>
// CHECK: attn.linear {{.*}} decay(%[[G]] : tensor<1xf32>) causal
func.func @decay_per_head(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>, %slope: tensor<f32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #none, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p, %slope : tensor<99x99xf32>, tensor<f32>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %m: f32, %out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %keep = arith.cmpi sge, %i, %j : index
      %zero = arith.constant 0.0 : f32
      %d = arith.subi %j, %i : index
      %di = arith.index_cast %d : index to i64
      %df = arith.sitofp %di : i64 to f32
      %b0 = arith.mulf %df, %m : f32
      %e = math.exp %b0 : f32
      %t = arith.mulf %e, %s : f32
      %y = arith.select %keep, %t, %zero : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// 0.5^(i - j), computed by an operation of its own: a decay of log 0.5.
// CHECK-LABEL: func @power
// CHECK: %[[G:.*]] = arith.constant dense<-0.693147{{.*}}> : tensor<1xf32>
// CHECK: attn.linear {{.*}} decay(%[[G]] : tensor<1xf32>) causal
func.func @power(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %g = arith.constant 0.5 : f32
  %weights = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]}
      outs(%z : tensor<99x99xf32>) {
    ^bb0(%out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %d = arith.subi %i, %j : index
      %di = arith.index_cast %d : index to i32
      %e = math.fpowi %g, %di : f32, i32
      %keep = arith.cmpi sge, %i, %j : index
      %zero = arith.constant 0.0 : f32
      %y = arith.select %keep, %e, %zero : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %w = linalg.mul ins(%weights, %p : tensor<99x99xf32>, tensor<99x99xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// Two batches are the batch and the heads, in the order of the result; each
// head has a base of its own.
// CHECK-LABEL: func @heads
// CHECK: math.log
// CHECK: -> tensor<3xf32>
// CHECK: attn.linear {{.*}} decay(%{{.*}} : tensor<3xf32>) causal : (tensor<2x3x99x4xf32>, tensor<2x3x99x4xf32>, tensor<2x3x99x5xf32>) -> tensor<2x3x99x5xf32>
func.func @heads(%a: tensor<2x3x99x4xbf16>, %b: tensor<3x2x99x4xbf16>, %v: tensor<2x3x99x5xf32>) -> tensor<2x3x99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<2x3x99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<2x3x99x5xf32>
  %g = arith.constant dense<[0.5, 0.75, 0.875]> : tensor<3xf32>
  %p = linalg.contract indexing_maps = [affine_map<(b, h, i, j, k) -> (b, h, i, k)>, affine_map<(b, h, i, j, k) -> (h, b, j, k)>, affine_map<(b, h, i, j, k) -> (b, h, i, j)>]
      ins(%a, %b : tensor<2x3x99x4xbf16>, tensor<3x2x99x4xbf16>) outs(%z : tensor<2x3x99x99xf32>) -> tensor<2x3x99x99xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (h)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p, %g : tensor<2x3x99x99xf32>, tensor<3xf32>) outs(%z : tensor<2x3x99x99xf32>) {
    ^bb0(%s: f32, %base: f32, %out: f32):
      %i = linalg.index 2 : index
      %j = linalg.index 3 : index
      %keep = arith.cmpi sge, %i, %j : index
      %d = arith.subi %i, %j : index
      %di = arith.index_cast %d : index to i64
      %df = arith.sitofp %di : i64 to f32
      %e = math.powf %base, %df : f32
      %t = arith.mulf %s, %e : f32
      %zero = arith.constant 0.0 : f32
      %y = arith.select %keep, %t, %zero : f32
      linalg.yield %y : f32
    } -> tensor<2x3x99x99xf32>
  %o = linalg.contract indexing_maps = [affine_map<(b, h, i, d, j) -> (b, h, i, j)>, affine_map<(b, h, i, d, j) -> (b, h, j, d)>, affine_map<(b, h, i, d, j) -> (b, h, i, d)>]
      ins(%w, %v : tensor<2x3x99x99xf32>, tensor<2x3x99x5xf32>) outs(%zo : tensor<2x3x99x5xf32>) -> tensor<2x3x99x5xf32>
  return %o : tensor<2x3x99x5xf32>
}
