// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the rewrite stage: attn -> attn.

#ifndef ATTN_PASSES_REWRITE_TD
#define ATTN_PASSES_REWRITE_TD

include "mlir/Pass/PassBase.td"

def ExpandFavor : Pass<"attn-expand-favor", "::mlir::func::FuncOp"> {
  let summary = "write attn.favor as softmax or linear attention";
  let description = [{
    Guarantees: no `attn.favor` is left. With y = sqrt(scale) k and x = sqrt(scale) q:

    | kind | over all keys | causal |
    |---|---|---|
    | positive, hyperbolic | two softmaxes: of the rows of W over the keys, with the logits less half of |y|^2, and of the queries over those rows, with the logsumexp of the first added | linear attention with a decay per token and feature, which follows the running maximum of the logarithms of key features |
    | trigonometric | linear attention; a key's weight exp(|y|^2 / 2) against its maximum | the same against the running maximum, by a decay per token |
    | relu | linear attention | linear attention |

    All are exact but for rounding: what makes exponentials stay in range cancels
    in the quotient, and in causal forms depends on no later token. W of f32
    beside queries of f16 or bf16 makes the softmaxes compute in f32.

    With `favor=textbook` positive and hyperbolic features are those of the code
    that the method was published with, for comparison: exp(w.x - |x|^2 / 2 -
    max) + 1e-6, max being that of a query's w.x, and for keys that of all keys
    and features. It draws small features to the mean of the values, and the
    causal form reads later tokens.

    ```mlir
    %o = attn.favor %q, %k, %v, %w kind(positive) : ...
      ->
    %o1, %lse = attn.gqa %rows, %k, %v scale(0.35) score { ... } : ...
    %o = attn.gqa %q, %rows, %o1 scale(0.35) score { ... } : ...
    ```
  }];
  let options = [
    Option<"favor", "favor", "std::string", /*default=*/"\"exact\"",
           "exact, or textbook for positive and hyperbolic features">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ExpandRandomFeatures
    : Pass<"attn-expand-random-features", "::mlir::func::FuncOp"> {
  let summary = "make random projections constants";
  let description = [{
    Guarantees: no `attn.random_features` is left. Its entries are drawn by the
    compiler, in f64 with operations that every machine rounds alike, and rounded
    to the type. More than 2^24 entries are refused.

    ```mlir
    %w = attn.random_features seed(7) orthogonal : tensor<256x64xf32>
      ->
    %w = arith.constant dense<...> : tensor<256x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExpandFeatures : Pass<"attn-expand-features", "::mlir::func::FuncOp"> {
  let summary = "write feature maps as linalg";
  let description = [{
    Guarantees: no `attn.feature_map` is left, and no `attn.linear` has a feature
    clause: the maps of one are applied to its query and key, in their type. A
    projection is a product of matrices, |x|^2 and the sums of a softmax are
    reductions over rows, and the features themselves elementwise code in the
    type of sums, which may be over two halves that are concatenated. A softmax
    subtracts its maximum first.

    ```mlir
    %o = attn.linear %q, %k, %v feature(#attn.elu1) : ...
      ->
    %fq = linalg.generic ins(%q) outs(%empty) { cmpf, addf, exp, select }
    %fk = linalg.generic ins(%k) outs(%empty) { cmpf, addf, exp, select }
    %o = attn.linear %fq, %fk, %v : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ExpandClauses : Pass<"attn-expand-clauses", "::mlir::func::FuncOp"> {
  let summary = "say clauses on single logits in regions";
  let description = [{
    Guarantees: no op of the softmax family has a softcap that is a value, alibi,
    bias or select. What they say stands in the score and keep regions, in the
    order softcap, score, alibi, bias, and select beside keep, reading the
    operands as captured tensors. A softcap that is a number, the scale, sinks
    and what positions and lengths come from stay clauses.

    ```mlir
    %o = attn.softmax %q, %k, %v align(top_left) alibi(%slopes : tensor<8xf32>) : ...
      ->
    %o = attn.softmax %q, %k, %v align(top_left) score {
    ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
      %slope = tensor.extract %slopes[%h] : tensor<8xf32>
      %n = arith.subi %j, %i : index
      ...
      attn.yield %biased : f32
    } : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ExpandMerge : Pass<"attn-expand-merge", "::mlir::func::FuncOp"> {
  let summary = "write attn.merge as linalg";
  let description = [{
    Guarantees: no `attn.merge` is left. The shares of the two parts and the lse
    are one `linalg.generic` over rows, the output another over its elements, in
    the type of lse, or in f64 with the option `wide`.

    ```mlir
    %o, %lse = attn.merge %o1, %lse1, %o2, %lse2 : ...
      ->
    %s:3 = linalg.generic ... ins(%lse1, %lse2) outs(...) { exp, log }
    %o = linalg.generic ... ins(%o1, %s#0, %o2, %s#1) outs(...) { mulf, addf }
    ```
  }];
  let options = [
    Option<"wide", "wide", "bool", /*default=*/"false",
           "compute in f64 and round each result once">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def Reassociate : Pass<"attn-reassociate", "::mlir::func::FuncOp"> {
  let summary = "compute A (B C) in place of (A B) C where it costs less";
  let description = [{
    Needs: the module attribute `attn.target`. Looks at each product of matrices
    that reads another one, through transposes, casts, numbers that both are
    multiplied with, and the weights of pairs of a row i and a key j: a causal
    mask, i >= j, and beside it a decay, exp(c_i - c_j) or a constant to the power
    of i - j. Where the first product has no other use and the cost model says
    so:

    - without weights, the second product comes first, in the type that it read
      the scores in, but f32 in place of f16, where sums of many keys overflow;
    - with them, both are an `attn.linear`.

    ```mlir
    %p = linalg.matmul ins(%a, %b) outs(%zeros) // n x n
    %o = linalg.matmul ins(%p, %v) outs(%out)
      ->
    %t = linalg.contract ins(%b, %v) outs(%z)   // d x dv
    %o = linalg.contract ins(%a, %t) outs(%out)
    ```

    Everything else between the products keeps them as they are, and a remark says
    what it was: functions such as a softmax, sums with a bias, windows, tensors
    that hold a mask or a dropout.

    This changes the order of sums, and so their rounding, as no other pass does:
    `mode=never` is for who needs the order that was written. `always` asks for no
    costs, and does (A B) C -> A (B C) only.
  }];
  let options = [
    Option<"mode", "mode", "std::string", /*default=*/"\"auto\"",
           "auto, always or never">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::attn::AttnDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ChooseForm : Pass<"attn-choose-form", "::mlir::func::FuncOp"> {
  let summary = "choose how each attn.linear is computed";
  let description = [{
    Needs: the module attribute `attn.target`. Guarantees: each `attn.linear` has
    the attribute `attn.form`, "quadratic", "chunk" or "recurrent": the option,
    where the op can be computed so, else the one that it has, else what the cost
    model says costs least. Lengths that only a call knows count as long. One
    token is recurrent.

    ```mlir
    attn.linear %q, %k, %v causal : ...
      ->
    attn.linear %q, %k, %v causal {attn.form = "chunk"} : ...
    ```
  }];
  let options = [
    Option<"form", "form", "std::string", /*default=*/"\"auto\"",
           "auto, quadratic, chunk or recurrent">
  ];
}

#endif // ATTN_PASSES_REWRITE_TD
