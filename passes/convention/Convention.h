// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How compiled functions are called, and the passes that every device shares
// because of it: from the source to a module that every stage can rely on, from
// tensors to buffers, and from buffers to LLVM with entry points.

#ifndef ATTN_PASSES_CONVENTION_CONVENTION_H
#define ATTN_PASSES_CONVENTION_CONVENTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::attn {

/// True for public functions that compute, false for plans and declarations.
bool isKernel(func::FuncOp function);

/// The buffer that stands for a tensor at the boundary of a function: any outer
/// strides, inner stride 1.
MemRefType getBoundaryType(RankedTensorType type);

/// Turns the tensor results of `function` into trailing buffer arguments.
LogicalResult addOutParams(func::FuncOp function);

/// First in every device's pipeline: refuses what isn't supported, gives every
/// operation a defined result, makes booleans bytes and adds the plans.
void addSource(OpPassManager &pm);

/// Tensors -> buffers, results into out parameters. Allocations stay.
void addBufferization(OpPassManager &pm);

/// Frees every allocation in the function that makes it.
void addDeallocation(OpPassManager &pm);

/// Buffers, loops, vectors and omp -> a module of the LLVM dialect with
/// NAME.call and NAME.plan. `callsMathLibrary` leaves what elementary functions
/// there are to it.
void addLowerToLLVM(OpPassManager &pm, bool callsMathLibrary);

} // namespace mlir::attn

#endif // ATTN_PASSES_CONVENTION_CONVENTION_H
