// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The op of attn that a problem is, and conversions of types. See Problem.h.

#include "Problem.h"

namespace attn::importer {

std::string convertScalar(IrText &text, const std::string &scalar, DType from,
                          DType to) {
  if (from == to)
    return scalar;
  const char *op = "arith.truncf";
  if (from == DType::i1)
    op = isFloat(to) ? "arith.uitofp" : "arith.extui";
  else if (!isFloat(from) && isFloat(to))
    op = "arith.sitofp";
  else if (isFloat(from) && !isFloat(to))
    op = "arith.fptosi";
  else if (!isFloat(from))
    op = byteSize(from) < byteSize(to) ? "arith.extsi" : "arith.trunci";
  else if (byteSize(from) < byteSize(to))
    op = "arith.extf";
  return text.addOp("x", std::string(op) + " " + scalar + " : " + name(from) +
                             " to " + name(to));
}

IrValue convert(IrText &text, const IrValue &value, DType dtype,
                const std::string &hint) {
  if (value.dtype == dtype)
    return value;
  std::string loops = std::string("abcdefgh").substr(0, value.rank());
  IrValue init = text.empty(dtype, text.sizes(value));
  return text.generic(hint, loops, {{value, loops}}, {init, loops},
                      [&](const std::vector<std::string> &e) {
                        return convertScalar(text, e[0], value.dtype, dtype);
                      });
}

/// " name(value : type)" or nothing.
static std::string clause(const char *name,
                          const std::optional<IrValue> &value) {
  if (!value)
    return "";
  return std::string(" ") + name + "(" + value->name + " : " + type(*value) +
         ")";
}

static std::string positionClauses(IrText &text, const Problem &problem) {
  if (!problem.hasPositions())
    // A region may read the row as a position.
    return problem.score || problem.keep ? " align(top_left)" : "";
  std::string clauses = problem.lengths && !problem.offset
                            ? " align(bottom_right)"
                            : " align(top_left)";
  if (problem.offset)
    clauses = " offset(" + text.name(*problem.offset) + " : index)";
  std::vector<std::string> masks, bounds;
  if (problem.isCausal)
    masks.push_back("#attn.causal");
  if (problem.left)
    bounds.push_back("left = " + std::to_string(*problem.left));
  if (problem.right)
    bounds.push_back("right = " + std::to_string(*problem.right));
  if (!bounds.empty())
    masks.push_back("#attn.window<" + join(bounds) + ">");
  return clauses + " mask(" + join(masks) + ")";
}

static void emitRegion(IrText &text, const Problem &problem,
                       const ScoreMap &map, bool isScore) {
  std::string score = text.freshName("s");
  std::vector<std::string> indices, arguments;
  if (isScore)
    arguments.push_back(score + ": " + name(problem.scoreType()));
  for (const char *hint : {"b", "h", "i", "j"}) {
    indices.push_back(text.freshName(hint));
    arguments.push_back(indices.back() + ": index");
  }
  text.addLine(isScore ? "score {" : "keep {");
  text.addLine("^bb0(" + join(arguments) + "):");
  text.indent(1);
  std::string result = map(score, indices);
  text.addLine("attn.yield " + result + " : " +
               (isScore ? name(problem.scoreType()) : "i1"));
  text.indent(-1);
  text.addLine("}");
}

AttentionResult emitAttention(IrText &text, const Problem &problem,
                              const std::string &hint, bool wantsLse) {
  const IrValue &query = problem.query;
  AttentionResult result;
  std::vector<int64_t> sizes = query.sizes;
  sizes.back() = problem.value.sizes.back();
  std::string clauses;
  if (problem.scale)
    clauses += " scale(" + spell(DType::f64, *problem.scale) + ")";
  if (problem.softcap != 0)
    clauses += " softcap(" + spell(DType::f64, problem.softcap) + ")";
  clauses += positionClauses(text, problem) + clause("bias", problem.bias) +
             clause("select", problem.select) +
             clause("lengths", problem.lengths);

  result.output = {text.freshName(hint), query.dtype, sizes};
  std::string names = result.output.name, types = type(result.output);
  if (wantsLse) {
    sizes.pop_back();
    result.lse = {text.freshName("lse"), problem.scoreType(), sizes};
    names += ", " + result.lse->name;
    types = "(" + types + ", " + type(*result.lse) + ")";
  }
  bool isGrouped = query.sizes[1] != problem.key.sizes[1];
  text.addLine(names + " = " + (isGrouped ? "attn.gqa " : "attn.softmax ") +
               query.name + ", " + problem.key.name + ", " +
               problem.value.name + clauses);
  text.indent(2);
  if (problem.score)
    emitRegion(text, problem, problem.score, /*isScore=*/true);
  if (problem.keep)
    emitRegion(text, problem, problem.keep, /*isScore=*/false);
  text.addLine(": (" + type(query) + ", " + type(problem.key) + ", " +
               type(problem.value) + ") -> " + types);
  text.indent(-2);
  return result;
}

} // namespace attn::importer
