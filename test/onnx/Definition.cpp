// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Definition.h.

#include "test/onnx/Definition.h"

#include <cmath>
#include <limits>
#include <sstream>

namespace attn::onnxtest {

static constexpr double infinity = std::numeric_limits<double>::infinity();

std::string AttentionCase::describe() const {
  std::ostringstream text;
  text << "opset " << opset << (isPacked ? " rank 3 " : " rank 4 ")
       << name(dtype) << " B " << batch << " H " << queryHeads << "/"
       << keyHeads << " S " << queries << "/" << keys << " D " << headSize
       << "/" << valueSize;
  if (scale)
    text << " scale " << *scale;
  text << " softcap " << softcap << " causal " << isCausal << " window " << left
       << " " << right << " mode " << mode;
  if (precision)
    text << " precision " << name(*precision);
  if (past)
    text << " past " << *past;
  if (hasLengths)
    text << " lengths";
  if (maskType)
    text << " mask " << formatType(*maskType, maskSizes);
  text << (isDynamic ? " dynamic" : "");
  return text.str();
}

static std::vector<int64_t> packable(const AttentionCase &c, int64_t heads,
                                     int64_t length, int64_t size) {
  if (c.isPacked)
    return {c.batch, length, heads * size};
  return {c.batch, heads, length, size};
}

namespace {
struct Input {
  std::string name;
  DType dtype;
  std::vector<int64_t> sizes;
};
} // namespace

/// In the order of the operator, without names where it has none.
static std::vector<Input> inputsOf(const AttentionCase &c) {
  std::vector<Input> inputs = {
      {"Q", c.dtype, packable(c, c.queryHeads, c.queries, c.headSize)},
      {"K", c.dtype, packable(c, c.keyHeads, c.keys, c.headSize)},
      {"V", c.dtype, packable(c, c.keyHeads, c.keys, c.valueSize)},
      {},
      {},
      {},
      {}};
  if (c.maskType)
    inputs[3] = {"attn_mask", *c.maskType, c.maskSizes};
  if (c.past) {
    inputs[4] = {
        "past_key", c.dtype, {c.batch, c.keyHeads, *c.past, c.headSize}};
    inputs[5] = {
        "past_value", c.dtype, {c.batch, c.keyHeads, *c.past, c.valueSize}};
  }
  if (c.hasLengths)
    inputs[6] = {"nonpad_kv_seqlen", DType::i64, {c.batch}};
  while (inputs.back().name.empty())
    inputs.pop_back();
  return inputs;
}

onnx::ModelProto makeModel(const AttentionCase &c) {
  ModelBuilder builder(c.opset);
  std::vector<std::string> names, outputs = {"Y", "", "", ""};
  for (const Input &input : inputsOf(c)) {
    names.push_back(input.name);
    if (input.name.empty())
      continue;
    std::vector<int64_t> sizes = input.sizes;
    if (c.isDynamic) {
      // Batch and lengths; a mask that broadcasts says so.
      if (sizes.size() != 4 || input.name != "attn_mask")
        sizes[0] = sizes.size() == 1 || sizes[0] != 1 ? -1 : sizes[0];
      if (input.name != "attn_mask" && sizes.size() > 1)
        sizes[c.isPacked && sizes.size() == 3 ? 1 : 2] = -1;
    }
    builder.addInput(input.name, typeNumber(input.dtype), sizes);
  }
  if (c.past) {
    outputs[1] = "present_key";
    outputs[2] = "present_value";
  }
  if (c.wantsScores)
    outputs[3] = "qk_matmul_output";
  while (outputs.back().empty())
    outputs.pop_back();
  for (const std::string &output : outputs)
    if (!output.empty())
      builder.addOutput(output);
  onnx::NodeProto &node = builder.addNode("Attention", names, outputs);
  if (c.scale)
    setFloat(node, "scale", static_cast<float>(*c.scale));
  if (c.softcap != 0)
    setFloat(node, "softcap", static_cast<float>(c.softcap));
  if (c.isCausal)
    setInteger(node, "is_causal", 1);
  if (c.isPacked) {
    setInteger(node, "q_num_heads", c.queryHeads);
    setInteger(node, "kv_num_heads", c.keyHeads);
  }
  if (c.left >= 0)
    setInteger(node, "left_window_size", c.left);
  if (c.right >= 0)
    setInteger(node, "right_window_size", c.right);
  if (c.mode != 0)
    setInteger(node, "qk_matmul_output_mode", c.mode);
  if (c.precision)
    setInteger(node, "softmax_precision", typeNumber(*c.precision));
  return builder.model;
}

Tensors makeInputs(const AttentionCase &c, std::mt19937 &random) {
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int64_t> length(0, c.total() + 1);
  Tensors tensors;
  for (const Input &input : inputsOf(c)) {
    if (input.name.empty())
      continue;
    Tensor tensor = std::move(*Tensor::empty(input.dtype, input.sizes));
    for (int64_t i = 0; i < tensor.numElements(); ++i) {
      double value = normal(random);
      if (input.dtype == DType::i64 && c.hasLengths)
        value = static_cast<double>(length(random));
      else if (input.dtype == DType::i1)
        value = value > -0.5;
      else if (input.name == "attn_mask" && value > 1)
        value = isFloat(input.dtype) ? -infinity : value;
      tensor.set(i, value);
    }
    tensors.emplace(input.name, std::move(tensor));
  }
  return tensors;
}

namespace {

/// Element (b, h, s, d) of a tensor of either layout.
class Heads {
public:
  Heads(const Tensor &tensor, int64_t heads)
      : tensor(tensor), heads(heads), isPacked(tensor.sizes().size() == 3) {}
  double at(int64_t b, int64_t h, int64_t s, int64_t d) const {
    const std::vector<int64_t> &n = tensor.sizes();
    if (!isPacked)
      return tensor.at(((b * n[1] + h) * n[2] + s) * n[3] + d);
    return tensor.at((b * n[1] + s) * n[2] + h * (n[2] / heads) + d);
  }

private:
  const Tensor &tensor;
  int64_t heads;
  bool isPacked;
};

/// One node with its inputs.
class Evaluation {
public:
  Evaluation(const AttentionCase &c, const Tensors &inputs)
      : c(c), inputs(inputs), query(inputs.at("Q"), c.queryHeads),
        key(inputs.at("K"), c.keyHeads), value(inputs.at("V"), c.keyHeads) {}

  double keyAt(int64_t b, int64_t h, int64_t t, int64_t d) const {
    return cached("past_key", key, b, h, t, d);
  }
  double valueAt(int64_t b, int64_t h, int64_t t, int64_t d) const {
    return cached("past_value", value, b, h, t, d);
  }
  /// The score of a query and a key at the stages of qk_matmul_output_mode.
  double score(int64_t b, int64_t h, int64_t r, int64_t t, int stage) const;

private:
  double cached(const char *name, const Heads &now, int64_t b, int64_t h,
                int64_t t, int64_t d) const {
    int64_t past = c.past.value_or(0);
    return t < past ? Heads(inputs.at(name), c.keyHeads).at(b, h, t, d)
                    : now.at(b, h, t - past, d);
  }
  double maskAt(int64_t b, int64_t h, int64_t r, int64_t t) const;
  bool isVisible(int64_t b, int64_t r, int64_t t) const;

  const AttentionCase &c;
  const Tensors &inputs;
  Heads query, key, value;
};

} // namespace

/// What is added to a score, -inf where a key is masked.
double Evaluation::maskAt(int64_t b, int64_t h, int64_t r, int64_t t) const {
  const Tensor &mask = inputs.at("attn_mask");
  const std::vector<int64_t> &sizes = mask.sizes();
  if (c.opset >= 24 && t >= sizes.back())
    return -infinity;
  const int64_t place[] = {b, h, r, t};
  int64_t index = 0;
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    index = index * sizes[dim] +
            (sizes[dim] == 1 ? 0 : place[4 - sizes.size() + dim]);
  double element = mask.at(index);
  if (mask.dtype() == DType::i1)
    return element != 0 ? 0 : -infinity;
  return element;
}

bool Evaluation::isVisible(int64_t b, int64_t r, int64_t t) const {
  int64_t offset = c.past.value_or(0);
  if (c.hasLengths) {
    int64_t length = static_cast<int64_t>(inputs.at("nonpad_kv_seqlen").at(b));
    length = std::min(length, c.total());
    if (t >= length)
      return false;
    offset = length - c.queries;
  }
  int64_t position = r + offset;
  return !(c.isCausal && t > position) &&
         !(c.left >= 0 && t < position - c.left) &&
         !(c.right >= 0 && t > position + c.right);
}

double Evaluation::score(int64_t b, int64_t h, int64_t r, int64_t t,
                         int stage) const {
  int64_t group = c.queryHeads / c.keyHeads;
  double dot = 0;
  for (int64_t d = 0; d < c.headSize; ++d)
    dot += query.at(b, h, r, d) * keyAt(b, h / group, t, d);
  double score = dot * (c.scale ? static_cast<float>(*c.scale)
                                : 1 / std::sqrt(double(c.headSize)));
  if (stage >= 1 && c.softcap != 0)
    score = c.softcap * std::tanh(score / c.softcap);
  if (stage < 2)
    return score;
  double mask = c.maskType ? maskAt(b, h, r, t) : 0;
  return isVisible(b, r, t) && mask != -infinity ? score + mask : -infinity;
}

/// The weights of one query.
static std::vector<double> weigh(const AttentionCase &c, const Evaluation &e,
                                 int64_t b, int64_t h, int64_t r) {
  std::vector<double> weights;
  double most = -infinity, sum = 0;
  for (int64_t t = 0; t < c.total(); ++t) {
    weights.push_back(e.score(b, h, r, t, 2));
    most = std::max(most, weights.back());
  }
  for (double &weight : weights) {
    weight = weight == -infinity ? 0 : std::exp(weight - most);
    sum += weight;
  }
  for (double &weight : weights)
    weight = sum == 0 ? 0 : weight / sum;
  return weights;
}

Tensors define(const AttentionCase &c, const Tensors &inputs) {
  Evaluation e(c, inputs);
  std::vector<double> scores,
      y(c.batch * c.queries * c.queryHeads * c.valueSize);
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.queryHeads; ++h)
      for (int64_t r = 0; r < c.queries; ++r) {
        std::vector<double> weights = weigh(c, e, b, h, r);
        for (int64_t t = 0; t < c.total(); ++t)
          scores.push_back(c.mode == 3 ? weights[t]
                                       : e.score(b, h, r, t, c.mode));
        for (int64_t d = 0; d < c.valueSize; ++d) {
          double sum = 0;
          for (int64_t t = 0; t < c.total(); ++t)
            if (weights[t] != 0)
              sum += weights[t] *
                     e.valueAt(b, h / (c.queryHeads / c.keyHeads), t, d);
          int64_t row = c.isPacked ? (b * c.queries + r) * c.queryHeads + h
                                   : (b * c.queryHeads + h) * c.queries + r;
          y[row * c.valueSize + d] = sum;
        }
      }
  Tensors outputs;
  outputs.emplace(
      "Y", tensorOf(DType::f64,
                    packable(c, c.queryHeads, c.queries, c.valueSize), y));
  if (c.wantsScores)
    outputs.emplace("qk_matmul_output",
                    tensorOf(DType::f64,
                             {c.batch, c.queryHeads, c.queries, c.total()},
                             scores));
  if (!c.past)
    return outputs;
  std::vector<double> keys, values;
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.keyHeads; ++h)
      for (int64_t t = 0; t < c.total(); ++t) {
        for (int64_t d = 0; d < c.headSize; ++d)
          keys.push_back(e.keyAt(b, h, t, d));
        for (int64_t d = 0; d < c.valueSize; ++d)
          values.push_back(e.valueAt(b, h, t, d));
      }
  outputs.emplace(
      "present_key",
      tensorOf(DType::f64, {c.batch, c.keyHeads, c.total(), c.headSize}, keys));
  outputs.emplace("present_value",
                  tensorOf(DType::f64,
                           {c.batch, c.keyHeads, c.total(), c.valueSize},
                           values));
  return outputs;
}

} // namespace attn::onnxtest
