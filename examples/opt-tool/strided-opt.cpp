// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-opt with one more mask: every pass of attn takes it, as it takes its
// own.

#include "attn/dialect/Attn.h"
#include "attn/passes/Registration.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/TypeSwitch.h"

#include "StridedDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "StridedAttrs.h.inc"

#include "StridedDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "StridedAttrs.cpp.inc"

using namespace mlir;

void strided::StridedDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "StridedAttrs.cpp.inc"
      >();
}

LogicalResult
strided::EveryAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           int64_t step) {
  if (step < 1)
    return emitError() << "every: expected a step >= 1, got " << step;
  return success();
}

/// (i - j) mod step = 0.
Value strided::EveryAttr::buildKeep(OpBuilder &builder, Location loc,
                                    mlir::attn::MaskCoordinates at) const {
  Value distance = arith::SubIOp::create(builder, loc, at.i, at.j);
  Value step = arith::ConstantIndexOp::create(builder, loc, getStep());
  Value rest = arith::RemSIOp::create(builder, loc, distance, step);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest,
                               zero);
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  attn::registerAttn(registry);
  attn::registerAttnPasses();
  registry.insert<strided::StridedDialect>();
  return asMainReturnCode(
      MlirOptMain(argc, argv, "attention with strided masks\n", registry));
}
