// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the tile stage: attn -> scf and attn tile ops.

#ifndef ATTN_PASSES_TILE_TD
#define ATTN_PASSES_TILE_TD

include "mlir/Pass/PassBase.td"

def CountTiles : Pass<"attn-count-tiles", "ModuleOp"> {
  let summary = "add functions that count tiles of keys";
  let description = [{
    Needs: what `attn-tile-attention` needs, of which it is a companion.
    Guarantees: beside every public function NAME there is NAME.tiles of the
    same arguments, which returns how many pairs of a query and a key tile are
    skipped, run without mask code and run with it, summed over all attention in
    the function. Tiles beyond a batch entry's length count as skipped. What the
    count does not depend on is not computed.

    ```mlir
    func.func @main(%q: tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32> {
      %o = attn.softmax %q, %q, %q align(top_left) mask(#attn.causal) : ...
      return %o : tensor<?x8x?x64xf32>
    }
      ->
    func.func @main(...) ...
    func.func @main.tiles(%q: tensor<?x8x?x64xf32>) -> tensor<3xi64> {
      %counts:3 = scf.for ... // batch, key heads, groups, query and key tiles
      %result = tensor.from_elements %skipped, %plain, %masked : tensor<3xi64>
      return %result : tensor<3xi64>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def MapMask : Pass<"attn-map-mask", "ModuleOp"> {
  let summary = "add functions that show what masks do";
  let description = [{
    Needs: whole attention, as before attn-tile-attention; the module attribute
    `attn.target`. Guarantees: for attention K of each public function NAME,
    counted from 0, there are three functions that take the arguments of NAME and
    the index of a batch entry and of a query head:

    | function | result |
    |---|---|
    | NAME.maskK.sizes | `tensor<12xi64>`: B, Hq, Sq, Skv, query tiles, key tiles, rows of a query tile and of a key tile, position of the first query and of the first key, keys in use, heads that share a query tile; from the fifth on 0 if there is no such head |
    | NAME.maskK.tiles | `tensor<?x?xi8>`: the class of each query and key tile, 0 skipped, 1 run without the mask, 2 run with it, 3 beyond the keys in use |
    | NAME.maskK.elements | `tensor<?x?xi8>`, Sq x Skv: 1 where the query sees the key |

    The last two need a head that exists. Tiles and their classes are those of
    attn-tile-attention.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

def TileAttention : Pass<"attn-tile-attention", "func::FuncOp"> {
  let summary = "tile softmax attention over queries and keys";
  let description = [{
    Needs: softmax-family ops on tensors; the module attribute `attn.target`.
    Guarantees: none of them is left. Each is a parallel loop over batch, key
    heads, head groups and query tiles (`scf.forall`) around a loop over key
    tiles with `attn.online_softmax`. A tile of keys that no query of the query
    tile may see is skipped; a tile in which every query sees every key runs
    without mask.

    Sizes of the tiles come from the target and the sizes that are known: M query
    rows by N keys. Rows are heads times positions, so that the heads of a group
    share a tile where there are fewer positions than rows. Where a key head has
    one query tile, and more keys than 2048 or an unknown number, a parallel loop
    over parts of 2048 keys comes first, and `attn.online_merge` joins the states
    that it leaves.

    ```mlir
    %o = attn.gqa %q, %k, %v align(top_left) mask(#attn.causal) : ...
      ->
    %o = scf.forall (%b, %hk, %g, %t) in (...) shared_outs(%out = %empty) {
      %state:3 = scf.for %k0 = %c0 to %length step %c64 iter_args(...) {
        %new:3 = scf.if %visit { attn.online_softmax ... masked(%m) keep {...} }
      }
      %tile = attn.online_finish ...
      scf.forall.in_parallel { tensor.parallel_insert_slice %tile ... }
    }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

def TileLinear : Pass<"attn-tile-linear", "::mlir::func::FuncOp"> {
  let summary = "tile linear attention over heads, columns and tokens";
  let description = [{
    Needs: `attn.linear` without feature maps, which may have the attribute
    `attn.form`: "quadratic", "chunk" (if there is none) or "recurrent".
    Guarantees: none is left. Causal attention is a parallel loop over batch
    entries, heads of the state and tiles of value columns, around a loop over
    chunks that carries the state; else the states are summed first, and read by
    a second parallel loop over tiles of queries.

    The attribute `attn.segments` = n of the op runs n segments of the sequence in
    parallel, for calls with fewer heads than threads. What each adds to the state
    is summed before, in a pass of its own over keys and values, and the result is
    rounded otherwise than without. It is refused beside beta, transition and block.

    ```mlir
    %o = attn.linear %q, %k, %v causal : ...
      ->
    %o = scf.forall (%b, %h, %p) shared_outs(%all) {
      %state = linalg.fill ...
      %r:2 = scf.for %t = %c0 to %n step %c32 iter_args(%rows, %s = %state) {
        attn.linear_chunk ins(%kt, %vt) query(%qt) outs(%s) output(%ot) rows(%c32)
      }
      scf.forall.in_parallel { tensor.parallel_insert_slice %r#0 ... }
    }
    ```
  }];
  let options = [
    Option<"chunk", "chunk", "int64_t", /*default=*/"0",
           "tokens of a chunk; 0 leaves the choice to the compiler">
  ];
  let dependentDialects = ["::mlir::attn::AttnDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def TileMatmul : Pass<"attn-tile-matmul", "func::FuncOp"> {
  let summary = "tile products of matrices";
  let description = [{
    Needs: linalg on tensors, after attn-widen-sums; the module attribute
    `attn.target`. Guarantees: no product of matrices is left that the lane form can compute:
    `linalg.matmul`, `linalg.batch_matmul`, `linalg.contract` and
    `linalg.generic` that add to each C[b.., m, n] the sum over k of
    A[b.., m, k] B[b.., k, n], of any float type, where A and B may be transposed
    or lack dimensions of the batch, or have more that are summed over. Each is
    a parallel loop (`scf.forall`) over tiles of C with `attn.matmul_tile`. A C
    that is filled with a scalar is not read.

    Sums are of f64 if C is, else of f32. Those of a C of f16 or bf16, as A and B
    are then, are rounded once. Another op that sums stays as it is, with a remark
    that says why.

    ```mlir
    %c = linalg.matmul ins(%a, %b) outs(%c0)
      ->
    %c = scf.forall (%i, %j) = (0, 0) to (%m, %n) step (%rows, %columns)
        shared_outs(%out = %c0) {
      %tile = attn.matmul_tile ins(%ai, %bj) outs(%cij) tile(256, 192) panel(48)
      scf.forall.in_parallel { tensor.parallel_insert_slice %tile ... }
    }
    ```
  }];
  let dependentDialects = ["::mlir::attn::AttnDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def TileElementwise : Pass<"attn-tile-elementwise", "func::FuncOp"> {
  let summary = "run elementwise code on all threads";
  let description = [{
    Needs: linalg on tensors, after attn-tile-matmul. Guarantees: an op whose
    operands go by projected permutations of its loops is a parallel loop
    (`scf.forall`) over its leading loops that are parallel, around itself on
    slices. An iteration has about 8192 elements. Ops that are known to have no
    more, and those inside of loops, stay as they are.

    ```mlir
    %r = linalg.generic ins(%x : tensor<?x64xf32>) outs(%y : tensor<?x64xf32>)
      ->
    %r = scf.forall (%i) = (0) to (%n) step (128) shared_outs(%out = %y) {
      %s = linalg.generic ins(%xi : tensor<?x64xf32>) outs(%yi : tensor<?x64xf32>)
      scf.forall.in_parallel { tensor.parallel_insert_slice %s ... }
    }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def TileRunningMax : Pass<"attn-tile-running-max", "func::FuncOp"> {
  let summary = "run running maxima in parallel";
  let description = [{
    Needs: `attn.running_max` on tensors. Guarantees: each is of one batch entry,
    one head and at most 256 features, in a parallel loop (`scf.forall`).

    ```mlir
    %max, %step = attn.running_max ins(%x) outs(%m, %s)
      ->
    scf.forall (%b, %h, %r) ... { attn.running_max ins(%tile) ... }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // ATTN_PASSES_TILE_TD
