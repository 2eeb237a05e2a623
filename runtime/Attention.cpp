// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One clause of attn.gqa for each field that is set.

#include "runtime/Attention.h"

#include "runtime/AttentionCheck.h"
#include "runtime/TensorView.h"

#include <cstdio>

namespace attn {

namespace {
/// Writes a checked spec.
class SpecWriter {
public:
  explicit SpecWriter(const AttentionSpec &spec) : spec(spec), sizes(spec) {}
  std::string write();

private:
  void addClause(const std::string &name, const std::string &inside) {
    clauses += " " + name + "(" + inside + ")";
  }
  /// A clause whose value is an argument of the same name.
  void addArgument(const std::string &name, const std::string &type);
  void addSetting(const std::string &name, const Setting &setting);
  void addPosition();
  void addMasks();

  const AttentionSpec &spec;
  SpecSizes sizes;
  std::string arguments, clauses;
};
} // namespace

static std::string tensorType(DType dtype, const std::vector<int64_t> &sizes) {
  return "tensor<" + formatType(dtype, sizes) + ">";
}

void SpecWriter::addArgument(const std::string &name, const std::string &type) {
  arguments += ", %" + name + ": " + type;
  addClause(name, "%" + name + " : " + type);
}

void SpecWriter::addSetting(const std::string &name, const Setting &setting) {
  if (setting.isAtCall())
    return addArgument(name, "f32");
  if (!setting.isSet())
    return;
  // As many digits as tell any two doubles apart; MLIR wants a point.
  char text[64];
  std::snprintf(text, sizeof text, "%.16e", setting.number());
  addClause(name, text);
}

void SpecWriter::addPosition() {
  switch (spec.position) {
  case Position::none:
    return;
  case Position::topLeft:
    return addClause("align", "top_left");
  case Position::bottomRight:
    return addClause("align", "bottom_right");
  case Position::offset:
    return addArgument("offset", "index");
  case Position::offsetPerBatch:
    return addArgument("offset", tensorType(DType::i64, {sizes.entries}));
  }
}

void SpecWriter::addMasks() {
  std::string masks;
  auto add = [&](const std::string &mask) {
    masks += (masks.empty() ? "" : ", ") + mask;
  };
  if (spec.causal)
    add("#attn.causal");
  if (spec.windowLeft || spec.windowRight) {
    std::string left, right;
    if (spec.windowLeft)
      left = "left = " + std::to_string(*spec.windowLeft);
    if (spec.windowRight)
      right = "right = " + std::to_string(*spec.windowRight);
    add("#attn.window<" + left + (left.empty() || right.empty() ? "" : ", ") +
        right + ">");
  }
  if (spec.bigBird) {
    auto number = [](const char *name, int64_t value) {
      return std::string(name) + " = " + std::to_string(value);
    };
    const BigBirdSpec &mask = *spec.bigBird;
    add("#attn.bigbird<" + number("block", mask.block) + ", " +
        number("window", mask.window) + ", " + number("global", mask.global) +
        ", " + number("last", mask.last) + ", " +
        number("random", mask.random) + ", " + number("blocks", mask.blocks) +
        ", " + number("seed", mask.seed) + ">");
  }
  if (spec.prefix != CallInteger::none)
    add("#attn.prefix");
  if (!masks.empty())
    addClause("mask", masks);
  if (spec.prefix == CallInteger::index)
    addArgument("prefix", "index");
  if (spec.prefix == CallInteger::perBatch)
    addArgument("prefix", tensorType(DType::i64, {sizes.entries}));
  if (spec.bigBird && spec.bigBird->table)
    addArgument("random_blocks",
                tensorType(DType::i64,
                           {sizes.queryHeads, anySize, *spec.bigBird->table}));
}

std::string SpecWriter::write() {
  std::string q = tensorType(
      spec.dtype, {sizes.batch, sizes.queryHeads, sizes.queries, sizes.keyDim});
  std::string k = tensorType(
      spec.dtype, {sizes.batch, sizes.keyHeads, sizes.keys, sizes.keyDim});
  std::string v = tensorType(
      spec.dtype, {sizes.batch, sizes.keyHeads, sizes.keys, sizes.valueDim});
  std::string o = tensorType(spec.dtype, {sizes.batch, sizes.queryHeads,
                                          sizes.queries, sizes.valueDim});
  arguments = "%q: " + q + ", %k: " + k + ", %v: " + v;
  addSetting("scale", spec.scale);
  addSetting("softcap", spec.softcap);
  addPosition();
  addMasks();
  if (spec.alibi)
    addArgument("alibi", tensorType(*spec.alibi, {sizes.queryHeads}));
  if (spec.bias)
    addArgument("bias", tensorType(spec.bias->dtype, spec.bias->sizes));
  if (spec.select)
    addArgument("select", tensorType(DType::i1, *spec.select));
  if (spec.lengths)
    addArgument("lengths", tensorType(DType::i64, {sizes.entries}));
  if (spec.keyOffset)
    addArgument("key_offset", "index");
  if (spec.sinks)
    addArgument("sinks", tensorType(*spec.sinks, {sizes.queryHeads}));
  if (spec.sequences) {
    bool isAny = *spec.sequences == anySize;
    std::string starts =
        tensorType(DType::i64, {isAny ? anySize : *spec.sequences + 1});
    addArgument("query_starts", starts);
    addArgument("key_starts", starts);
  }
  std::string results = "%o", types = o;
  if (spec.logSumExp) {
    results += ", %lse";
    types +=
        ", " + tensorType(spec.dtype == DType::f64 ? DType::f64 : DType::f32,
                          {sizes.batch, sizes.queryHeads, sizes.queries});
  }
  return "func.func @" + spec.name + "(" + arguments + ") -> (" + types +
         ") {\n  " + results + " = attn.gqa %q, %k, %v" + clauses +
         "\n      : (" + q + ", " + k + ", " + v + ") -> (" + types +
         ")\n  return " + results + " : " + types + "\n}\n";
}

Result<std::string> buildAttention(const AttentionSpec &spec) {
  if (Result<void> done = checkAttention(spec); !done)
    return done.error();
  return SpecWriter(spec).write();
}

} // namespace attn
