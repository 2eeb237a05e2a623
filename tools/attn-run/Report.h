// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attn-run does with results: writes them, compares them, sums them up.

#ifndef ATTN_TOOLS_ATTN_RUN_REPORT_H
#define ATTN_TOOLS_ATTN_RUN_REPORT_H

#include "Options.h"

#include "runtime/Difference.h"

namespace attn::run {

/// "hit", "miss" or "off".
const char *name(CacheUse::State state);

/// How results agree with others, from better to worse.
enum class Agreement {
  ok,
  unclear, ///< they differ where rounding alone may have decided
  mismatch
};

/// The narrowest float that comes in, f64 if none does: the type of what is
/// multiplied, which decides on the peak.
DType operandType(const Signature &signature);

/// One line per result with its type, range and mean.
void printSummary(const Signature &signature,
                  const std::vector<Tensor> &results);

/// The element to look at first when something is wrong.
void printWorst(const Difference &difference, const Tensor &got,
                const Tensor &expected);

/// Serves the --output options.
Result<void> writeOutputs(const Options &options, const Signature &signature,
                          const std::vector<Tensor> &results);

/// Compares with the --expect options.
Result<Agreement> checkExpected(const Options &options,
                                const Signature &signature,
                                const std::vector<Tensor> &results);

/// Compares results with those of another run, one line each that starts with
/// `label`, with the operations at which rounding may have decided where they
/// differ.
Agreement printComparison(const Options &options, const Signature &signature,
                          const std::string &label,
                          const std::vector<Tensor> &results,
                          const std::vector<Tensor> &expected);

/// What the reference device computes from the IR after stage `stage`.
Result<std::vector<Tensor>> callReference(const Options &options,
                                          const std::string &stage,
                                          const std::string &function,
                                          const std::vector<Value> &inputs);

/// Compares with what the reference device computes.
Result<Agreement> checkReference(const Options &options,
                                 const Signature &signature,
                                 const std::vector<Value> &inputs,
                                 const std::vector<Tensor> &results);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_REPORT_H
