// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ToolInput.h.

#include "runtime/compile/ToolInput.h"

#include "runtime/compile/Source.h"

#include "mlir/Bytecode/BytecodeReader.h"

mlir::LogicalResult attn::checkToolInput(const llvm::MemoryBuffer &input) {
  if (mlir::isBytecode(input.getMemBufferRef()))
    return mlir::success();
  std::optional<ParserFault> fault =
      findParserFault(input.getBuffer(), Branches::allowed);
  if (!fault)
    return mlir::success();
  llvm::errs() << input.getBufferIdentifier() << ": error: " << fault->message
               << "\n";
  return mlir::failure();
}
