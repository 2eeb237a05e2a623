// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ai.onnx Attention. The operator's page of the ONNX documentation is the
// source of what attributes and inputs mean; where it leaves a choice,
// docs/onnx.md has ours.

#include "Attention.h"

#include "Operands.h"

#include <cmath>
#include <limits>

namespace attn::importer {

namespace {

class AttentionImporter {
public:
  AttentionImporter(Node &node, IrText &text) : node(node), text(text) {}
  Result<void> run(Values &outputs);

private:
  Result<void> readAttributes();
  Result<void> readWindow();
  Result<void> readOperands();
  Result<IrValue> splitHeads(const IrValue &value, const char *name,
                             int64_t heads);
  Result<void> readHeads();
  Result<void> readPast();
  Result<void> readLengths();
  Result<void> readMask();
  Result<IrValue> padMask(const IrValue &mask);
  IrValue mergeHeads(const IrValue &value, const std::string &hint);

  Node &node;
  IrText &text;
  Problem problem;
  /// Those of the operator, before they are widened.
  DType dtype = DType::f32;
  bool isPacked = false;
  std::optional<int64_t> queryHeads, keyHeads;
  ScoreStage stage = ScoreStage::product;
  bool isWide = false;
};

} // namespace

Result<void> AttentionImporter::readAttributes() {
  problem.scale = node.number("scale");
  if (problem.scale && !std::isfinite(*problem.scale))
    return node.error("attribute 'scale': expected a finite number, got " +
                      std::to_string(*problem.scale));
  problem.softcap = node.number("softcap").value_or(0);
  if (!std::isfinite(problem.softcap) || problem.softcap < 0)
    return node.error("attribute 'softcap': expected a finite number of at "
                      "least 0, got " +
                      std::to_string(problem.softcap));
  int64_t causal = node.integer("is_causal").value_or(0);
  if (causal != 0 && causal != 1)
    return node.error("attribute 'is_causal': expected 0 or 1, got " +
                      std::to_string(causal));
  problem.isCausal = causal == 1;
  int64_t mode = node.integer("qk_matmul_output_mode").value_or(0);
  if (mode < 0 || mode > 3)
    return node.error("attribute 'qk_matmul_output_mode': expected 0 to 3, "
                      "got " +
                      std::to_string(mode));
  stage = static_cast<ScoreStage>(mode);
  queryHeads = node.integer("q_num_heads");
  keyHeads = node.integer("kv_num_heads");
  for (const std::optional<int64_t> &heads : {queryHeads, keyHeads})
    if (heads && (*heads < 1 || *heads > std::numeric_limits<int32_t>::max()))
      return node.error("attributes 'q_num_heads' and 'kv_num_heads': "
                        "expected at least 1, got " +
                        std::to_string(*heads));
  Result<bool> isF64 = readsDouble(node);
  if (!isF64)
    return isF64.error();
  isWide = *isF64;
  if (Result<void> done = readWindow(); !done)
    return done;
  return node.checkAttributes();
}

Result<void> AttentionImporter::readWindow() {
  if (node.getOpset() < 25)
    return {};
  auto read = [&](const char *name,
                  std::optional<int64_t> &bound) -> Result<void> {
    int64_t size = node.integer(name).value_or(-1);
    if (size < -1)
      return node.error(std::string("attribute '") + name +
                        "': expected at least -1, got " + std::to_string(size));
    if (size >= 0)
      bound = size;
    return {};
  };
  if (Result<void> done = read("left_window_size", problem.left); !done)
    return done;
  return read("right_window_size", problem.right);
}

/// B x S x (H*D)  ->  B x H x S x D
Result<IrValue> AttentionImporter::splitHeads(const IrValue &value,
                                              const char *name, int64_t heads) {
  int64_t hidden = value.sizes[2];
  if (hidden < 0 || hidden % heads != 0)
    return node.error(std::string("input ") + name +
                      ": expected a last dimension that is a multiple of " +
                      std::to_string(heads) + " heads, got " +
                      (hidden < 0 ? "a dynamic one" : std::to_string(hidden)));
  std::string hint = std::string(name) + "_heads";
  IrValue split = text.splitDim(hint, value, 2, {heads, hidden / heads});
  return text.transpose(hint, split, {0, 2, 1, 3});
}

/// B x H x S x D  ->  B x S x (H*D)
IrValue AttentionImporter::mergeHeads(const IrValue &value,
                                      const std::string &hint) {
  return text.mergeDims(hint, text.transpose("tokens", value, {0, 2, 1, 3}), 2);
}

Result<void> AttentionImporter::readOperands() {
  if (Result<void> done = readQueryKeyValue(node, problem); !done)
    return done;
  dtype = problem.query.dtype;
  isPacked = problem.query.rank() == 3;
  return readHeads();
}

Result<void> AttentionImporter::readHeads() {
  if (isPacked) {
    if (!queryHeads || !keyHeads)
      return node.error("expected attributes 'q_num_heads' and "
                        "'kv_num_heads' with inputs of rank 3");
    Result<IrValue> query = splitHeads(problem.query, "Q", *queryHeads);
    Result<IrValue> key = splitHeads(problem.key, "K", *keyHeads);
    Result<IrValue> value = splitHeads(problem.value, "V", *keyHeads);
    for (const Result<IrValue> *split : {&query, &key, &value})
      if (!*split)
        return split->error();
    problem.query = *query;
    problem.key = *key;
    problem.value = *value;
    return checkShapes(node, problem);
  }
  if (node.getOpset() >= 25 && (queryHeads || keyHeads))
    return node.error("expected no attributes 'q_num_heads' and "
                      "'kv_num_heads' with inputs of rank 4");
  if (Result<void> done = expectSize(node, "Q", problem.query, 1,
                                     queryHeads.value_or(-1), "q_num_heads");
      !done)
    return done;
  if (Result<void> done = expectSize(node, "K", problem.key, 1,
                                     keyHeads.value_or(-1), "kv_num_heads");
      !done)
    return done;
  return checkShapes(node, problem);
}

/// Puts the cache in front of keys and values.
Result<void> AttentionImporter::readPast() {
  Result<std::optional<IrValue>> pastKey = node.input(4, "past_key");
  Result<std::optional<IrValue>> pastValue = node.input(5, "past_value");
  if (!pastKey)
    return pastKey.error();
  if (!pastValue)
    return pastValue.error();
  if (pastKey->has_value() != pastValue->has_value())
    return node.error(std::string("expected inputs past_key and past_value or "
                                  "neither, got ") +
                      (*pastKey ? "past_key" : "past_value") + " alone");
  if (!*pastKey)
    return {};
  auto join = [&](const char *name, const IrValue &past, const char *hint,
                  IrValue &now) -> Result<void> {
    if (past.rank() != 4 || past.dtype != now.dtype)
      return node.error(std::string("input ") + name +
                        ": expected rank 4 and type " + attn::name(now.dtype) +
                        ", got " + formatType(past.dtype, past.sizes));
    const char *whats[] = {"batch", "heads", "", "head size"};
    for (int dim : {0, 1, 3})
      if (Result<void> done =
              expectSize(node, name, past, dim, now.sizes[dim], whats[dim]);
          !done)
        return done;
    now = text.concat(hint, 2, past, now);
    return {};
  };
  std::string present[] = {node.output(1), node.output(2)};
  if (Result<void> done =
          join("past_key", **pastKey,
               present[0].empty() ? "keys" : present[0].c_str(), problem.key);
      !done)
    return done;
  if (Result<void> done = join(
          "past_value", **pastValue,
          present[1].empty() ? "values" : present[1].c_str(), problem.value);
      !done)
    return done;
  problem.offset = text.size(**pastKey, 2);
  return {};
}

Result<void> AttentionImporter::readLengths() {
  Result<std::optional<IrValue>> lengths = node.input(6, "nonpad_kv_seqlen");
  if (!lengths)
    return lengths.error();
  if (!*lengths)
    return {};
  if (problem.offset)
    return node.error("expected input nonpad_kv_seqlen or past_key and "
                      "past_value, got both");
  const IrValue &value = **lengths;
  if (value.rank() != 1 || value.dtype != DType::i64)
    return node.error("input nonpad_kv_seqlen: expected rank 1 and type i64, "
                      "got " +
                      formatType(value.dtype, value.sizes));
  problem.lengths = value;
  return expectSize(node, "nonpad_kv_seqlen", value, 0, problem.query.sizes[0],
                    "batch (from Q)");
}

/// From opset 24 on a mask may end before the keys do; those are masked.
Result<IrValue> AttentionImporter::padMask(const IrValue &mask) {
  int64_t last = mask.rank() - 1;
  IrSize keys = text.size(problem.key, 2), have = text.size(mask, last);
  bool isKnown = !keys.isDynamic() && !have.isDynamic();
  if (node.getOpset() < 24 || (isKnown && have.fixed >= keys.fixed))
    return mask;
  IrSize missing{isKnown ? keys.fixed - have.fixed : -1, ""};
  if (!isKnown)
    missing.name =
        text.addOp("missing", "arith.subi " + text.name(keys) + ", " +
                                  text.name(have) + " : index");
  std::vector<IrSize> sizes = text.sizes(mask);
  sizes[last] = missing;
  double masked =
      mask.dtype == DType::i1 ? 0 : -std::numeric_limits<double>::infinity();
  IrValue pad = text.filled(mask.dtype, sizes, masked);
  return text.concat("mask_padded", last, mask, pad);
}

Result<void> AttentionImporter::readMask() {
  Result<std::optional<IrValue>> input = node.input(3, "attn_mask");
  if (!input)
    return input.error();
  if (!*input)
    return {};
  IrValue mask = **input;
  if (mask.rank() < 1 || mask.rank() > 4)
    return node.error("input attn_mask: expected rank 1 to 4, got " +
                      std::to_string(mask.rank()));
  // Other numbers are added as what they are in the type of the scores.
  if (mask.dtype != DType::i1 && mask.dtype != problem.query.dtype)
    mask = convert(text, mask, problem.scoreType(), "mask_numbers");
  Result<IrValue> padded = padMask(mask);
  if (!padded)
    return padded.error();
  std::vector<int64_t> full = {problem.query.sizes[0], problem.query.sizes[1],
                               problem.query.sizes[2], problem.key.sizes[2]};
  int64_t missing = 4 - padded->rank();
  for (int64_t dim = 0; dim < padded->rank(); ++dim) {
    int64_t got = padded->sizes[dim], expected = full[missing + dim];
    if (got >= 0 && expected >= 0 && got != 1 && got != expected)
      return node.error("input attn_mask: expected sizes that broadcast to " +
                        formatSizes(full) + ", got " +
                        formatSizes((*input)->sizes));
  }
  (mask.dtype == DType::i1 ? problem.select : problem.bias) = *padded;
  return {};
}

Result<void> AttentionImporter::run(Values &outputs) {
  bool hasLengths = node.getOpset() >= 24;
  if (Result<void> done = node.checkCounts(hasLengths ? 7 : 6, 4); !done)
    return done;
  if (Result<void> done = readAttributes(); !done)
    return done;
  if (Result<void> done = readOperands(); !done)
    return done;
  if (Result<void> done = readPast(); !done)
    return done;
  std::string y = node.output(0), presentKey = node.output(1),
              presentValue = node.output(2), scores = node.output(3);
  if (y.empty())
    return node.error("output Y: expected a name, got none");
  if (!presentKey.empty())
    outputs[presentKey] = problem.key;
  if (!presentValue.empty())
    outputs[presentValue] = problem.value;
  if (isWide)
    for (IrValue *operand : {&problem.query, &problem.key, &problem.value})
      *operand = convert(text, *operand, DType::f64, "wide");
  if (Result<void> done = readLengths(); !done)
    return done;
  if (Result<void> done = readMask(); !done)
    return done;

  bool wantsLse = !scores.empty() && stage == ScoreStage::weights;
  std::string hint = isPacked ? "o" : y;
  AttentionResult result = emitAttention(
      text, problem, problem.query.dtype == dtype ? hint : "o_wide", wantsLse);
  IrValue output = convert(text, result.output, dtype, hint);
  outputs[y] = isPacked ? mergeHeads(output, y) : output;
  if (!scores.empty())
    outputs[scores] =
        emitScores(text, problem, stage, result.lse, dtype, scores);
  return {};
}

Result<void> importAttention(Node &node, IrText &text, Values &outputs) {
  return AttentionImporter(node, text).run(outputs);
}

} // namespace attn::importer
