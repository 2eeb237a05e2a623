// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the attn dialect: its ops, attributes and interfaces.

#include "dialect/Attn.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;

#include "dialect/AttnDialect.cpp.inc"
#include "dialect/AttnEnums.cpp.inc"

#include "dialect/AttnAttrInterfaces.cpp.inc"
#include "dialect/AttnOpInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/AttnAttrs.cpp.inc"

void AttnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/AttnAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/AttnOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/AttnLinearOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/AttnTileOps.cpp.inc"
      >();
}
