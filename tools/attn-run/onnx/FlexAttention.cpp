// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FlexAttention of ai.onnx.preview: score_mod is a score region, or a keep
// region where it puts -inf. prob_mod changes weights after their
// normalisation, which attention never has in memory: with it the weights are
// computed as a matrix.

#include "Attention.h"

#include "Operands.h"
#include "Pointwise.h"

#include <cmath>

namespace attn::importer {

/// The log-sum-exp of the scores alone: values without columns.
static IrValue emitLse(IrText &text, const Problem &problem) {
  Problem scores = problem;
  std::vector<IrSize> sizes = text.sizes(problem.value);
  sizes.back() = {0, ""};
  scores.value = text.empty(problem.value.dtype, sizes);
  return *emitAttention(text, scores, "no_columns", /*wantsLse=*/true).lse;
}

static Result<void> readScale(Node &node, Problem &problem) {
  problem.scale = node.number("scale");
  if (problem.scale && !std::isfinite(*problem.scale))
    return node.error("attribute 'scale': expected a finite number, got " +
                      std::to_string(*problem.scale));
  return {};
}

Result<void> importFlexAttention(Node &node, IrText &text, Values &outputs) {
  Problem problem;
  if (Result<void> done = node.checkCounts(3, 1); !done)
    return done;
  if (Result<void> done = readScale(node, problem); !done)
    return done;
  Result<bool> isWide = readsDouble(node);
  if (!isWide)
    return isWide.error();
  const onnx::GraphProto *scoreMod = node.graph("score_mod");
  const onnx::GraphProto *probMod = node.graph("prob_mod");
  if (Result<void> done = node.checkAttributes(); !done)
    return done;
  if (Result<void> done = readQueryKeyValue(node, problem); !done)
    return done;
  if (problem.query.rank() != 4)
    return node.error("expected inputs of rank 4, got " +
                      std::to_string(problem.query.rank()));
  if (Result<void> done = checkShapes(node, problem); !done)
    return done;
  std::string y = node.output(0);
  if (y.empty())
    return node.error("output Y: expected a name, got none");

  DType dtype = problem.query.dtype;
  if (*isWide)
    for (IrValue *operand : {&problem.query, &problem.key, &problem.value})
      *operand = convert(text, *operand, DType::f64, "wide");
  IrValue scores{"", problem.scoreType(), problem.query.sizes};
  scores.sizes[3] = problem.key.sizes[2];
  auto read = [&](const onnx::GraphProto &graph) -> Result<Pointwise> {
    Result<Pointwise> map =
        readPointwise(graph, scores, node.getValues(), node.getOpset(), text);
    if (map && probMod && map->readsTensors)
      return node.error("graph '" + graph.name() +
                            "': tensors are not supported beside prob_mod",
                        ErrorCode::unsupported);
    return map;
  };
  if (scoreMod) {
    Result<Pointwise> map = read(*scoreMod);
    if (!map)
      return map.error();
    problem.score = map->score;
    problem.keep = map->keep;
  }
  if (!probMod) {
    bool isNarrowed = problem.query.dtype != dtype;
    AttentionResult result =
        emitAttention(text, problem, isNarrowed ? "o_wide" : y, false);
    outputs[y] = convert(text, result.output, dtype, y);
    return {};
  }
  Result<Pointwise> map = read(*probMod);
  if (!map)
    return map.error();
  if (map->keep)
    return node.error("attribute 'prob_mod': expected finite weights, got "
                      "-inf");
  problem.weight = map->score;
  IrValue lse = emitLse(text, problem);
  IrValue weights = emitScores(text, problem, ScoreStage::weights, lse,
                               problem.scoreType(), "weights");
  outputs[y] = emitWeightedSum(text, problem, weights, dtype, y);
  return {};
}

} // namespace attn::importer
