// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See VerifyStages.h. What a stage leaves is run by the plain lowering of the
// reference device, which shares no pass with the stages after source.

#include "VerifyStages.h"

#include "Report.h"

#include <cstdio>

namespace attn::run {

/// Where the passes of a stage are.
static std::string folderOf(const std::string &stage) {
  return stage == "source" ? "passes/convention" : "passes/" + stage;
}

Result<bool> verifyStages(const Options &options, const Signature &signature,
                          const std::vector<Value> &inputs,
                          const std::vector<Tensor> &results) {
  // The first stage that is to blame, and the first that may be right.
  std::string first, firstUnclear;
  auto note = [&](const std::string &stage, Agreement agreement) {
    if (agreement == Agreement::mismatch && first.empty())
      first = stage;
    if (agreement == Agreement::unclear && firstUnclear.empty())
      firstUnclear = stage;
  };
  Result<std::vector<Tensor>> reference =
      callReference(options, "source", signature.function, inputs);
  if (!reference)
    return Error{reference.error().code,
                 "stage source: " + reference.error().message};
  if (!options.expected.empty()) {
    std::printf("after source:\n");
    Result<Agreement> asExpected =
        checkExpected(options, signature, *reference);
    if (!asExpected)
      return asExpected.error();
    note("source", *asExpected);
  }
  for (const char *stage : {"rewrite", "tile"}) {
    Result<std::vector<Tensor>> got =
        callReference(options, stage, signature.function, inputs);
    if (!got)
      return Error{got.error().code,
                   std::string("stage ") + stage + ": " + got.error().message};
    note(stage,
         printComparison(options, signature, std::string("after ") + stage,
                         *got, *reference));
  }
  note("cpu",
       printComparison(options, signature, "after cpu", results, *reference));
  if (!first.empty())
    std::printf("first stage that changes a result: %s (%s)\n", first.c_str(),
                folderOf(first).c_str());
  else if (!firstUnclear.empty())
    std::printf("results differ after %s, but no stage is to blame where "
                "rounding alone decides\n",
                firstUnclear.c_str());
  else
    std::printf("no stage changes a result\n");
  return first.empty() && firstUnclear.empty();
}

} // namespace attn::run
