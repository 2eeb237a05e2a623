// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Script.h. Not MLIR's Tester, which takes every exit status but 0 for
// interesting, that of a script with a mistake in it, too, and ends the process
// where a script can't be run.

#include "tools/attn-reduce/Script.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace attn {

static constexpr int interesting = 1, notInteresting = 0;

int Script::run(ModuleOp module, std::string &failure) const {
  int descriptor = -1;
  SmallString<128> file;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile(
          "attn-reduce", "mlir", descriptor, file)) {
    failure = "can't make a file for the program: " + error.message();
    return -1;
  }
  llvm::FileRemover remover(file);
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  module.print(stream);
  stream.close();
  if (stream.has_error()) {
    failure =
        "can't write '" + file.str().str() + "': " + stream.error().message();
    stream.clear_error();
    return -1;
  }
  SmallVector<StringRef> all = {path};
  all.append(arguments.begin(), arguments.end());
  all.push_back(file);
  return llvm::sys::ExecuteAndWait(path, all, /*Env=*/std::nullopt,
                                   /*Redirects=*/{}, /*SecondsToWait=*/0,
                                   /*MemoryLimit=*/0, &failure);
}

bool Script::isInteresting(ModuleOp module) const {
  std::string failure;
  return run(module, failure) == interesting;
}

std::string Script::whyNot(ModuleOp module) const {
  if (path.empty())
    return "expected a program that exits with 1 for what is interesting, got "
           "none";
  if (!llvm::sys::fs::exists(path))
    return "expected a file, got '" + path + "', which does not exist";
  if (!llvm::sys::fs::can_execute(path))
    return "expected an executable file, got '" + path + "', which is not one";
  std::string failure;
  int status = run(module, failure);
  if (status == interesting)
    return {};
  if (status < 0)
    return "'" + path + "' did not run to its end: " + failure;
  std::string got = "got " + std::to_string(status) + " from '" + path + "'";
  if (status == notInteresting)
    return "expected exit status 1 for the whole program, which is to be "
           "interesting, " +
           got;
  return "expected exit status 0 or 1, " + got;
}

} // namespace attn
