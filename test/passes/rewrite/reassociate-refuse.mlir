// Everything between two products that keeps them as they are: the reason is
// a remark, and the products are still there.

// RUN: attn-opt %s --attn-set-target=target=cpu:avx2 --attn-reassociate=mode=always --remarks-filter='attn.*' --remark-format=emitRemark 2>&1 >%t | FileCheck %s
// RUN: FileCheck %s --input-file=%t --check-prefix=IR
// RUN: attn-opt %s --attn-set-target=target=cpu:avx2 --attn-reassociate=mode=always --explain 2>&1 >/dev/null | FileCheck %s --check-prefix=EXPLAIN

// EXPLAIN: Remark="'linalg.matmul' left as it is by attn-reassociate: 'math.exp' of the scores is not linear, as in a softmax"

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>

// A softmax: the exponentials of the scores, divided by the sums of their rows.
// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: 'math.exp' of the scores is not linear, as in a softmax"
// IR-LABEL: func @softmax(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @softmax(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>, %sums: tensor<99xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p, %sums : tensor<99x99xf32>, tensor<99xf32>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %n: f32, %out: f32):
      %e = math.exp %s : f32
      %y = arith.divf %e, %n : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: a softmax of the scores is not linear"
// IR-LABEL: func @named_softmax(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @named_softmax(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.softmax dimension(1) ins(%p : tensor<99x99xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: the scores are divided by a tensor, as by the sums of their rows"
// IR-LABEL: func @row_normaliser(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @row_normaliser(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>, %sums: tensor<99xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p, %sums : tensor<99x99xf32>, tensor<99xf32>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %n: f32, %out: f32):
      %y = arith.divf %s, %n : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: 'arith.maximumf' of the scores is not linear, as in a softmax"
// IR-LABEL: func @nonlinearity(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @nonlinearity(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<99x99xf32>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %out: f32):
      %zero = arith.constant 0.0 : f32
      %y = arith.maximumf %s, %zero : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: the scores are multiplied with each other"
// IR-LABEL: func @square(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @square(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<99x99xf32>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %out: f32):
      %y = arith.mulf %s, %s : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: the scores are multiplied with a tensor of all pairs, as an arbitrary mask or a dropout is"
// IR-LABEL: func @dropout(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @dropout(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>, %m: tensor<99x99xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p, %m : tensor<99x99xf32>, tensor<99x99xf32>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %d: f32, %out: f32):
      %y = arith.mulf %s, %d : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: the mask of the scores is a tensor or a value, not j <= i"
// IR-LABEL: func @boolean_mask(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @boolean_mask(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>, %m: tensor<99x99xi1>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p, %m : tensor<99x99xf32>, tensor<99x99xi1>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %d: i1, %out: f32):
      %zero = arith.constant 0.0 : f32
      %y = arith.select %d, %s, %zero : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: the scores are multiplied with a tensor of rows, keys or batch entries"
// IR-LABEL: func @row_weights(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @row_weights(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>, %m: tensor<99xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p, %m : tensor<99x99xf32>, tensor<99xf32>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %d: f32, %out: f32):
      %y = arith.mulf %s, %d : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: something is added to the scores, as a bias is"
// IR-LABEL: func @bias(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @bias(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>, %m: tensor<99x99xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p, %m : tensor<99x99xf32>, tensor<99x99xf32>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %d: f32, %out: f32):
      %y = arith.addf %s, %d : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: the scores are added to something, as to a bias"
// IR-LABEL: func @bias_as_init(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @bias_as_init(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>, %m: tensor<99x99xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %w = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%m : tensor<99x99xf32>) -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// ALiBi without an exponential is a bias.
// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: something is added to the scores, as a bias is"
// IR-LABEL: func @alibi(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @alibi(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<99x99xf32>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %d = arith.subi %j, %i : index
      %di = arith.index_cast %d : index to i64
      %df = arith.sitofp %di : i64 to f32
      %y = arith.addf %s, %df : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: the mask of the scores is j <= i and something else, as for a sliding window"
// IR-LABEL: func @window(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @window(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>) -> tensor<99x5xf32> {
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
      %n = arith.constant 7 : index
      %d = arith.subi %i, %j : index
      %near = arith.cmpi slt, %d, %n : index
      %both = arith.andi %keep, %near : i1
      %y = arith.select %both, %s, %zero : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: the mask of the scores is one of positions, but not j <= i"
// IR-LABEL: func @strictly_causal(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @strictly_causal(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<99x99xf32>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %keep = arith.cmpi sgt, %i, %j : index
      %zero = arith.constant 0.0 : f32
      %y = arith.select %keep, %s, %zero : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: the mask of the scores is one of positions, but not j <= i"
// IR-LABEL: func @anticausal(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @anticausal(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>) -> tensor<99x5xf32> {
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
      %y = arith.select %keep, %zero, %s : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: masked scores become something else than 0"
// IR-LABEL: func @minus_infinity(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @minus_infinity(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<99x99xf32>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %keep = arith.cmpi sge, %i, %j : index
      %nothing = arith.constant 0xFF800000 : f32
      %y = arith.select %keep, %s, %nothing : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// exp(c_i) alone would overflow.
// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: a decay without a causal mask"
// IR-LABEL: func @decay_of_all_pairs(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @decay_of_all_pairs(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>, %c: tensor<99xf32>) -> tensor<99x5xf32> {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p, %c, %c : tensor<99x99xf32>, tensor<99xf32>, tensor<99xf32>) outs(%z : tensor<99x99xf32>) {
    ^bb0(%s: f32, %ci: f32, %cj: f32, %out: f32):
      %d = arith.subf %ci, %cj : f32
      %e = math.exp %d : f32
      %y = arith.mulf %s, %e : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: the scores are multiplied with 'math.exp', neither a causal mask nor a decay"
// IR-LABEL: func @growth_of_keys(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @growth_of_keys(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>, %c: tensor<99xf32>) -> tensor<99x5xf32> {
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
      %d = arith.addf %ci, %cj : f32
      %e = math.exp %d : f32
      %t = arith.mulf %s, %e : f32
      %y = arith.select %keep, %t, %zero : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: the scores are multiplied with 'math.powf', neither a causal mask nor a decay"
// IR-LABEL: func @unknown_base(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @unknown_base(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>, %g: f32) -> tensor<99x5xf32> {
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
      %d = arith.subi %i, %j : index
      %di = arith.index_cast %d : index to i64
      %df = arith.sitofp %di : i64 to f32
      %e = math.powf %g, %df : f32
      %t = arith.mulf %s, %e : f32
      %y = arith.select %keep, %t, %zero : f32
      linalg.yield %y : f32
    } -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o : tensor<99x5xf32>
}

// CHECK: [Missed] reassociate | Category:attn-rewrite | Remark="'linalg.matmul' not reassociated: the scores have other uses"
// IR-LABEL: func @other_uses(
// IR: linalg.matmul {{.*}} -> tensor<99x99xf32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xf32>
// IR-NEXT: return
func.func @other_uses(%a: tensor<99x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>) -> (tensor<99x5xf32>, tensor<99x99xf32>) {
  %z = arith.constant dense<0.0> : tensor<99x99xf32>
  %zo = arith.constant dense<0.0> : tensor<99x5xf32>
  %w = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<99x3xf32>, tensor<99x3xf32>) outs(%z : tensor<99x99xf32>) -> tensor<99x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<99x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<99x5xf32>) -> tensor<99x5xf32>
  return %o, %w : tensor<99x5xf32>, tensor<99x99xf32>
}

// CHECK: 'linalg.matmul' not reassociated: expected matrices of floating-point numbers
// IR-LABEL: func @integers(
// IR: linalg.matmul {{.*}} -> tensor<99x99xi32>
// IR: linalg.matmul {{.*}} -> tensor<99x5xi32>
func.func @integers(%a: tensor<99x3xi32>, %b: tensor<3x99xi32>, %v: tensor<99x5xi32>) -> tensor<99x5xi32> {
  %z = arith.constant dense<0> : tensor<99x99xi32>
  %zo = arith.constant dense<0> : tensor<99x5xi32>
  %p = linalg.matmul ins(%a, %b : tensor<99x3xi32>, tensor<3x99xi32>) outs(%z : tensor<99x99xi32>) -> tensor<99x99xi32>
  %o = linalg.matmul ins(%p, %v : tensor<99x99xi32>, tensor<99x5xi32>) outs(%zo : tensor<99x5xi32>) -> tensor<99x5xi32>
  return %o : tensor<99x5xi32>
}

// A causal mask of a matrix that is not known to be square.
// CHECK: 'linalg.matmul' not reassociated: there are not known to be as many keys as rows, as causal wants
// IR-LABEL: func @unknown_rows(
// IR-NOT: attn.linear
func.func @unknown_rows(%a: tensor<?x3xf32>, %b: tensor<99x3xf32>, %v: tensor<99x5xf32>, %pe: tensor<?x99xf32>, %oe: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%pe : tensor<?x99xf32>) -> tensor<?x99xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%oe : tensor<?x5xf32>) -> tensor<?x5xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<?x3xf32>, tensor<99x3xf32>) outs(%z : tensor<?x99xf32>) -> tensor<?x99xf32>
  %w = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<?x99xf32>) outs(%z : tensor<?x99xf32>) {
    ^bb0(%s: f32, %out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %keep = arith.cmpi sge, %i, %j : index
      %y = arith.select %keep, %s, %zero : f32
      linalg.yield %y : f32
    } -> tensor<?x99xf32>
  %o = linalg.matmul ins(%w, %v : tensor<?x99xf32>, tensor<99x5xf32>) outs(%zo : tensor<?x5xf32>) -> tensor<?x5xf32>
  return %o : tensor<?x5xf32>
}
