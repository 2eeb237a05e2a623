// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of numbers as code: in the plan, and where no plan can check them.

#ifndef ATTN_PASSES_CONVENTION_NUMBERCHECKS_H
#define ATTN_PASSES_CONVENTION_NUMBERCHECKS_H

#include "dialect/ShapeRules.h"

#include "mlir/IR/Builders.h"

namespace mlir::attn {

/// Whether `number`, of f32, keeps `rule`, an i1 at the insertion point.
Value buildHolds(OpBuilder &builder, Location loc, const NumberRule &rule,
                 Value number);

} // namespace mlir::attn

#endif // ATTN_PASSES_CONVENTION_NUMBERCHECKS_H
