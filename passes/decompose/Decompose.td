// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the decompose stage: attn -> linalg, straight from the source.

#ifndef ATTN_PASSES_DECOMPOSE_TD
#define ATTN_PASSES_DECOMPOSE_TD

include "mlir/Pass/PassBase.td"

def DecomposeSoftmax : Pass<"attn-decompose-softmax", "func::FuncOp"> {
  let summary = "softmax attention as plain linalg in f64";
  let description = [{
    Needs: the source, after attn-guard-arith. Guarantees: no op of the softmax
    family is left. Each is a loop over batch and heads around linalg.generic:
    dots, logits, row maximum, weights, row sum, weighted average, each
    materialised. Operands and score regions are widened to f64; keep regions, and
    score regions of logits that are f64 as written, stay in their types, at least
    f32. Results are rounded once.

    ```mlir
    %o = attn.softmax %q, %k, %v ...
      ->
    %o = scf.for %b ... { scf.for %h ... {
      %dots = linalg.generic ... %logits = linalg.generic ... tensor.insert_slice
    } }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

def DecomposeLinear : Pass<"attn-decompose-linear", "func::FuncOp"> {
  let summary = "linear attention as plain loops over tokens in f64";
  let description = [{
    Needs: the source, after attn-guard-arith. Guarantees: no attn.linear is
    left. Each is a loop over batch, heads of the state and tokens, which carries
    the state and the output; a token's step is the equation of the op, one
    linalg.generic per term. Features are computed before it. All is in f64,
    results are rounded once.

    ```mlir
    %o = attn.linear %q, %k, %v causal ...
      ->
    %o = scf.for %b ... { scf.for %h ... { scf.for %t ... iter_args(%s, %o) {
      %s1 = linalg.generic ... outs(%s)
      %row = linalg.generic ... ins(%q_t, %s1) ... tensor.insert_slice
    } } }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

def DecomposeFeatures : Pass<"attn-decompose-features", "func::FuncOp"> {
  let summary = "feature maps as plain linalg in f64";
  let description = [{
    Needs: the source, after attn-guard-arith. Guarantees: no attn.feature_map is
    left. Each is linalg.generic ops over the whole tensor, one per equation of
    the feature's definition, in f64, and the result is rounded once. A map
    region is widened to f64, or stays in its types beside operands of f64.

    ```mlir
    %f = attn.feature_map %x feature(#attn.elu1)
      ->
    %f = linalg.generic ins(%x) { arith.extf ... math.exp ... arith.truncf }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

def DecomposeFavor : Pass<"attn-decompose-favor", "func::FuncOp"> {
  let summary = "FAVOR+ as a weighted average over all pairs in f64";
  let description = [{
    Needs: the source, after attn-guard-arith. Guarantees: no attn.favor is left.
    Each is a loop over batch and heads: the weights of all pairs of a query and
    a key, as exp(log - max) times a factor that stays small, and the average of
    the values by them. No reassociation, all in f64, rounded once.

    ```mlir
    %o = attn.favor %q, %k, %v, %w kind(positive)
      ->
    %o = scf.for %b ... { scf.for %h ... {
      %logs = linalg.generic ... %weights = linalg.generic ...
      %average = linalg.generic ... tensor.insert_slice
    } }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

def DecomposeTiles : Pass<"attn-decompose-tiles", "func::FuncOp"> {
  let summary = "tile ops as plain linalg in f64";
  let description = [{
    Needs: what the tile stage leaves. Guarantees: no tile op is left. Each is
    linalg.generic, one for each equation of its definition, computed in f64 and
    rounded to the types of the state. Queries must not be packed.

    ```mlir
    %new:3 = attn.online_softmax ins(%q, %k, %v) outs(%acc, %max, %sum) ...
      ->
    %dots = linalg.generic ... %logits = linalg.generic ... %max1 = linalg.generic
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect"];
}

def PromoteReductions : Pass<"attn-promote-reductions", "func::FuncOp"> {
  let summary = "keep the element that a loop adds to in a register";
  let description = [{
    Needs: loops over buffers. Guarantees: an innermost loop that loads, changes
    and stores one element of an allocation of the function carries that element
    instead.

    ```mlir
    scf.for %i ... { %a = memref.load %m[]; ... memref.store %b, %m[] }
      ->
    %r = scf.for %i ... iter_args(%a = %first) { ... scf.yield %b }
    memref.store %r, %m[]
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def CallMathLibrary : Pass<"attn-call-math-library", "ModuleOp"> {
  let summary = "call the math library where LLVM has no accurate form";
  let description = [{
    Needs: scalar code. Guarantees: the functions of `math` that LLVM has no
    intrinsic for, or an inaccurate one, are calls of the math library, which is
    not what cpu kernels compute with. Integer powers are of f64, in two factors
    whose exponents f64 holds.

    ```mlir
    %y = math.erf %x : f64
      ->
    %y = func.call @erf(%x) : (f64) -> f64
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect"];
}

#endif // ATTN_PASSES_DECOMPOSE_TD
