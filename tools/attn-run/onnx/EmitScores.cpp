// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scores and weights as matrices, for the outputs that ONNX has of them. They
// are what attn's contract says of attention, with linalg: a key that is masked
// has the score -inf and the weight 0, whatever its score was.

#include "Problem.h"

#include <cmath>
#include <limits>

namespace attn::importer {

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// Queries with their heads in the groups that share a key head.
static IrValue groupHeads(IrText &text, const IrValue &value,
                          const Problem &problem, const std::string &hint) {
  int64_t keyHeads = problem.key.sizes[1];
  if (value.sizes[1] == keyHeads)
    return value;
  return text.splitDim(hint, value, 1, {keyHeads, value.sizes[1] / keyHeads});
}

/// Sums of products of elements over the loops that `out` doesn't have, from 0.
static IrValue sumProducts(IrText &text, const std::string &hint,
                           const LoopOperand &left, const LoopOperand &right,
                           const std::vector<IrSize> &sizes,
                           const std::string &outLoops, char summed,
                           DType dtype) {
  return text.generic(
      hint, outLoops + summed, {left, right},
      {text.filled(dtype, sizes, 0), outLoops},
      [&](const std::vector<std::string> &e) {
        std::string a = convertScalar(text, e[0], left.value.dtype, dtype);
        std::string b = convertScalar(text, e[1], right.value.dtype, dtype);
        std::string t = name(dtype);
        std::string ab =
            text.addOp("x", "arith.mulf " + a + ", " + b + " : " + t);
        return text.addOp("x", "arith.addf " + e[2] + ", " + ab + " : " + t);
      });
}

/// sum_d Q[b,h,r,d] K[b,h/G,t,d]
static IrValue emitProduct(IrText &text, const Problem &problem) {
  IrValue query = groupHeads(text, problem.query, problem, "q_groups");
  bool isGrouped = query.rank() == 5;
  std::string rows = isGrouped ? "bhgr" : "bhr";
  std::vector<IrSize> sizes = text.sizes(query);
  sizes.back() = text.size(problem.key, 2);
  IrValue product =
      sumProducts(text, "product", {query, rows + "d"}, {problem.key, "bhtd"},
                  sizes, rows + "t", 'd', problem.scoreType());
  return isGrouped ? text.mergeDims("product", product, 1) : product;
}

IrValue emitWeightedSum(IrText &text, const Problem &problem,
                        const IrValue &weights, DType dtype,
                        const std::string &hint) {
  DType sumType = problem.scoreType();
  IrValue grouped = groupHeads(text, weights, problem, "weight_groups");
  bool isGrouped = grouped.rank() == 5;
  std::string rows = isGrouped ? "bhgr" : "bhr";
  std::vector<IrSize> sizes = text.sizes(grouped);
  sizes.back() = text.size(problem.value, 3);
  bool isLast = !isGrouped && dtype == sumType;
  IrValue sums =
      sumProducts(text, isLast ? hint : "sums", {grouped, rows + "t"},
                  {problem.value, "bhtd"}, sizes, rows + "d", 't', sumType);
  if (isGrouped)
    sums = text.mergeDims(dtype == sumType ? hint : "sums", sums, 1);
  return convert(text, sums, dtype, hint);
}

namespace {

/// Adds the lines for one score; the loops are batch, head, row and key.
class ScoreBody {
public:
  ScoreBody(IrText &text, const Problem &problem, ScoreStage stage,
            const std::optional<IrValue> &lse, const IrValue &product)
      : text(text), problem(problem), stage(stage), dtype(problem.scoreType()) {
    inputs.push_back({product, "bhrt"});
    if (stage < ScoreStage::masked)
      return;
    // Sizes that lines inside of the loops use are named outside.
    if (problem.hasPositions() && problem.offset)
      offsetName = text.name(*problem.offset);
    if (problem.lengths) {
      keysName = text.name(text.size(product, 3));
      rowsName = text.name(text.size(product, 2));
    }
    for (const std::optional<IrValue> &mask : {problem.bias, problem.select})
      if (mask)
        inputs.push_back(broadcast(*mask, product));
    if (problem.lengths)
      inputs.push_back({*problem.lengths, "b"});
    if (stage == ScoreStage::weights)
      inputs.push_back({*lse, "bhr"});
  }

  const std::vector<LoopOperand> &getInputs() const { return inputs; }
  std::string build(const std::vector<std::string> &elements);

private:
  LoopOperand broadcast(const IrValue &mask, const IrValue &product);
  std::string arith(const char *op, const std::string &a,
                    const std::string &b) {
    return text.addOp("x", std::string("arith.") + op + " " + a + ", " + b +
                               " : " + name(dtype));
  }
  std::string onIndex(const char *op, const std::string &a,
                      const std::string &b) {
    return text.addOp("i", std::string("arith.") + op + " " + a + ", " + b +
                               " : index");
  }
  std::string select(const std::string &condition, const std::string &yes,
                     const std::string &no) {
    return text.addOp("x", "arith.select " + condition + ", " + yes + ", " +
                               no + " : " + name(dtype));
  }
  /// Intersects the keys that are kept with `condition`.
  void keep(const std::string &condition) {
    kept = kept.empty() ? condition
                        : text.addOp("kept", "arith.andi " + kept + ", " +
                                                 condition + " : i1");
  }
  void addLength(const std::string &element, const std::string &key);
  void addPositions(const std::string &row, const std::string &key);
  std::string makeWeight(const std::string &score, const std::string &element);

  IrText &text;
  const Problem &problem;
  ScoreStage stage;
  DType dtype;
  std::string keysName, rowsName, offsetName, lengthName, kept;
  std::vector<LoopOperand> inputs;
};

} // namespace

/// A mask without the dimensions along which it broadcasts.
LoopOperand ScoreBody::broadcast(const IrValue &mask, const IrValue &product) {
  int64_t missing = product.rank() - mask.rank();
  std::vector<bool> isKept;
  std::string loops;
  for (int64_t dim = 0; dim < mask.rank(); ++dim) {
    isKept.push_back(mask.sizes[dim] != 1 || product.sizes[missing + dim] == 1);
    if (isKept.back())
      loops += "bhrt"[missing + dim];
  }
  return {text.dropUnitDims(mask, isKept), loops};
}

/// The length between 0 and the number of keys.
void ScoreBody::addLength(const std::string &element, const std::string &key) {
  std::string length =
      text.addOp("n", "arith.index_cast " + element + " : " +
                          name(problem.lengths->dtype) + " to index");
  std::string zero = text.addOp("zero", "arith.constant 0 : index");
  lengthName = onIndex("maxsi", onIndex("minsi", length, keysName), zero);
  keep(text.addOp("in_use",
                  "arith.cmpi slt, " + key + ", " + lengthName + " : index"));
}

void ScoreBody::addPositions(const std::string &row, const std::string &key) {
  std::string position = row;
  if (problem.offset)
    position = onIndex("addi", row, offsetName);
  else if (problem.lengths)
    position = onIndex("addi", row, onIndex("subi", lengthName, rowsName));
  std::string distance = onIndex("subi", key, position);
  auto keepIf = [&](const char *predicate, int64_t bound) {
    std::string limit = text.addOp(
        "limit", "arith.constant " + std::to_string(bound) + " : index");
    keep(text.addOp("seen", std::string("arith.cmpi ") + predicate + ", " +
                                distance + ", " + limit + " : index"));
  };
  if (problem.isCausal)
    keepIf("sle", 0);
  if (problem.left)
    keepIf("sge", -*problem.left);
  if (problem.right)
    keepIf("sle", *problem.right);
}

/// exp(score - lse), 0 where the key is masked: there lse may be -inf, too.
std::string ScoreBody::makeWeight(const std::string &score,
                                  const std::string &element) {
  std::string shifted = arith("subf", score, element);
  std::string weight =
      text.addOp("p", "math.exp " + shifted + " : " + name(dtype));
  std::string lowest = text.constant(dtype, -infinity);
  std::string isMasked =
      text.addOp("masked", "arith.cmpf oeq, " + score + ", " + lowest + " : " +
                               name(dtype));
  return select(isMasked, text.constant(dtype, 0), weight);
}

std::string ScoreBody::build(const std::vector<std::string> &elements) {
  size_t next = 1;
  std::vector<std::string> indices;
  double scale = problem.scale.value_or(
      1 / std::sqrt(static_cast<double>(problem.query.sizes[3])));
  std::string score = arith("mulf", elements[0], text.constant(dtype, scale));
  if (stage == ScoreStage::product)
    return score;
  if (problem.softcap != 0) {
    std::string cap = text.constant(dtype, problem.softcap);
    std::string ratio = arith("divf", score, cap);
    std::string tanh =
        text.addOp("x", "math.tanh " + ratio + " : " + name(dtype));
    score = arith("mulf", cap, tanh);
  }
  if (stage == ScoreStage::softcapped)
    return score;
  bool usesIndices = problem.score || problem.keep || problem.weight ||
                     problem.lengths || problem.hasPositions();
  for (int loop = 0; usesIndices && loop < 4; ++loop)
    indices.push_back(
        text.addOp(std::string(1, "bhrt"[loop]),
                   "linalg.index " + std::to_string(loop) + " : index"));
  if (problem.score)
    score = problem.score(score, indices);
  if (problem.bias)
    score = arith(
        "addf", score,
        convertScalar(text, elements[next++], problem.bias->dtype, dtype));
  if (problem.select)
    keep(elements[next++]);
  if (problem.lengths)
    addLength(elements[next++], indices[3]);
  if (problem.hasPositions())
    addPositions(indices[2], indices[3]);
  if (problem.keep)
    keep(problem.keep(score, indices));
  if (!kept.empty())
    score = select(kept, score, text.constant(dtype, -infinity));
  if (stage != ScoreStage::weights)
    return score;
  std::string weight = makeWeight(score, elements[next]);
  return problem.weight ? problem.weight(weight, indices) : weight;
}

IrValue emitScores(IrText &text, const Problem &problem, ScoreStage stage,
                   const std::optional<IrValue> &lse, DType dtype,
                   const std::string &hint) {
  IrValue product = emitProduct(text, problem);
  ScoreBody body(text, problem, stage, lse, product);
  IrValue init = text.empty(dtype, text.sizes(product));
  return text.generic(hint, "bhrt", body.getInputs(), {init, "bhrt"},
                      [&](const std::vector<std::string> &elements) {
                        return convertScalar(text, body.build(elements),
                                             problem.scoreType(), dtype);
                      });
}

} // namespace attn::importer
