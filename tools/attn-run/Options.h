// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of attn-run.

#ifndef ATTN_TOOLS_ATTN_RUN_OPTIONS_H
#define ATTN_TOOLS_ATTN_RUN_OPTIONS_H

#include "runtime/Spec.h"

namespace attn::run {

struct Options {
  std::string file;
  /// Empty: the only public function, or main.
  std::string function;
  EngineOptions engine;
  CallOptions call;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<InputSpec> expected;
  bool check = false;
  bool verifyStages = false;
  bool noCache = false;
  /// Where the picture of a mask goes; empty without --plot-mask.
  std::string plotMask;
  MaskPlace plotPlace;
  std::optional<double> atol, rtol;
  /// Timed runs; 0 without --benchmark.
  int64_t benchmark = 0;
  uint64_t seed = 0;
  /// llvm, asm or obj; empty without --emit.
  std::string emit;
  std::string emitFile;
  /// The folder of a node test of ONNX, and a model to import, if asked for.
  std::optional<std::string> onnxTest, import;
  bool help = false;
};

/// Parses the arguments without the program's name. Messages name the option
/// and what is allowed.
Result<Options> parseOptions(const std::vector<std::string> &arguments);

/// What --help prints.
const char *helpText();

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_OPTIONS_H
