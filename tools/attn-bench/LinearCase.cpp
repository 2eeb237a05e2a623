// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text and counts of the linear family.

#include "LinearCase.h"

#include <algorithm>
#include <cmath>

namespace attn::bench {

static int64_t numFeatures(const Case &problem) {
  const LinearClauses &linear = problem.linear;
  int64_t dim = problem.keyDim;
  if (problem.op == "favor")
    return linear.kind == "hyperbolic" || linear.kind == "trigonometric"
               ? 2 * linear.rows
               : linear.rows;
  if (linear.queryFeature == "hedgehog")
    return 2 * dim;
  if (linear.queryFeature == "taylor2")
    return 1 + dim + dim * (dim + 1) / 2;
  return dim;
}

Operand stateOf(const Case &problem, const std::string &name) {
  int64_t columns =
      problem.valueDim + (problem.linear.normalize.empty() ? 0 : 1);
  return {name,
          DType::f32,
          {problem.batch, problem.keyHeads, numFeatures(problem), columns}};
}

void addLinearInputs(const Case &problem, std::vector<Operand> &inputs) {
  const Case &p = problem;
  const LinearClauses &linear = p.linear;
  if (p.op == "favor") {
    inputs.push_back({"w", DType::f32, {linear.rows, p.keyDim}, 0, 1, true});
    return;
  }
  int64_t features = numFeatures(p);
  double unitNorm = 1 / std::sqrt(static_cast<double>(p.keyDim));
  std::vector<int64_t> tokens = {p.batch, p.keyHeads, p.keys};
  std::vector<int64_t> vectors = {p.batch, p.keyHeads, p.keys, features};
  // Uniform between -gate and 0.
  double decayMean = -linear.gate / 2,
         decayDeviation = linear.gate / std::sqrt(12.0);
  if (!linear.decay.empty())
    inputs.push_back({"decay", DType::f32,
                      linear.decay == "head"    ? std::vector{p.keyHeads}
                      : linear.decay == "token" ? tokens
                                                : vectors,
                      decayMean, decayDeviation});
  // The delta rule is a contraction for keys of length 1 and beta below 2.
  if (linear.hasDelta) {
    inputs[1].deviation = unitNorm;
    inputs.push_back({"beta", p.dtype, tokens, 0.5, 0.25});
  }
  // |a| |b| is about a sixteenth, which a decay beside it outweighs.
  if (linear.hasTransition) {
    inputs.push_back({"read", p.dtype, vectors, 0, unitNorm / 4});
    inputs.push_back({"write", p.dtype, vectors, 0, unitNorm / 4});
  }
  if (linear.hasBonus)
    inputs.push_back({"bonus", p.dtype, {p.keyHeads, features}});
  if (linear.hasState) {
    inputs.push_back(stateOf(p, "state"));
    // Sums to divide by are positive.
    if (!linear.normalize.empty())
      inputs.back().mean = 4;
  }
}

/// " name(%name : type)" of an argument, nothing if there is none.
static std::string clause(const std::vector<Operand> &inputs,
                          const std::string &name) {
  for (const Operand &operand : inputs)
    if (operand.name == name)
      return " " + name + "(%" + name + " : " + typeText(operand) + ")";
  return "";
}

std::string linearClauses(const Case &problem,
                          const std::vector<Operand> &inputs) {
  const LinearClauses &linear = problem.linear;
  std::string causal = problem.isCausal ? " causal" : "";
  if (problem.op == "favor")
    return " kind(" + linear.kind + ")" + causal;

  double scale = 1 / std::sqrt(static_cast<double>(problem.keyDim));
  std::string clauses = " scale(" + numberText(scale) + ")";
  clauses += clause(inputs, "decay") + clause(inputs, "beta");
  if (linear.hasTransition) {
    auto read = std::find_if(inputs.begin(), inputs.end(),
                             [](const Operand &o) { return o.name == "read"; });
    std::string type = typeText(*read);
    clauses += " transition(%read, %write : " + type + ", " + type + ")";
  }
  clauses += clause(inputs, "bonus") + clause(inputs, "state");
  if (linear.queryFeature != "identity" || linear.keyFeature != "identity") {
    clauses += " feature(#attn." + linear.queryFeature;
    if (linear.keyFeature != linear.queryFeature)
      clauses += ", #attn." + linear.keyFeature;
    clauses += ")";
  }
  if (!linear.normalize.empty())
    clauses += " normalize(" + linear.normalize + ")";
  return clauses + causal;
}

static double byteCount(const Operand &operand) {
  auto bytes = static_cast<double>(byteSize(operand.dtype));
  for (int64_t size : operand.sizes)
    bytes *= static_cast<double>(size);
  return bytes;
}

Work countLinearWork(const Case &problem) {
  const LinearClauses &linear = problem.linear;
  auto real = [](int64_t number) { return static_cast<double>(number); };
  bool isFavor = problem.op == "favor";
  double queries =
      real(problem.batch) * real(problem.queryHeads) * real(problem.queries);
  double keys =
      real(problem.batch) * real(problem.keyHeads) * real(problem.keys);
  double features = real(numFeatures(problem));
  double columns =
      real(problem.valueDim) + (isFavor || linear.normalize == "token" ? 1 : 0);

  Work work;
  double perKey =
      1 + (linear.hasDelta ? 1 : 0) + (linear.hasTransition ? 2 : 0);
  work.keptFlops = 2 * features * columns * (queries + perKey * keys);
  if (isFavor)
    work.keptFlops +=
        2 * real(linear.rows) * real(problem.keyDim) * (queries + keys);
  double chunk = real(linear.chunk > 0 ? linear.chunk : usualChunk);
  double pairs = 2 * (features + columns) * queries;
  work.flops = work.keptFlops;
  if (linear.form == "quadratic")
    work.flops = pairs * real(problem.keys);
  else if (linear.form != "recurrent" && problem.isCausal && problem.keys > 1)
    work.flops += pairs * std::min(chunk, real(problem.keys));
  for (const std::vector<Operand> &operands :
       {inputsOf(problem), outputsOf(problem)})
    for (const Operand &operand : operands)
      work.bytes += byteCount(operand);
  return work;
}

} // namespace attn::bench
