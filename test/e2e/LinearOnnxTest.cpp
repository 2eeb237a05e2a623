// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operator LinearAttention of ONNX (opset 27) as attn.linear: operands of
// rank 3 are split into heads and transposed, beta of one column is repeated.
// The expected values follow the operator's own definition, one step of the
// state after the other; the cases are those of its 14 node tests.

#include "test/e2e/LinearHarness.h"
#include "gtest/gtest.h"

#include <cmath>
#include <sstream>

using namespace attn;
using namespace attn::test;
using Values = std::vector<double>;

namespace {

enum class Gate { None, Head, Channel };

/// A node with its sizes. Query, key, value are (B, T, heads x width).
struct Node {
  std::string name;
  Gate gate = Gate::None;
  bool delta = false, past = false;
  bool sharedBeta = false;     // (B, T, 1)
  std::optional<double> scale; // default 1 / sqrt(dk)
  int64_t b = 2, t = 4, hq = 4, hkv = 4, dk = 8, dv = 8;
  DType dtype = DType::f32;
};

struct NodeData {
  Values q, k, v, past, decay, beta;
};

NodeData drawData(const Node &n) {
  uint64_t seed = 40;
  auto draw = [&](int64_t count, double from, double to, DType dtype) {
    Values values = randomValues(size_t(count), ++seed);
    for (double &x : values)
      x = roundTo(dtype, from + (to - from) * (x + 1) / 2);
    return values;
  };
  int64_t rows = n.b * n.t;
  NodeData d;
  d.q = draw(rows * n.hq * n.dk, -1, 1, n.dtype);
  d.k = draw(rows * n.hkv * n.dk, -0.5, 0.5, n.dtype);
  d.v = draw(rows * n.hkv * n.dv, -1, 1, n.dtype);
  d.past = draw(n.b * n.hkv * n.dk * n.dv, -1, 1, DType::f32);
  if (!n.past)
    std::fill(d.past.begin(), d.past.end(), 0.0);
  int64_t gates = n.gate == Gate::Channel ? n.hkv * n.dk : n.hkv;
  d.decay = draw(rows * gates, -2, 0, DType::f32);
  d.beta = draw(rows * (n.sharedBeta ? 1 : n.hkv), 0, 1, n.dtype);
  return d;
}

/// S = exp(g) S; S += k (x) v, or k (x) beta (v - S^T k); o = scale S^T q for
/// each query head of the group. The output is (B, T, Hq dv).
struct Expected {
  Values o, state;
};
Expected expectNode(const Node &n, const NodeData &d) {
  Expected e{Values(size_t(n.b * n.t * n.hq * n.dv)), d.past};
  double scale = n.scale.value_or(1.0 / std::sqrt(double(n.dk)));
  int64_t group = n.hq / n.hkv;
  for (int64_t b = 0; b < n.b; ++b)
    for (int64_t h = 0; h < n.hkv; ++h) {
      double *state = &e.state[size_t((b * n.hkv + h) * n.dk * n.dv)];
      for (int64_t t = 0; t < n.t; ++t) {
        int64_t row = b * n.t + t;
        const double *k = &d.k[size_t((row * n.hkv + h) * n.dk)];
        const double *v = &d.v[size_t((row * n.hkv + h) * n.dv)];
        for (int64_t i = 0; i < n.dk; ++i)
          for (int64_t c = 0; c < n.dv; ++c) {
            double g = 0.0;
            if (n.gate == Gate::Head)
              g = d.decay[size_t(row * n.hkv + h)];
            if (n.gate == Gate::Channel)
              g = d.decay[size_t((row * n.hkv + h) * n.dk + i)];
            state[i * n.dv + c] *= std::exp(g);
          }
        double beta = n.delta
                          ? d.beta[size_t(n.sharedBeta ? row : row * n.hkv + h)]
                          : 1.0;
        for (int64_t c = 0; c < n.dv; ++c) {
          double known = 0.0;
          for (int64_t i = 0; i < n.dk && n.delta; ++i)
            known += state[i * n.dv + c] * k[i];
          for (int64_t i = 0; i < n.dk; ++i)
            state[i * n.dv + c] += k[i] * beta * (v[c] - known);
        }
        for (int64_t hq = h * group; hq < (h + 1) * group; ++hq)
          for (int64_t c = 0; c < n.dv; ++c) {
            double o = 0.0;
            for (int64_t i = 0; i < n.dk; ++i)
              o += d.q[size_t((row * n.hq + hq) * n.dk + i)] *
                   state[i * n.dv + c];
            e.o[size_t((row * n.hq + hq) * n.dv + c)] = scale * o;
          }
      }
    }
  return e;
}

//===- the module ---------------------------------------------------------===//

std::string typeOf(const std::vector<int64_t> &sizes, DType dtype) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + name(dtype) + ">";
}

/// (B, T, heads x width) as B x heads x T x width, in operations on `name`.
std::string splitHeads(const Node &n, const std::string &name, int64_t heads,
                       int64_t width, DType dtype) {
  std::string packed = typeOf({n.b, n.t, heads * width}, dtype);
  std::string split = typeOf({n.b, n.t, heads, width}, dtype);
  std::string all = typeOf({n.b, heads, n.t, width}, dtype);
  std::string sizes = std::to_string(n.b) + ", " + std::to_string(n.t) + ", " +
                      std::to_string(heads) + ", " + std::to_string(width);
  return "  %s_" + name + " = tensor.expand_shape %" + name +
         " [[0], [1], [2, 3]] output_shape [" + sizes + "] : " + packed +
         " into " + split + "\n  %e_" + name + " = tensor.empty() : " + all +
         "\n  %t_" + name + " = linalg.transpose ins(%s_" + name + " : " +
         split + ") outs(%e_" + name + " : " + all +
         ") permutation = [0, 2, 1, 3]\n";
}

/// (B, T, heads) as B x heads x T; one column stands for all heads.
std::string gatesOf(const Node &n, const std::string &name, int64_t columns,
                    DType dtype) {
  std::string type = typeOf({n.b, n.t, columns}, dtype);
  std::string all = typeOf({n.b, n.hkv, n.t}, dtype);
  std::string element = attn::name(dtype);
  std::string from = name, at = "b, t, h", text;
  if (columns == 1) {
    std::string column = typeOf({n.b, n.t}, dtype);
    text = "  %c_" + name + " = tensor.collapse_shape %" + name +
           " [[0], [1, 2]] : " + type + " into " + column + "\n";
    from = "c_" + name, at = "b, t", type = column;
  }
  return text + "  %e_" + name + " = tensor.empty() : " + all + "\n  %t_" +
         name +
         " = linalg.generic {indexing_maps = [affine_map<(b, h, t) -> (" + at +
         ")>, affine_map<(b, h, t) -> (b, h, t)>], iterator_types = "
         "[\"parallel\", \"parallel\", \"parallel\"]} ins(%" +
         from + " : " + type + ") outs(%e_" + name + " : " + all +
         ") {\n  ^bb0(%x: " + element + ", %y: " + element +
         "):\n    linalg.yield %x : " + element + "\n  } -> " + all + "\n";
}

std::string irOf(const Node &n) {
  std::string q = typeOf({n.b, n.hq, n.t, n.dk}, n.dtype);
  std::string k = typeOf({n.b, n.hkv, n.t, n.dk}, n.dtype);
  std::string v = typeOf({n.b, n.hkv, n.t, n.dv}, n.dtype);
  std::string o = typeOf({n.b, n.hq, n.t, n.dv}, n.dtype);
  std::string state = typeOf({n.b, n.hkv, n.dk, n.dv}, DType::f32);
  int64_t gates = n.gate == Gate::Channel ? n.hkv * n.dk : n.hkv;
  int64_t betas = n.sharedBeta ? 1 : n.hkv;
  std::string packedO = typeOf({n.b, n.t, n.hq * n.dv}, n.dtype);
  std::string splitO = typeOf({n.b, n.t, n.hq, n.dv}, n.dtype);

  std::string text =
      "func.func @main(%q: " + typeOf({n.b, n.t, n.hq * n.dk}, n.dtype) +
      ", %k: " + typeOf({n.b, n.t, n.hkv * n.dk}, n.dtype) +
      ", %v: " + typeOf({n.b, n.t, n.hkv * n.dv}, n.dtype) + ", %s0: " + state +
      ", %g: " + typeOf({n.b, n.t, gates}, DType::f32) +
      ", %beta: " + typeOf({n.b, n.t, betas}, n.dtype) + ") -> (" + packedO +
      ", " + state + ") {\n";
  text += splitHeads(n, "q", n.hq, n.dk, n.dtype) +
          splitHeads(n, "k", n.hkv, n.dk, n.dtype) +
          splitHeads(n, "v", n.hkv, n.dv, n.dtype);
  std::ostringstream scale;
  scale.precision(17);
  scale << std::fixed << n.scale.value_or(1.0 / std::sqrt(double(n.dk)));
  std::string clauses = "scale(" + scale.str() + ")";
  if (n.gate == Gate::Head) {
    text += gatesOf(n, "g", gates, DType::f32);
    clauses += " decay(%t_g : " + typeOf({n.b, n.hkv, n.t}, DType::f32) + ")";
  }
  if (n.gate == Gate::Channel) {
    text += splitHeads(n, "g", n.hkv, n.dk, DType::f32);
    clauses +=
        " decay(%t_g : " + typeOf({n.b, n.hkv, n.t, n.dk}, DType::f32) + ")";
  }
  if (n.delta) {
    text += gatesOf(n, "beta", betas, n.dtype);
    clauses += " beta(%t_beta : " + typeOf({n.b, n.hkv, n.t}, n.dtype) + ")";
  }
  if (n.past)
    clauses += " state(%s0 : " + state + ")";
  return text + "  %o, %s1 = attn.linear %t_q, %t_k, %t_v " + clauses +
         " causal : (" + q + ", " + k + ", " + v + ") -> (" + o + ", " + state +
         ")\n  %e_o = tensor.empty() : " + splitO +
         "\n  %t_o = linalg.transpose ins(%o : " + o +
         ") outs(%e_o : " + splitO + ") permutation = [0, 2, 1, 3]\n" +
         "  %c_o = tensor.collapse_shape %t_o [[0], [1], [2, 3]] : " + splitO +
         " into " + packedO + "\n  return %c_o, %s1 : " + packedO + ", " +
         state + "\n}\n";
}

std::vector<Node> nodes() {
  std::vector<Node> all;
  auto add = [&](const std::string &name, void (*set)(Node &)) {
    all.emplace_back().name = name;
    set(all.back());
  };
  add("linear", [](Node &n) {});
  add("gated", [](Node &n) { n.gate = Gate::Channel; });
  add("gated_per_head_decay", [](Node &n) { n.gate = Gate::Head; });
  add("delta", [](Node &n) { n.delta = true; });
  add("gated_delta", [](Node &n) {
    n.gate = Gate::Channel;
    n.delta = true;
  });
  add("gated_delta_beta_scalar", [](Node &n) {
    n.gate = Gate::Channel;
    n.delta = true;
    n.sharedBeta = true;
  });
  add("gated_delta_gqa", [](Node &n) {
    n.gate = Gate::Channel;
    n.delta = true;
    n.hq = 8;
    n.hkv = 4;
  });
  add("gated_delta_mqa", [](Node &n) {
    n.gate = Gate::Channel;
    n.delta = true;
    n.hq = 8;
    n.hkv = 1;
  });
  add("decode_step", [](Node &n) {
    n.gate = Gate::Channel;
    n.delta = true;
    n.past = true;
    n.t = 1;
  });
  add("prefill_with_past", [](Node &n) {
    n.gate = Gate::Channel;
    n.delta = true;
    n.past = true;
  });
  add("no_past_explicit_zeros", [](Node &n) {
    n.gate = Gate::Channel;
    n.delta = true;
  });
  add("explicit_scale", [](Node &n) { n.scale = 0.25; });
  add("fp16", [](Node &n) {
    n.gate = Gate::Channel;
    n.delta = true;
    n.dtype = DType::f16;
  });
  add("linear_t1_no_past", [](Node &n) { n.t = 1; });
  // Widths that differ, which no node test has.
  add("narrow_values", [](Node &n) {
    n.gate = Gate::Head;
    n.delta = true;
    n.past = true;
    n.t = 67;
    n.hq = 6;
    n.hkv = 3;
    n.dk = 12;
    n.dv = 5;
  });
  return all;
}

struct NodeCell {
  Node node;
  Target target;
};
void PrintTo(const NodeCell &cell, std::ostream *os) { *os << cell.node.name; }

std::vector<NodeCell> nodeCells() {
  std::vector<NodeCell> all;
  for (const Node &node : nodes())
    for (const Target &target : linearTargets(node.dtype))
      all.push_back({node, target});
  return all;
}

/// Empty if the node's results are those of `want`.
std::string checkNode(const Target &target, const Node &n, const NodeData &d,
                      const Expected &want) {
  Arguments arguments;
  arguments.add(n.dtype, {n.b, n.t, n.hq * n.dk}, d.q);
  arguments.add(n.dtype, {n.b, n.t, n.hkv * n.dk}, d.k);
  arguments.add(n.dtype, {n.b, n.t, n.hkv * n.dv}, d.v);
  arguments.add(DType::f32, {n.b, n.hkv, n.dk, n.dv}, d.past);
  int64_t gates = n.gate == Gate::Channel ? n.hkv * n.dk : n.hkv;
  arguments.add(DType::f32, {n.b, n.t, gates}, d.decay);
  arguments.add(n.dtype, {n.b, n.t, n.sharedBeta ? 1 : n.hkv}, d.beta);
  std::vector<Tensor> got = run(target, irOf(n), arguments.values);
  if (got.size() != 2)
    return "no results";
  oracle::Tolerance tolerance = toleranceOf(n.dtype);
  std::string o =
      oracle::checkOutput(toDoubles(got[0].view()), want.o, tolerance);
  std::string state =
      oracle::checkOutput(toDoubles(got[1].view()), want.state, tolerance);
  return o + (state.empty() ? "" : " state: " + state);
}

class LinearOnnx : public testing::TestWithParam<NodeCell> {};

TEST_P(LinearOnnx, IsTheOperator) {
  const auto &[node, target] = GetParam();
  ATTN_SKIP_UNLESS_HERE(target);
  NodeData data = drawData(node);
  EXPECT_EQ(checkNode(target, node, data, expectNode(node, data)), "")
      << irOf(node);
}

/// A node test has a past state of zeros where there is none.
TEST(LinearOnnxZeros, AreNoPast) {
  for (const Target &target : linearTargets(DType::f32)) {
    Node node;
    node.name = "zeros";
    node.gate = Gate::Channel;
    node.delta = true;
    NodeData data = drawData(node);
    Expected want = expectNode(node, data);
    node.past = true;
    EXPECT_EQ(checkNode(target, node, data, want), "");
  }
}

TEST(LinearOnnxMustFail, OnADecayAfterTheRead) {
  Node node;
  node.name = "gated";
  node.gate = Gate::Head;
  NodeData data = drawData(node), other = data;
  std::rotate(other.decay.begin(), other.decay.begin() + node.hkv,
              other.decay.end());
  EXPECT_NE(checkNode(linearTargets(DType::f32).back(), node, data,
                      expectNode(node, other)),
            "");
}

TEST(LinearOnnxMustFail, OnAnUnscaledReadout) {
  Node node;
  node.name = "linear";
  NodeData data = drawData(node);
  Node other = node;
  other.scale = 1.0;
  EXPECT_NE(checkNode(linearTargets(DType::f32).back(), node, data,
                      expectNode(other, data)),
            "");
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Nodes, LinearOnnx, testing::ValuesIn(nodeCells()),
                         [](const testing::TestParamInfo<NodeCell> &info) {
                           return info.param.node.name + "_" +
                                  info.param.target.name;
                         });
