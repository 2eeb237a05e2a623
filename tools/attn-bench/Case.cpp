// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text and counts of a case. A window is a causal one: it ends at the query.

#include "Case.h"

#include "LinearCase.h"

#include <algorithm>
#include <cstdio>

namespace attn::bench {

std::string typeText(const Operand &operand) {
  std::string type = "tensor<";
  for (int64_t size : operand.sizes)
    type += std::to_string(size) + "x";
  return type + name(operand.dtype) + ">";
}

std::vector<Operand> inputsOf(const Case &problem) {
  const Case &p = problem;
  std::vector<Operand> inputs = {
      {"q", p.dtype, {p.batch, p.queryHeads, p.queries, p.keyDim}},
      {"k", p.dtype, {p.batch, p.keyHeads, p.keys, p.keyDim}},
      {"v", p.dtype, {p.batch, p.keyHeads, p.keys, p.valueDim}}};
  if (p.deviation > 0)
    for (Operand &operand : inputs) {
      operand.deviation = p.deviation;
      operand.isNormal = true;
    }
  if (p.isLinear())
    addLinearInputs(p, inputs);
  if (p.score == "alibi")
    inputs.push_back({"alibi", DType::f32, {p.queryHeads}});
  if (p.score == "bias")
    inputs.push_back({"bias", DType::f32, {p.queries, p.keys}});
  if (p.keep == "select")
    inputs.push_back({"select", DType::i1, {p.queries, p.keys}});
  return inputs;
}

std::vector<Operand> outputsOf(const Case &problem) {
  const Case &p = problem;
  std::vector<Operand> outputs = {
      {"o", p.dtype, {p.batch, p.queryHeads, p.queries, p.valueDim}}};
  if (p.linear.hasState)
    outputs.push_back(stateOf(p, "final_state"));
  return outputs;
}

std::string numberText(double number) {
  // MLIR wants a point or an exponent in a float.
  char text[32];
  std::snprintf(text, sizeof text, "%.17e", number);
  return text;
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

/// What stands between the operands and the types of a softmax op.
static std::string softmaxClauses(const Case &problem,
                                  const std::vector<Operand> &inputs) {
  std::string clauses;
  if (problem.softcap > 0)
    clauses += " softcap(" + numberText(problem.softcap) + ")";
  if (!problem.hasMask() && (problem.score == "alibi" || problem.keep == "xor"))
    clauses += " align(bottom_right)";
  if (problem.hasMask())
    clauses += " align(bottom_right) mask(#attn.causal";
  if (problem.window > 0)
    clauses +=
        ", #attn.window<left = " + std::to_string(problem.window - 1) + ">";
  if (problem.hasMask())
    clauses += ")";
  // Clauses have the names of their operands.
  for (size_t i = 3; i < inputs.size(); ++i)
    clauses += " " + inputs[i].name + "(%" + inputs[i].name + " : " +
               typeText(inputs[i]) + ")";
  if (problem.keep == "xor")
    clauses += xorMask;
  return clauses;
}

/// The texts of the operands between commas.
static std::string join(const std::vector<Operand> &operands,
                        std::string (*text)(const Operand &)) {
  std::string list;
  for (const Operand &operand : operands)
    list += (list.empty() ? "" : ", ") + text(operand);
  return list;
}

std::string irText(const Case &problem) {
  std::vector<Operand> inputs = inputsOf(problem);
  std::vector<Operand> outputs = outputsOf(problem);
  auto nameText = [](const Operand &operand) { return "%" + operand.name; };
  std::string results = join(outputs, nameText);
  std::string types = join(outputs, typeText);
  std::string grouped = outputs.size() > 1 ? "(" + types + ")" : types;
  // The projection of attn.favor is an operand, not a clause.
  size_t numOperands = problem.op == "favor" ? 4 : 3;
  std::vector<Operand> operands(inputs.begin(), inputs.begin() + numOperands);
  return "func.func @main(" +
         join(inputs,
              [](const Operand &operand) {
                return "%" + operand.name + ": " + typeText(operand);
              }) +
         ") -> " + grouped + " {\n  " + results + " = attn." + problem.op +
         " " + join(operands, nameText) +
         (problem.isLinear() ? linearClauses(problem, inputs)
                             : softmaxClauses(problem, inputs)) +
         " : (" + join(operands, typeText) + ") -> " + grouped + "\n  return " +
         results + " : " + types + "\n}\n";
}

Work countWork(const Case &problem) {
  if (problem.isLinear())
    return countLinearWork(problem);
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
