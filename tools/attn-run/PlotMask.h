// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A picture of what a mask does.

#ifndef ATTN_TOOLS_ATTN_RUN_PLOTMASK_H
#define ATTN_TOOLS_ATTN_RUN_PLOTMASK_H

#include "Options.h"

namespace attn::run {

/// `map` as an SVG: a row for each query tile and a column for each key tile,
/// coloured by what becomes of it; with its elements, where `map` has them and
/// there is room. `title` and `target` are printed above it.
std::string drawMask(const MaskMap &map, const std::string &title,
                     const std::string &target);

/// Serves --plot-mask.
Result<void> plotMask(const Options &options, const Program &program,
                      const Signature &signature,
                      const std::vector<Value> &inputs);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_PLOTMASK_H
