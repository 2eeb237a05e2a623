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
           "cpu:generic, cpu:avx2, cpu:avx512, cpu:avx512bf16, cpu:amx or host">
  ];
}

def DumpStage : Pass<"attn-dump-stage", "::mlir::ModuleOp"> {
  let summary = "write the module to a numbered file";
  let description = [{
    Writes the module to FOLDER/N-STAGE.mlir, N being the number of the stage, so
    that a run can be read stage by stage and resumed with the next stage's
    pipeline. The folder is made if it is missing. Changes nothing.
  }];
  let options = [
    Option<"folder", "folder", "std::string", /*default=*/"",
           "where to write">,
    Option<"stage", "stage", "std::string", /*default=*/"",
           "source, rewrite, tile, decompose or llvm">
  ];
}

// Rewrite: attn -> attn.

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

// Tile: attn -> scf and attn tile ops.

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
    Needs: linalg on tensors; the module attribute `attn.target`.
    Guarantees: no product of matrices is left that the lane form can compute:
    `linalg.matmul`, `linalg.batch_matmul`, `linalg.contract` and
    `linalg.generic` that add to each C[b.., m, n] the sum over k of
    A[b.., m, k] B[b.., k, n], of any float type, where A and B may be transposed
    or lack dimensions of the batch, or have more that are summed over. Each is
    a parallel loop (`scf.forall`) over tiles of C with `attn.matmul_tile`. A C
    that is filled with a scalar is not read.

    Sums are of f64 if C is, else of f32. Those of a C of f16 or bf16, as A and B
    are then, are rounded once; the body of such an op, and with it device
    `reference`, rounds each of them. Another op that sums stays
    as it is, with a remark that says why.

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

// Convention: what every device shares, from the source to LLVM.

def InlineCalls : Pass<"attn-inline-calls", "ModuleOp"> {
  let summary = "replace calls by what they call";
  let description = [{
    Needs: the source. Guarantees: no calls, and public functions only.
    Recursion and functions without a body are refused by name.

    ```mlir
    func.func private @square(%x: f32) -> f32 { %y = arith.mulf %x, %x ... }
    func.func @f(%x: f32) -> f32 { %y = call @square(%x) ... }
      ->
    func.func @f(%x: f32) -> f32 { %y = arith.mulf %x, %x ... }
    ```
  }];
}

def CheckStage : Pass<"attn-check-stage"> {
  let summary = "refuse operations that must not be left after a stage";
  let description = [{
    Needs: nothing. Guarantees: every operation of the module, but for those of
    plans, is one that the stage may leave; the first that isn't is named.

    ```mlir
    // stage=source
    %r = func.call @f(%x) : ...   // 'func.call' op not supported in a source module
    ```
  }];
  let options = [
    Option<"stage", "stage", "std::string", "\"source\"",
           "source, rewrite, tile, decompose or llvm">];
}

def GuardArith : Pass<"attn-guard-arith", "ModuleOp"> {
  let summary = "give arithmetic a result for every operand";
  let description = [{
    Needs: the source. Guarantees: no scalar operation traps or is undefined.
    x / 0 = x and x % 0 = 0; the most negative integer divided by -1 is itself,
    with remainder 0; a shift by the width or more gives 0, or the sign; a float
    becomes the nearest integer towards zero that the type has, NaN 0. Flags that
    promise such operands away are dropped. Arithmetic of f16 and bf16 is that of
    f32, rounded.

    ```mlir
    %r = arith.remui %a, %b : index
      ->
    %zero = arith.cmpi eq, %b, %c0 : index
    %safe = arith.select %zero, %c1, %b : index
    %r = arith.remui %a, %safe : index
    ```
  }];
}

def WidenBooleans : Pass<"attn-widen-booleans", "ModuleOp"> {
  let summary = "make tensors of i1 tensors of bytes";
  let description = [{
    Needs: the source. Guarantees: no tensor of i1 is left. Those that regions
    and linalg read or make element by element, and that the operations between
    move, become tensors of i8; an element is true if its byte is not 0. Any
    other use is refused by name.

    ```mlir
    %p = tensor.extract %m[%j] : tensor<?xi1>
      ->
    %byte = tensor.extract %m[%j] : tensor<?xi8>
    %p = arith.cmpi ne, %byte, %c0 : i8
    ```
  }];
}

def EmitPlan : Pass<"attn-emit-plan", "ModuleOp"> {
  let summary = "add the plan of each public function";
  let description = [{
    Needs: the source. Guarantees: each public function NAME has a function
    NAME.plan(in, out) -> i64 that computes, from the sizes of the tensors and
    the values of the scalars that a call passes, the sizes of its results. Its
    result is 0, or k if rule k between sizes is the first that the call breaks;
    out then starts with the expected size and the size got. The texts of the
    rules are the attribute `attn.rules` of the plan. What holds statically has
    no rule. A size that depends on the elements of a tensor is refused.

    `in` and `out` are arrays of i64; `out` has room for at least two.

    ```mlir
    func.func @f(%q: tensor<?x8x?x64xf32>, ...)
      ->
    func.func @f.plan(%in: !llvm.ptr, %out: !llvm.ptr) -> i64
        attributes {attn.rules = ["'attn.softmax' op key: expected batch (from query)", ...]}
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::affine::AffineDialect"];
}

def AddOutParams : Pass<"attn-add-out-params", "ModuleOp"> {
  let summary = "turn tensor results into buffers that the caller passes";
  let description = [{
    Needs: public functions on tensors, of one block. Guarantees: none has a
    result; each former result is written into a trailing argument. Tensor
    arguments are not writable for bufferization.

    ```mlir
    func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> { ... return %y }
      ->
    func.func @f(%x: tensor<?xf32> {bufferization.writable = false},
                 %out: memref<?xf32, strided<[1], offset: ?>>) {
      bufferization.materialize_in_destination %y in restrict writable %out
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

def Bufferize : Pass<"attn-bufferize", "ModuleOp"> {
  let summary = "one-shot bufferization with attn's function boundary";
  let description = [{
    Needs: functions without tensor results. Guarantees: no tensors. A tensor
    argument is a buffer with dynamic offset and strides, the last stride 1. What
    starts as tensor.empty and ends in an out parameter is computed there.

    ```mlir
    func.func @f(%x: tensor<?x8xf32>)
      ->
    func.func @f(%x: memref<?x8xf32, strided<[?, 1], offset: ?>>)
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

def FreeBuffers : Pass<"attn-free-buffers", "func::FuncOp"> {
  let summary = "free every buffer after its last use";
  let description = [{
    Needs: a bufferized function whose buffers are allocated in its entry block
    and do not outlive it. Buffers that are freed already are left alone.
    Guarantees: each allocation has a deallocation.

    ```mlir
    %b = memref.alloc() ... last use of %b or a view of it
      ->
    %b = memref.alloc() ... last use; memref.dealloc %b
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def ExpandConcats : Pass<"attn-expand-concats", "ModuleOp"> {
  let summary = "concatenations become insertions into one tensor";
  let description = [{
    Needs: tensors. Guarantees: no `tensor.concat` is left.

    ```mlir
    %r = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
      ->
    %init = tensor.empty() : tensor<5xf32>
    %0 = tensor.insert_slice %a into %init[0] [2] [1] : ...
    %r = tensor.insert_slice %b into %0[2] [3] [1] : ...
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ExpandCopies : Pass<"attn-expand-copies", "ModuleOp"> {
  let summary = "strided copies become loops";
  let description = [{
    Needs: buffers. Guarantees: `memref.copy` is left only between buffers
    without layout, where it is one memcpy. Rows of unit stride are copied in
    vectors.

    ```mlir
    memref.copy %a, %b : memref<4xf32, strided<[1], offset: ?>> to memref<4xf32>
      ->
    scf.for %i = %c0 to %c4 step %c1 { memref.load %a[%i]; memref.store %b[%i] }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ExpandHalfCasts : Pass<"attn-expand-half-casts", "ModuleOp"> {
  let summary = "convert f16 by integer arithmetic where the target has no other";
  let description = [{
    Guarantees: no `arith.extf` of f16 and no `arith.truncf` of f32 to f16 is left
    on a target without F16C, for which LLVM would call a library per element.
    Elsewhere those of f64 go through f32, which is exact.

    ```mlir
    %y = arith.extf %x : vector<4xf16> to vector<4xf32>
      ->
    %b = arith.bitcast %x : vector<4xf16> to vector<4xi16> ...
    %y = arith.bitcast %r : vector<4xi32> to vector<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def EmitEntryPoints : Pass<"attn-emit-entry-points", "ModuleOp"> {
  let summary = "add NAME.call, which takes an array of pointers";
  let description = [{
    Needs: public functions without results whose arguments are buffers and
    scalars. Guarantees: each is the private NAME.kernel, called by the public
    NAME.call(args): args[k] points to the descriptor of buffer k, or to the
    value of a scalar.

    ```mlir
    func.func @f(%x: memref<?xf32>, %n: index)
      ->
    func.func private @f.kernel(%x: memref<?xf32>, %n: index)
    func.func @f.call(%args: !llvm.ptr)
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

// Cpu: tile ops -> vector, omp.

def PackTiles : Pass<"attn-pack-tiles", "func::FuncOp"> {
  let summary = "pack query tiles with queries as lanes";
  let description = [{
    Needs: `attn.online_softmax` on tensors.
    Guarantees: its query operand is packed, once per query tile and outside the
    loop over key tiles; for targets that multiply bf16 in pairs, in pairs. A tile
    of a known number of rows, at most a vector's lanes, is left as it is.

    ```mlir
    attn.online_softmax ins(%q, ...) scale(%s)
      ->
    %p = attn.pack_query ins(%q) outs(%empty) scale(%s)
    attn.online_softmax ins(%p, ...)
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect"];
}

def LowerTiles : Pass<"attn-lower-tiles", "func::FuncOp"> {
  let summary = "lower bufferized tile ops to vector code";
  let description = [{
    Needs: tile ops on buffers, queries packed.
    Guarantees: no tile op is left. Queries are lanes: an element of K or V is
    broadcast and multiplied with vectors of queries, so maximum and sum over
    keys are vertical. bf16 is multiplied in pairs where the target can; else it
    is widened to f32, as f16 is. f64 is computed in f64. Tiles of few rows have columns as lanes instead. Regions become
    vector code in which b and j are scalars and i a vector, with 32-bit indices
    where they fit.

    Weights that become bf16 come of an exponential with a relative error of
    9e-5, a fortieth of their rounding, unless `exact`: then, as all others, of
    one with 2 ulp.
  }];
  let options = [
    Option<"exact", "exact", "bool", "false",
           "the f32 exponential for weights that become bf16, too">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::amx::AMXDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerMatmul : Pass<"attn-lower-matmul", "func::FuncOp"> {
  let summary = "lower bufferized matrix tiles to vector code";
  let description = [{
    Needs: `attn.matmul_tile` on buffers.
    Guarantees: none is left. Columns of C are lanes: an element of A is
    broadcast and multiplied with vectors of a row of B. A panel of B is packed
    for a block of k, unless there are so few rows of A that its vectors are used
    about once. bf16 is multiplied in pairs where the target can; else it is
    widened to the type of the sums, as f16 is.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerElementwise : Pass<"attn-lower-elementwise", "func::FuncOp"> {
  let summary = "lower elementwise code on buffers to vector code";
  let description = [{
    Needs: linalg on buffers. Guarantees: an op is loops around vectors along its
    last loop, and scalars for what is left of a row, if its operands have their
    rows there with unit stride or none of that loop, and all of its body has a
    vector form. Where the last loop is a reduction by addition, multiplication,
    maximum or minimum, there is a vector of partial results, which are combined
    by halves. Any other op stays as it is, with a remark that says why.

    ```mlir
    linalg.generic ins(%x : memref<?x64xf32>) outs(%y : memref<?x64xf32>) { math.exp }
      ->
    scf.for %i ... { scf.for %j = %c0 to %c64 step %c16 {
      %v = vector.load %x[%i, %j] : vector<16xf32>
      %e = math.exp %v : vector<16xf32>
      vector.store %e, %y[%i, %j]
    } }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerRunningMax : Pass<"attn-lower-running-max", "func::FuncOp"> {
  let summary = "lower bufferized running maxima to vector code";
  let description = [{
    Needs: `attn.running_max` on buffers. Guarantees: none is left. Features are
    lanes; the maxima so far are the row of the result before.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ExpandVectorMath : Pass<"attn-expand-vector-math", "func::FuncOp"> {
  let summary = "replace math functions on f32 and f64 by vector code";
  let description = [{
    Guarantees: no `math.exp`, `math.exp2`, `math.tanh`, `math.log`, `math.sin`,
    `math.cos` on f32, f64 or vectors of them is left, and no `math.fma` where the
    target has none: each would be a call of the math library per lane. Sines and
    cosines of more than 2^20 still are.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ParallelizeTiles : Pass<"attn-parallelize-tiles", "func::FuncOp"> {
  let summary = "run tile loops on OpenMP threads";
  let description = [{
    Needs: bufferized `scf.forall` loops.
    Guarantees: each is an `omp.wsloop` with dynamic schedule; the buffers that
    its body allocates are allocated once per thread, in front of the loop, and
    those of sequential loops in the entry block.

    ```mlir
    scf.forall (%i) in (%n) { %s = memref.alloc() ... }
      ->
    omp.parallel {
      %s = memref.alloc()
      omp.wsloop schedule(dynamic) { omp.loop_nest (%i) ... }
      memref.dealloc %s
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::omp::OpenMPDialect"];
}

// Decompose: attn -> linalg, straight from the source.

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

#endif // ATTN_PASSES_TD
