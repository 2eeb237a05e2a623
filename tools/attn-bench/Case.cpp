// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text and counts of a case. A window is a causal one: it ends at the query.

#include "Case.h"

#include <algorithm>
#include <cstdio>

namespace attn::bench {

static std::string tensorType(const Case &problem, int64_t heads, int64_t rows,
                              int64_t columns) {
  std::string type = "tensor<";
  for (int64_t size : {problem.batch, heads, rows, columns})
    type += std::to_string(size) + "x";
  return type + name(problem.dtype) + ">";
}

std::vector<std::string> Case::extraInputs() const {
  std::vector<std::string> inputs;
  if (!score.empty())
    inputs.push_back(score);
  if (keep == "select")
    inputs.push_back(keep);
  return inputs;
}

/// A mask of arithmetic that no range of positions decides.
static const char xorMask[] = R"( keep {
    ^bb0(%b: index, %h: index, %i: index, %j: index):
      %c7 = arith.constant 7 : index
      %c3 = arith.constant 3 : index
      %x = arith.muli %i, %c7 : index
      %y = arith.xori %x, %j : index
      %z = arith.andi %y, %c3 : index
      %p = arith.cmpi ne, %z, %c3 : index
      attn.yield %p : i1
    })";

std::string irText(const Case &problem) {
  std::string query =
      tensorType(problem, problem.queryHeads, problem.queries, problem.keyDim);
  std::string key =
      tensorType(problem, problem.keyHeads, problem.keys, problem.keyDim);
  std::string value =
      tensorType(problem, problem.keyHeads, problem.keys, problem.valueDim);
  std::string output = tensorType(problem, problem.queryHeads, problem.queries,
                                  problem.valueDim);

  std::string clauses;
  if (problem.softcap > 0) {
    char number[32];
    // MLIR wants a point or an exponent in a float.
    std::snprintf(number, sizeof number, "%.17e", problem.softcap);
    clauses += std::string(" softcap(") + number + ")";
  }
  std::string arguments;
  auto clause = [&](const std::string &name, const std::string &type) {
    arguments += ", %" + name + ": " + type;
    return " " + name + "(%" + name + " : " + type + ")";
  };
  std::string pairs = "tensor<" + std::to_string(problem.queries) + "x" +
                      std::to_string(problem.keys) + "x";
  std::string extra;
  if (problem.score == "alibi")
    extra += clause("alibi",
                    "tensor<" + std::to_string(problem.queryHeads) + "xf32>");
  if (problem.score == "bias")
    extra += clause("bias", pairs + "f32>");
  if (problem.keep == "select")
    extra += clause("select", pairs + "i1>");
  if (problem.keep == "xor")
    extra += xorMask;
  if (!problem.hasMask() && (problem.score == "alibi" || problem.keep == "xor"))
    clauses += " align(bottom_right)";
  if (problem.hasMask())
    clauses += " align(bottom_right) mask(#attn.causal";
  if (problem.window > 0)
    clauses +=
        ", #attn.window<left = " + std::to_string(problem.window - 1) + ">";
  if (problem.hasMask())
    clauses += ")";
  clauses += extra;

  return "func.func @main(%q: " + query + ", %k: " + key + ", %v: " + value +
         arguments + ") -> " + output + " {\n  %o = attn." + problem.op +
         " %q, %k, %v" + clauses + " : (" + query + ", " + key + ", " + value +
         ") -> " + output + "\n  return %o : " + output + "\n}\n";
}

Work countWork(const Case &problem) {
  int64_t keptPairs = 0;
  int64_t firstSeen = problem.keys, lastSeen = -1;
  for (int64_t row = 0; row < problem.queries; ++row) {
    int64_t position = row + problem.keys - problem.queries;
    int64_t last = problem.hasMask() ? std::min(position, problem.keys - 1)
                                     : problem.keys - 1;
    int64_t first = problem.window > 0
                        ? std::max<int64_t>(position - problem.window + 1, 0)
                        : 0;
    if (last < first)
      continue;
    keptPairs += last - first + 1;
    firstSeen = std::min(firstSeen, first);
    lastSeen = std::max(lastSeen, last);
  }

  auto real = [](int64_t number) { return static_cast<double>(number); };
  double pairFlops = 2 * real(problem.batch) * real(problem.queryHeads) *
                     real(problem.keyDim + problem.valueDim);
  int64_t keysSeen = std::max<int64_t>(lastSeen - firstSeen + 1, 0);
  Work work;
  work.flops = pairFlops * real(problem.queries) * real(problem.keys);
  work.keptFlops = pairFlops * real(keptPairs);
  work.bytes = real(byteSize(problem.dtype)) * real(problem.batch) *
               real(problem.keyDim + problem.valueDim) *
               (real(problem.queryHeads) * real(problem.queries) +
                real(problem.keyHeads) * real(keysSeen));
  return work;
}

} // namespace attn::bench
