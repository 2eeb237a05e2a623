// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program that says which files are interesting.

#ifndef ATTN_TOOLS_ATTN_REDUCE_SCRIPT_H
#define ATTN_TOOLS_ATTN_REDUCE_SCRIPT_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace attn {

class Script {
public:
  /// `path` is called with `arguments` and, behind them, the name of a file.
  Script(std::string path, std::vector<std::string> arguments)
      : path(std::move(path)), arguments(std::move(arguments)) {}

  /// Why it can't be used to reduce `module`, which is to be interesting; empty
  /// if it can.
  std::string whyNot(mlir::ModuleOp module) const;

  /// Whether it exits with 1 for `module`.
  bool isInteresting(mlir::ModuleOp module) const;

private:
  /// Its exit status for `module`. Negative, with `failure` set, where there is
  /// none.
  int run(mlir::ModuleOp module, std::string &failure) const;

  std::string path;
  std::vector<std::string> arguments;
};

} // namespace attn

#endif // ATTN_TOOLS_ATTN_REDUCE_SCRIPT_H
