// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the module to a file at the end of a stage. The pipeline's `dump`
// option adds it after every stage.

#include "passes/Passes.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace mlir::attn {
#define GEN_PASS_DEF_DUMPSTAGE
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;

namespace {

struct DumpStagePass : public attn::impl::DumpStageBase<DumpStagePass> {
  using DumpStageBase::DumpStageBase;

  /// The files sort in the order in which the stages run.
  static int number(StringRef stage) {
    return llvm::StringSwitch<int>(stage)
        .Case("source", 0)
        .Case("rewrite", 1)
        .Case("tile", 2)
        .Case("decompose", 2)
        .Default(3);
  }

  void runOnOperation() override {
    auto fail = [&](StringRef path, std::error_code error) {
      getOperation().emitError() << "option 'dump': expected a folder to write "
                                    "to, got '"
                                 << path << "': " << error.message();
      signalPassFailure();
    };
    if (std::error_code error = llvm::sys::fs::create_directories(folder))
      return fail(folder, error);
    SmallString<128> path(folder);
    llvm::sys::path::append(path, std::to_string(number(stage)) + "-" + stage +
                                      ".mlir");
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    if (error)
      return fail(path, error);
    getOperation().print(stream);
    stream.close();
    if (stream.has_error()) {
      error = stream.error();
      stream.clear_error();
      return fail(path, error);
    }
    markAllAnalysesPreserved();
  }
};

} // namespace
