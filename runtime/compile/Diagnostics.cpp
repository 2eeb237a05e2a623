// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formatting of diagnostics.

#include "runtime/compile/Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"

using namespace mlir;

namespace attn {

// A hostile program can fail in thousands of places, or print a huge type.
static constexpr size_t maxText = 16 * 1024;
static constexpr size_t maxLine = 2 * 1024;

static void append(std::string &text, Diagnostic &diagnostic,
                   StringRef severity) {
  if (text.size() > maxText)
    return;
  std::string line;
  llvm::raw_string_ostream stream(line);
  if (auto location =
          diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    stream << location.getFilename().getValue() << ':' << location.getLine()
           << ':' << location.getColumn() << ": ";
  stream << severity << ": " << diagnostic.str();
  if (line.size() > maxLine)
    line = line.substr(0, maxLine) + "...";
  text += text.empty() ? "" : "\n";
  text += line;
}

LogicalResult Diagnostics::report(Diagnostic &diagnostic) {
  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  if (!isError && diagnostic.getSeverity() != DiagnosticSeverity::Remark)
    return success();
  std::string &text = isError ? errorText : remarkText;
  append(text, diagnostic, isError ? "error" : "remark");
  for (Diagnostic &note : diagnostic.getNotes())
    append(text, note, "note");
  return success();
}

Diagnostics::Diagnostics(MLIRContext &context)
    : handler(&context,
              [this](Diagnostic &diagnostic) { return report(diagnostic); }) {}

void Diagnostics::attach(llvm::LLVMContext &context) {
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *self) {
        if (info->getSeverity() != llvm::DS_Error)
          return;
        std::string line = "error: ";
        llvm::raw_string_ostream stream(line);
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
        std::string &text = static_cast<Diagnostics *>(self)->errorText;
        text += (text.empty() ? "" : "\n") + line.substr(0, maxLine);
      },
      this);
}

} // namespace attn
