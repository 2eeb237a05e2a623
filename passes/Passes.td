// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every pass of attn, in the order in which the pipelines run them.

#ifndef ATTN_PASSES_TD
#define ATTN_PASSES_TD

include "mlir/Pass/PassBase.td"

def SetTarget : Pass<"attn-set-target", "::mlir::ModuleOp"> {
  let summary = "record the target on the module";
  let description = [{
    Guarantees: the module attribute `attn.target` names a target of the table
    in `TargetInfo.cpp`. Every lowering reads it there, so a dump resumes with the
    target that it was made for. A module that has a target keeps it unless the
    option says otherwise; `host` is replaced by the best target of this CPU.

    ```mlir
    module { ... }  ->  module attributes {attn.target = "cpu:avx2"} { ... }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"host\"",
           "cpu:generic, cpu:avx2, cpu:avx512 or host">
  ];
}

// Tile: attn -> scf and attn tile ops.

def TileAttention : Pass<"attn-tile-attention", "func::FuncOp"> {
  let summary = "tile softmax attention over queries and keys";
  let description = [{
    Needs: softmax-family ops on tensors; the module attribute `attn.target`.
    Guarantees: none of them is left. Each is a parallel loop over batch, key
    heads, head groups and query tiles (`scf.forall`) around a loop over key
    tiles with `attn.online_softmax`. A tile of keys that no query of the query
    tile may see is skipped; a tile in which every query sees every key runs
    without mask.

    Sizes of the tiles come from the target: M query rows by N keys. Rows are
    heads times positions, so that the heads of a group share a tile where there
    are fewer positions than rows.

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

#endif // ATTN_PASSES_TD
