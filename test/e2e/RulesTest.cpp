// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules between the sizes of an op's operands: each once too small and once too
// large, known to the compiler and found in a call. What is refused is named,
// and what the rule allows runs.

#include "test/e2e/Harness.h"
#include "gtest/gtest.h"

using namespace attn;
using namespace attn::test;

namespace {

using Dims = std::vector<int64_t>;

struct Operand {
  std::string name, type;
  Dims dims;
};

/// An op on operands %name, whose types are T(name) in its text. The first of
/// its results is %o, of f32.
struct Program {
  std::vector<Operand> operands;
  std::string text;
  Dims result;
};

std::string typeOf(const Operand &operand, bool isStatic) {
  std::string text = "tensor<";
  for (int64_t size : operand.dims)
    text += (isStatic ? std::to_string(size) : "?") + "x";
  return text + operand.type + ">";
}

std::string irFor(const Program &program, bool isStatic) {
  std::string arguments, body = program.text;
  auto replace = [&](const std::string &name, const std::string &type) {
    std::string mark = "T(" + name + ")";
    for (size_t at = 0; (at = body.find(mark, at)) != std::string::npos;)
      body.replace(at, mark.size(), type);
  };
  for (const Operand &operand : program.operands) {
    std::string type = typeOf(operand, isStatic);
    arguments += (arguments.empty() ? "%" : ", %") + operand.name + ": " + type;
    replace(operand.name, type);
  }
  std::string result = typeOf({"", "f32", program.result}, isStatic);
  replace("result", result);
  return "func.func @main(" + arguments + ") -> " + result + " {\n  " + body +
         "\n  return %o : " + result + "\n}\n";
}

Arguments inputsOf(const Program &program) {
  Arguments arguments;
  for (const Operand &operand : program.operands) {
    int64_t count = 1;
    for (int64_t size : operand.dims)
      count *= size;
    DType dtype = operand.type == "f32"   ? DType::f32
                  : operand.type == "i64" ? DType::i64
                                          : DType::i1;
    std::vector<double> values(size_t(count), dtype == DType::i64 ? 2 : 1);
    arguments.add(dtype, operand.dims, values);
  }
  return arguments;
}

/// Dimension `dim` of an operand, or of two with a space between, with sizes
/// that break a rule, and with those that keep it.
struct Rule {
  std::string operand;
  size_t dim;
  /// "'attn.gqa' op key: expected batch", the size expected, where it is from.
  std::string expected;
  int64_t size;
  std::string from;
  Dims bad, good = {};
};

const Program softmax = {
    {{"q", "f32", {3, 2, 5, 8}},
     {"k", "f32", {3, 2, 7, 8}},
     {"v", "f32", {3, 2, 7, 4}},
     {"at", "i64", {3}},
     {"n", "i64", {3}},
     {"prefix", "i64", {3}},
     {"slopes", "f32", {2}},
     {"bias", "f32", {3, 2, 5, 7}},
     {"select", "i1", {3, 2, 5, 7}},
     {"sinks", "f32", {2}}},
    "%o = attn.softmax %q, %k, %v offset(%at : T(at)) mask(#attn.prefix) "
    "prefix(%prefix : T(prefix)) alibi(%slopes : T(slopes)) "
    "bias(%bias : T(bias)) select(%select : T(select)) "
    "lengths(%n : T(n)) sinks(%sinks : T(sinks)) "
    ": (T(q), T(k), T(v)) -> T(result)",
    {3, 2, 5, 4}};

const std::vector<Rule> softmaxRules = {
    {"k", 0, "key: expected batch", 3, "query", {1, 2, 4}},
    {"v", 0, "value: expected batch", 3, "query", {1, 2, 4}},
    {"v", 1, "value: expected heads", 2, "key", {1, 3}},
    {"k v", 1, "key: expected heads", 2, "query", {1, 3}},
    {"k", 3, "key: expected head dim", 8, "query", {1, 7, 9}},
    {"v", 2, "value: expected length", 7, "key", {1, 6, 8}},
    {"at", 0, "offset: expected batch", 3, "query", {1, 2, 4}},
    {"n", 0, "lengths: expected batch", 3, "query", {1, 2, 4}},
    {"prefix", 0, "prefix: expected batch", 3, "query", {1, 2, 4}},
    {"slopes", 0, "alibi: expected heads", 2, "query", {1, 3}},
    {"bias", 0, "bias: expected 1 or batch", 3, "query", {2, 4}, {1}},
    {"bias", 1, "bias: expected 1 or heads", 2, "query", {3}, {1}},
    {"bias", 2, "bias: expected 1 or rows", 5, "query", {2, 4, 6}, {1}},
    {"bias", 3, "bias: expected 1 or keys", 7, "key", {2, 6, 8}, {1}},
    {"select", 0, "select: expected 1 or batch", 3, "query", {2, 4}, {1}},
    {"select", 1, "select: expected 1 or heads", 2, "query", {3}, {1}},
    {"select", 2, "select: expected 1 or rows", 5, "query", {2, 4, 6}, {1}},
    {"select", 3, "select: expected 1 or keys", 7, "key", {2, 6, 8}, {1}},
    {"sinks", 0, "sinks: expected heads", 2, "query", {1, 3}},
};

const Program gqa = {
    {{"q", "f32", {1, 8, 5, 8}},
     {"k", "f32", {1, 4, 7, 8}},
     {"v", "f32", {1, 4, 7, 4}}},
    "%o = attn.gqa %q, %k, %v : (T(q), T(k), T(v)) -> T(result)",
    {1, 8, 5, 4}};

const std::vector<Rule> gqaRules = {
    {"q",
     1,
     "query: expected heads to be a multiple of key heads",
     4,
     "key",
     {3, 5, 7, 9, 2}},
};

/// Three sequences.
const Program packed = {
    {{"q", "f32", {1, 2, 9, 8}},
     {"k", "f32", {1, 2, 9, 8}},
     {"v", "f32", {1, 2, 9, 4}},
     {"at", "i64", {3}},
     {"prefix", "i64", {3}},
     {"qs", "i64", {4}},
     {"ks", "i64", {4}}},
    "%o = attn.softmax %q, %k, %v offset(%at : T(at)) mask(#attn.prefix) "
    "prefix(%prefix : T(prefix)) query_starts(%qs : T(qs)) "
    "key_starts(%ks : T(ks)) : (T(q), T(k), T(v)) -> T(result)",
    {1, 2, 9, 4}};

const std::vector<Rule> packedRules = {
    {"at",
     0,
     "offset: expected entries to be one fewer than",
     4,
     "query_starts",
     {1, 2, 4, 5}},
    {"prefix",
     0,
     "prefix: expected entries to be one fewer than",
     4,
     "query_starts",
     {1, 2, 4, 5}},
    {"ks", 0, "key_starts: expected entries", 4, "query_starts", {1, 3, 5}},
};

/// With one sequence at least; this has starts alone.
const Program starts = {{{"q", "f32", {1, 2, 9, 8}}, {"s", "i64", {4}}},
                        "%o = attn.softmax %q, %q, %q query_starts(%s : T(s)) "
                        "key_starts(%s : T(s)) "
                        ": (T(q), T(q), T(q)) -> T(result)",
                        {1, 2, 9, 8}};

const std::vector<Rule> startsRules = {
    {"s", 0, "query_starts: expected entries of at least", 1, "", {0}, {1, 9}},
    {"q", 0, "query: expected batch", 1, "with query_starts", {2, 3}},
    {"q", 3, "query: expected head dim of at least", 1, "", {0}, {1}},
};

const Program linear = {
    {{"q", "f32", {2, 4, 5, 8}},
     {"k", "f32", {2, 2, 5, 8}},
     {"v", "f32", {2, 2, 5, 64}},
     {"g", "f32", {2, 2, 5, 8}},
     {"b", "f32", {2, 2, 5}},
     {"s", "f32", {2, 2, 8, 64}},
     {"n", "i64", {2}}},
    "%o = attn.linear %q, %k, %v decay(%g : T(g)) beta(%b : T(b)) state(%s : "
    "T(s)) "
    "lengths(%n : T(n)) causal : (T(q), T(k), T(v)) -> T(result)",
    {2, 4, 5, 64}};

const std::vector<Rule> linearRules = {
    {"q",
     1,
     "query: expected heads to be a multiple of key heads",
     2,
     "key",
     {1, 3, 5}},
    {"g", 0, "decay: expected batch", 2, "query", {1, 3}},
    {"g", 1, "decay: expected heads", 2, "value", {1, 3, 4}},
    {"g", 2, "decay: expected length", 5, "key", {1, 4, 6}},
    {"g", 3, "decay: expected features", 8, "query", {1, 7, 9}},
    {"b", 0, "beta: expected batch", 2, "query", {1, 3}},
    {"b", 1, "beta: expected heads", 2, "value", {1, 3}},
    {"b", 2, "beta: expected length", 5, "key", {1, 4, 6}},
    {"s", 0, "state: expected batch", 2, "query", {1, 3}},
    {"s", 1, "state: expected heads", 2, "value", {1, 3, 4}},
    {"s", 2, "state: expected features", 8, "query", {1, 7, 9}},
    {"s", 3, "state: expected columns", 64, "value", {1, 63, 65, 70}},
    {"n", 0, "lengths: expected batch", 2, "query", {1, 3}},
};

/// A state with its normaliser, a bonus alone and a transition.
const Program normalized = {
    {{"q", "f32", {1, 2, 5, 8}},
     {"v", "f32", {1, 2, 5, 64}},
     {"s", "f32", {1, 2, 8, 65}}},
    "%o = attn.linear %q, %q, %v state(%s : T(s)) normalize(token) causal "
    ": (T(q), T(q), T(v)) -> T(result)",
    {1, 2, 5, 64}};

const Program bonus = {{{"q", "f32", {1, 2, 5, 8}},
                        {"u", "f32", {2, 8}},
                        {"a", "f32", {1, 2, 5, 8}},
                        {"b", "f32", {1, 2, 5, 8}}},
                       "%o = attn.linear %q, %q, %q transition(%a, %b : T(a), "
                       "T(b)) bonus(%u : T(u)) "
                       "causal : (T(q), T(q), T(q)) -> T(result)",
                       {1, 2, 5, 8}};

const std::vector<Rule> bonusRules = {
    {"u", 0, "bonus: expected heads", 2, "value", {1, 3}},
    {"u", 1, "bonus: expected features", 8, "query", {1, 7, 9}},
    {"a", 0, "transition a: expected batch", 1, "query", {2}},
    {"a", 1, "transition a: expected heads", 2, "value", {1, 3}},
    {"b", 2, "transition b: expected length", 5, "key", {1, 4, 6}},
    {"b", 3, "transition b: expected features", 8, "query", {1, 7, 9}},
};

const Program favor = {
    {{"q", "f32", {2, 4, 5, 8}},
     {"k", "f32", {2, 2, 5, 8}},
     {"v", "f32", {2, 2, 5, 4}},
     {"w", "f32", {16, 8}},
     {"n", "i64", {2}}},
    "%o = attn.favor %q, %k, %v, %w kind(positive) lengths(%n : T(n)) causal "
    ": (T(q), T(k), T(v), T(w)) -> T(result)",
    {2, 4, 5, 4}};

const std::vector<Rule> favorRules = {
    {"w", 1, "projection: expected head dim", 8, "query", {1, 7, 9}},
    {"w", 0, "projection: expected rows of at least", 1, "", {0}, {1, 3}},
    {"n", 0, "lengths: expected batch", 2, "query", {1, 3}},
    {"q",
     1,
     "query: expected heads to be a multiple of key heads",
     2,
     "key",
     {1, 3, 5}},
};

const Program merge = {{{"o1", "f32", {2, 3, 5, 8}},
                        {"l1", "f32", {2, 3, 5}},
                        {"o2", "f32", {2, 3, 5, 8}},
                        {"l2", "f32", {2, 3, 5}}},
                       "%o, %l = attn.merge %o1, %l1, %o2, %l2 "
                       ": (T(o1), T(l1), T(o2), T(l2)) -> (T(result), T(l1))",
                       {2, 3, 5, 8}};

const std::vector<Rule> mergeRules = {
    {"l1", 0, "first_lse: expected batch", 2, "first_output", {1, 3}},
    {"l1", 1, "first_lse: expected heads", 3, "first_output", {1, 2, 4}},
    {"l1", 2, "first_lse: expected length", 5, "first_output", {4, 6}},
    {"o2", 0, "second_output: expected batch", 2, "first_output", {1, 3}},
    {"o2", 1, "second_output: expected heads", 3, "first_output", {1, 4}},
    {"o2", 3, "second_output: expected head dim", 8, "first_output", {7, 9}},
    {"l2", 2, "second_lse: expected length", 5, "first_output", {4, 6}},
};

class Rules : public testing::TestWithParam<Target> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam()); }

  void check(const std::string &op, const Program &program,
             const std::vector<Rule> &rules) {
    std::string dynamic = irFor(program, /*isStatic=*/false);
    EXPECT_EQ(errorOf(GetParam(), dynamic, inputsOf(program).values), "")
        << dynamic;
    for (const Rule &rule : rules) {
      std::string from = rule.from.empty() ? ""
                         : rule.from.find(' ') == std::string::npos
                             ? " (from " + rule.from + ")"
                             : " (" + rule.from + ")";
      std::string start = "'" + op + "' op " + rule.expected;
      std::string size = " " + std::to_string(rule.size);
      for (int64_t bad : rule.bad) {
        Program changed = change(program, rule, bad);
        std::string got = ", got " + std::to_string(bad);
        EXPECT_EQ(errorOf(GetParam(), dynamic, inputsOf(changed).values),
                  start + from + size + got);
        std::string message = errorOf(GetParam(), irFor(changed, true));
        EXPECT_NE(message.find(start + size + from + got), std::string::npos)
            << message << "\nexpected: " << start << size << from << got;
      }
      for (int64_t good : rule.good)
        EXPECT_EQ(errorOf(GetParam(), dynamic,
                          inputsOf(change(program, rule, good)).values),
                  "")
            << rule.expected << " " << good;
    }
  }

private:
  static Program change(Program program, const Rule &rule, int64_t size) {
    bool hasValue = false;
    for (Operand &operand : program.operands) {
      hasValue |= operand.name == "v";
      if ((" " + rule.operand + " ").find(" " + operand.name + " ") !=
          std::string::npos)
        operand.dims[rule.dim] = size;
    }
    // The result has the query's dimensions, but for the columns of a value.
    if (rule.operand == "q" && (rule.dim < 3 || !hasValue))
      program.result[rule.dim] = size;
    return program;
  }
};

TEST_P(Rules, OfSoftmax) { check("attn.softmax", softmax, softmaxRules); }
TEST_P(Rules, OfGroupedHeads) { check("attn.gqa", gqa, gqaRules); }
TEST_P(Rules, OfPackedSequences) {
  check("attn.softmax", packed, packedRules);
  check("attn.softmax", starts, startsRules);
}
TEST_P(Rules, OfLinear) {
  check("attn.linear", linear, linearRules);
  check("attn.linear", bonus, bonusRules);
}
TEST_P(Rules, OfFavor) { check("attn.favor", favor, favorRules); }
TEST_P(Rules, OfMerge) { check("attn.merge", merge, mergeRules); }

/// The columns of a state with its normaliser are one more than the values',
/// and it is the values that the message is about.
TEST_P(Rules, OfStatesWithANormaliser) {
  std::string ir = irFor(normalized, /*isStatic=*/false);
  EXPECT_EQ(errorOf(GetParam(), ir, inputsOf(normalized).values), "");
  for (int64_t columns : {1, 64, 66, 70}) {
    Program changed = normalized;
    changed.operands[2].dims[3] = columns;
    std::string size = " " + std::to_string(columns);
    EXPECT_EQ(errorOf(GetParam(), ir, inputsOf(changed).values),
              "'attn.linear' op value: expected head dim to be one fewer than "
              "the columns (from state)" +
                  size + ", got 64");
    std::string message = errorOf(GetParam(), irFor(changed, true));
    EXPECT_NE(message.find("value: expected head dim to be one fewer than the "
                           "columns" +
                           size + " (from state), got 64"),
              std::string::npos)
        << message;
  }
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, Rules, testing::ValuesIn(allTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });
