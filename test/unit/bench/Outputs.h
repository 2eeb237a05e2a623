// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a workload computed, against the reference device.

#ifndef ATTN_TEST_UNIT_BENCH_OUTPUTS_H
#define ATTN_TEST_UNIT_BENCH_OUTPUTS_H

#include "runtime/Difference.h"
#include "runtime/Engine.h"
#include "tools/attn-bench/CaseFile.h"
#include "tools/attn-bench/Workload.h"

#include <gtest/gtest.h>

namespace attn::bench {

/// The outputs of a workload that was called are those of the reference device,
/// up to `tolerance` in the root mean square.
inline void expectRightOutputs(const Workload &workload, double tolerance) {
  EngineOptions options;
  options.device = "reference";
  options.cacheDir = "";
  Result<Program> program =
      Engine(options).compileText(irText(workload.problem()));
  ASSERT_TRUE(program.ok()) << program.error().message;
  std::vector<Value> inputs;
  for (const Tensor &input : workload.inputs())
    inputs.push_back(input.view());
  Result<std::vector<Tensor>> want = program->call("main", inputs);
  ASSERT_TRUE(want.ok()) << want.error().message;
  ASSERT_EQ(want->size(), workload.outputs().size());
  for (size_t n = 0; n < want->size(); ++n) {
    Difference difference = compare(workload.outputs()[n], (*want)[n], 0, 0);
    EXPECT_TRUE(isWithin(difference, {Tolerance::Kind::relativeRms, tolerance}))
        << "output " << n << ": " << difference.relativeRms << " in\n"
        << irText(workload.problem());
  }
}

} // namespace attn::bench

#endif // ATTN_TEST_UNIT_BENCH_OUTPUTS_H
