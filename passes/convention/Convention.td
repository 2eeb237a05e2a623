// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the convention: what every device shares, from the source to LLVM.

#ifndef ATTN_PASSES_CONVENTION_TD
#define ATTN_PASSES_CONVENTION_TD

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
    f32, rounded. `math.sincos` is two operations, `math.clampf` a maximum and a
    minimum, and `math.isnan` and the like are comparisons.

    ```mlir
    %r = arith.remui %a, %b : index
      ->
    %zero = arith.cmpi eq, %b, %c0 : index
    %safe = arith.select %zero, %c1, %b : index
    %r = arith.remui %a, %safe : index
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
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
    out then starts with the expected size and the size got. It is -k if rule k
    is about a number, `scale` or `softcap`; the second entry of out is then the
    number, as the bits of an f64. The texts of the rules are the attribute
    `attn.rules` of the plan. What holds statically has no rule, and neither has a
    number that depends on the elements of a tensor. A size that does is refused.

    `in` and `out` are arrays of i64; `out` has room for at least two. A scalar
    argument of f32 is its bits.

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

def WidenSums : Pass<"attn-widen-sums", "func::FuncOp"> {
  let summary = "sums of linalg in a wider type, rounded once";
  let description = [{
    Needs: linalg on tensors, after attn-guard-arith. Guarantees: what linalg sums
    into f16 or bf16 is summed in f32 and rounded once, but for products of
    matrices, whose kernel does so by itself. With `all` every sum is of f64, those
    of products and those into f32 as well. "Sum" stands for whatever a loop of
    kind `reduction` makes of a result's element.

    The body is computed in the wider type, too. A cast to less that the sum goes
    through, and one that only rounds arithmetic written in the type of a result
    of f16 or bf16, are left out; any other is a part of what is summed.

    ```mlir
    %r = linalg.reduce ins(%x : tensor<?x?xbf16>) outs(%y : tensor<?xbf16>) ...
      ->
    %wide = linalg.generic ins(%y) outs(%empty : tensor<?xf32>) { arith.extf }
    %sum = linalg.generic ... ins(%x) outs(%wide) { ... arith.addf ... : f32 }
    %r = linalg.generic ins(%sum) outs(%y) { arith.truncf }
    ```
  }];
  let options = [
    Option<"all", "all", "bool", /*default=*/"false",
           "every sum in f64, as on the reference device">
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def GuardNumbers : Pass<"attn-guard-numbers", "func::FuncOp"> {
  let summary = "make numbers that break a rule NaN";
  let description = [{
    Needs: the source. Guarantees: a value of `scale` or `softcap` that does not
    follow from the scalar arguments and the sizes of a call, so that its plan
    can't refuse it, is NaN where it breaks c13 or c14, as are then all logits. All
    others are left to the plan.

    ```mlir
    %c = tensor.extract %x[] : tensor<f32>
    %o = attn.softmax %q, %k, %v softcap(%c) ...
      ->
    %holds = ... // 0 < %c < inf and 1 / %c < inf
    %safe = arith.select %holds, %c, %nan : f32
    %o = attn.softmax %q, %k, %v softcap(%safe) ...
    ```
  }];
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
  let summary = "convert f16 and bf16 by what the target has";
  let description = [{
    Guarantees: no `arith.extf` of f16 and no `arith.truncf` of f32 to f16 is left
    on a target without F16C, for which LLVM would call a library per element.
    Elsewhere casts of f16 and bf16 to f64 go through f32, which is exact, and so
    do those from f64 and integers, which round once: where f32 does not hold what
    is cast, the last place that it has is made odd, so that the second rounding
    sees that something was lost.

    ```mlir
    %y = arith.extf %x : vector<4xf16> to vector<4xf32>
      ->
    %b = arith.bitcast %x : vector<4xf16> to vector<4xi16> ...
    %y = arith.bitcast %r : vector<4xi32> to vector<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def GatherBits : Pass<"attn-gather-bits", "ModuleOp"> {
  let summary = "gather elements of f16 and bf16 as integers";
  let description = [{
    Needs: the LLVM dialect. Guarantees: no gather of f16 or bf16 is left, which a
    target without vectors of the type may take apart by way of f32 and calls of a
    library.

    ```mlir
    %x = llvm.intr.masked.gather %p, %mask, %rest : ... -> vector<8xbf16>
      ->
    %r = llvm.bitcast %rest : vector<8xbf16> to vector<8xi16>
    %b = llvm.intr.masked.gather %p, %mask, %r : ... -> vector<8xi16>
    %x = llvm.bitcast %b : vector<8xi16> to vector<8xbf16>
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
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

def CallOpenMp : Pass<"attn-call-open-mp", "::mlir::ModuleOp"> {
  let summary = "ask the OpenMP library for the number of threads";
  let description = [{
    Needs: no function of the program with a name of that library.
    Guarantees: no `attn.num_workers` is left.

    ```mlir
    %n = attn.num_workers
      ->
    %threads = llvm.call @omp_get_max_threads() : () -> i32
    %n = arith.index_cast %threads : i32 to index
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect"];
}

def SetFloatMode : Pass<"attn-set-float-mode", "ModuleOp"> {
  let summary = "have compiled code run in one mode of floating-point numbers";
  let description = [{
    Needs: public functions that are entries, NAME.call, and the loops of threads
    as `omp.parallel`. Guarantees: both run with rounding to nearest, all
    exceptions masked, and subnormal numbers as 0 (FTZ and DAZ), and leave the
    mode and the flags of their thread as they were. The functions that an entry
    calls are not inlined into it.

    ```mlir
    omp.parallel { ... omp.terminator }
      ->
    omp.parallel {
      llvm.call_intrinsic "llvm.x86.sse.stmxcsr"(%before)
      llvm.call_intrinsic "llvm.x86.sse.ldmxcsr"(%wanted)
      ...
      llvm.call_intrinsic "llvm.x86.sse.ldmxcsr"(%before)
      omp.terminator
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // ATTN_PASSES_CONVENTION_TD
