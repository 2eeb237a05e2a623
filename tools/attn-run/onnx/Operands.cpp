// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Operands.h.

#include "Operands.h"

#include "Proto.h"

#include <limits>

namespace attn::importer {

Result<void> expectSize(const Node &node, const char *name,
                        const IrValue &value, int64_t dim, int64_t expected,
                        const char *what) {
  int64_t got = value.sizes[dim];
  if (got < 0 || expected < 0 || got == expected)
    return {};
  return node.error(std::string("input ") + name + ": expected " + what + " " +
                    std::to_string(expected) + ", got " + std::to_string(got));
}

Result<bool> readsDouble(Node &node) {
  std::optional<int64_t> precision = node.integer("softmax_precision");
  if (!precision)
    return false;
  bool isKnown =
      *precision >= 0 && *precision <= std::numeric_limits<int32_t>::max();
  Result<DType> dtype = toDType(isKnown ? static_cast<int32_t>(*precision) : 0);
  if (!dtype || !isFloat(*dtype))
    return node.error("attribute 'softmax_precision': expected FLOAT (1), "
                      "FLOAT16 (10), DOUBLE (11) or BFLOAT16 (16), got " +
                      std::to_string(*precision));
  return *dtype == DType::f64;
}

Result<void> readQueryKeyValue(const Node &node, Problem &problem) {
  struct Operand {
    const char *name;
    IrValue &value;
  };
  Operand operands[] = {
      {"Q", problem.query}, {"K", problem.key}, {"V", problem.value}};
  for (int i = 0; i < 3; ++i) {
    Result<IrValue> value = node.requiredInput(i, operands[i].name);
    if (!value)
      return value.error();
    operands[i].value = *value;
    std::string where = std::string("input ") + operands[i].name;
    if (!isFloat(value->dtype))
      return node.error(where + ": expected floats, got " + name(value->dtype));
    if (value->dtype != problem.query.dtype)
      return node.error(
          where + ": expected the type of Q, " + name(problem.query.dtype) +
              " (others are not supported), got " + name(value->dtype),
          ErrorCode::unsupported);
    if ((value->rank() != 3 && value->rank() != 4) ||
        value->rank() != problem.query.rank())
      return node.error(where +
                        ": expected rank 3 or 4, the same for Q, K "
                        "and V, got " +
                        std::to_string(value->rank()));
  }
  return {};
}

Result<void> checkShapes(const Node &node, const Problem &problem) {
  const IrValue &q = problem.query, &k = problem.key, &v = problem.value;
  if (q.sizes[1] < 0 || k.sizes[1] < 0 || q.sizes[3] < 0 || k.sizes[3] < 0)
    return node.error("inputs Q and K: expected known numbers of heads and "
                      "head sizes, got " +
                          formatType(q.dtype, q.sizes) + " and " +
                          formatType(k.dtype, k.sizes),
                      ErrorCode::unsupported);
  if (k.sizes[1] == 0 ? q.sizes[1] != 0 : q.sizes[1] % k.sizes[1] != 0)
    return node.error("input Q: expected a multiple of the " +
                      std::to_string(k.sizes[1]) + " heads of K, got " +
                      std::to_string(q.sizes[1]));
  struct Rule {
    const char *name;
    const IrValue &value;
    int64_t dim, expected;
    const char *what;
  };
  for (const Rule &rule : {Rule{"K", k, 0, q.sizes[0], "batch (from Q)"},
                           Rule{"V", v, 0, q.sizes[0], "batch (from Q)"},
                           Rule{"K", k, 3, q.sizes[3], "head size (from Q)"},
                           Rule{"V", v, 1, k.sizes[1], "heads (from K)"},
                           Rule{"V", v, 2, k.sizes[2], "length (from K)"}})
    if (Result<void> done = expectSize(node, rule.name, rule.value, rule.dim,
                                       rule.expected, rule.what);
        !done)
      return done;
  return {};
}

} // namespace attn::importer
