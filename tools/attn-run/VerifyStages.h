// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which stage of the compiler changes a result.

#ifndef ATTN_TOOLS_ATTN_RUN_VERIFYSTAGES_H
#define ATTN_TOOLS_ATTN_RUN_VERIFYSTAGES_H

#include "Options.h"

namespace attn::run {

/// Runs the function on the IR after every stage and compares with the
/// reference device, which runs what stage source leaves; with --expect, the
/// reference device itself is compared first. `results` are those of the whole
/// pipeline. Prints a line per stage and result and the first stage that
/// differs; false if there is one.
Result<bool> verifyStages(const Options &options, const Signature &signature,
                          const std::vector<Value> &inputs,
                          const std::vector<Tensor> &results);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_VERIFYSTAGES_H
