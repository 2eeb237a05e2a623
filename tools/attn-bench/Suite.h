// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measurements with plots of their own, where cases are made by rule instead of
// read from files. Each prints what it found and writes files into the folder
// --out; the result is false where something of it failed.

#ifndef ATTN_TOOLS_ATTN_BENCH_SUITE_H
#define ATTN_TOOLS_ATTN_BENCH_SUITE_H

#include "Options.h"
#include "Turns.h"

namespace attn::bench {

/// --suite=linear: the two below.
Result<bool> runLinearSuite(const Options &options);

/// Time of softmax attention, linear attention and FAVOR+ against the length of
/// the sequence: linear-time.svg and .csv.
Result<bool> runLinearTime(const Options &options);

/// Error of the random features against their number, with the closed form:
/// linear-error.svg and .csv.
Result<bool> runLinearError(const Options &options);

/// --suite=linear-forms: the forms of causal linear attention against the one
/// that the compiler chooses, linear-forms.csv.
Result<bool> runFormSuite(const Options &options);

/// A case of the suites, 8 heads of 64 in f32, from a name and further words.
/// Cases of one length take turns.
Case suiteCase(const std::string &name, int64_t length,
               const std::string &words);

/// "cases,of,columns" and lines of text, as DIR/NAME.
Result<void> writeOut(const Options &options, const std::string &name,
                      const std::string &text);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_SUITE_H
