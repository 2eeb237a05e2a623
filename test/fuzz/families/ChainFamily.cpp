// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chains of two products, in either order.

#include "test/e2e/ProductChains.h"
#include "test/fuzz/families/ProductsFamily.h"

#include <memory>
#include <tuple>

using namespace attn;
using namespace attn::fuzz;

RandomProgram attn::fuzz::makeChain(Random &random) {
  const std::vector<test::Weights> &weights = test::allWeights();
  test::Chain c;
  c.weights = weights[random.below(weights.size())];
  c.n = drawSize(random, 70);
  c.p = c.weights.isSquare ? c.n : drawSize(random, 70);
  c.m = drawSize(random, 33);
  c.dv = drawSize(random, 40);
  for (size_t rank = random.below(3); rank > 0; --rank)
    c.batch.push_back(drawSize(random, 3));
  std::tie(c.operand, c.sum) =
      pick<std::pair<DType, DType>>(random, {{DType::f32, DType::f32},
                                             {DType::f64, DType::f64},
                                             {DType::bf16, DType::f32},
                                             {DType::f16, DType::f32}});
  c.a = random.oneIn(2);
  c.b = random.oneIn(2);
  c.v = random.oneIn(2);
  c.scores = random.oneIn(2);
  c.o = random.oneIn(2);
  std::string mode = pick<std::string>(random, {"auto", "always", "never"});

  RandomProgram program;
  program.dtype = c.operand;
  program.text = test::irFor(c);
  program.options = "reassociate " + mode;
  program.configure = [mode](EngineOptions &options) {
    options.reassociate = mode;
  };
  auto operands = std::make_shared<test::Operands>(c);
  RandomCall call;
  call.sizes = c.weights.name;
  call.arguments.owned = operands->tensors;
  call.arguments.values = operands->inputs();
  Wanted w;
  w.name = "result";
  w.dtype = w.precision = c.sum;
  w.sizes = c.batch;
  w.sizes.push_back(c.o ? c.dv : c.n);
  w.sizes.push_back(c.o ? c.n : c.dv);
  w.values = operands->expected();
  w.wobble = [operands, seed = random.next(), values = w.values] {
    return wobbleOf(seed, values, [&](Random &random) {
      test::Operands moved = *operands;
      for (std::vector<double> *list :
           {&moved.a, &moved.b, &moved.v, &moved.tokens, &moved.pairs})
        disturb(random, *list, roundingOf(moved.c.sum));
      return moved.expected();
    });
  };
  call.wanted.push_back(std::move(w));
  program.calls.push_back(std::move(call));
  return program;
}
