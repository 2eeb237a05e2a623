// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the cpu stage: tile ops -> vector, omp.

#ifndef ATTN_PASSES_CPU_TD
#define ATTN_PASSES_CPU_TD

include "mlir/Pass/PassBase.td"

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
    Guarantees: of the functions of `math` on f32, f64 or vectors of them only
    those are left that the target has instructions for, as any other would be a
    call of the math library per lane. Results are within 2 units of the last
    place. Sines, cosines and tangents of more than 2^20 still are calls.
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
    Guarantees: each is an `omp.wsloop` with guided schedule, whose threads share
    the iterations of all its loops; the buffers that its body allocates are
    allocated once per thread, in front of the loop, and those of sequential
    loops in the entry block.

    ```mlir
    scf.forall (%i) in (%n) { %s = memref.alloc() ... }
      ->
    omp.parallel {
      %s = memref.alloc()
      omp.wsloop schedule(guided) { omp.loop_nest (%i) collapse(1) ... }
      memref.dealloc %s
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::omp::OpenMPDialect"];
}

#endif // ATTN_PASSES_CPU_TD
