// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Timing of a compiled function beside the peaks of the machine.

#ifndef ATTN_TOOLS_ATTN_RUN_BENCHMARK_H
#define ATTN_TOOLS_ATTN_RUN_BENCHMARK_H

#include "Options.h"

namespace attn::run {

/// Times calls and returns one line of JSON. gflops counts full rectangles,
/// gbytes_per_s every input and output once.
Result<std::string> benchmark(const Options &options, const Program &program,
                              const Signature &signature,
                              const std::vector<Value> &inputs,
                              const std::vector<Tensor> &results);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_BENCHMARK_H
