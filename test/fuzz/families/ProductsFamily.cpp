// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The draw of a kind of products, what the kinds share, and merged parts of
// attention.

#include "test/fuzz/families/ProductsFamily.h"

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::fuzz;
using oracle::Array;

std::string attn::fuzz::sizesText(const std::vector<int64_t> &sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

Array attn::fuzz::drawArray(Random &random, DType dtype, Array array,
                            double most) {
  array.data = drawValues(random, dtype, array.data.size(), -most, most);
  return array;
}

void attn::fuzz::addArray(test::Arguments &arguments, DType dtype,
                          const Array &a) {
  arguments.add(dtype, {a.b, a.h, a.s, a.d}, a.data);
}

Wanted attn::fuzz::wantedOf(const std::string &name, DType dtype,
                            DType precision, const Array &a) {
  Wanted w;
  w.name = name;
  w.dtype = dtype;
  w.precision = precision;
  w.sizes = {a.b, a.h, a.s, a.d};
  w.values = a.data;
  return w;
}

//===- merge --------------------------------------------------------------===//

/// O and lse of both parts, by the definition.
static std::pair<Array, Array> mergeParts(const Array (&o)[2],
                                          const Array (&lse)[2]) {
  Array all(o[0].b, o[0].h, o[0].s, o[0].d);
  Array total(o[0].b, o[0].h, o[0].s, 1);
  for (size_t row = 0; row < total.data.size(); ++row) {
    double max = std::max(lse[0].data[row], lse[1].data[row]), sum = 0.0;
    if (max == -INFINITY) {
      total.data[row] = max;
      continue;
    }
    for (int part : {0, 1})
      sum += std::exp(lse[part].data[row] - max);
    total.data[row] = max + std::log(sum);
    for (int64_t c = 0; c < all.d; ++c)
      for (int part : {0, 1})
        if (lse[part].data[row] != -INFINITY)
          all.data[row * size_t(all.d) + size_t(c)] +=
              std::exp(lse[part].data[row] - total.data[row]) *
              o[part].data[row * size_t(all.d) + size_t(c)];
  }
  return {all, total};
}

RandomProgram attn::fuzz::makeMerge(Random &random) {
  DType dtype = drawType(random), sums = test::logitType(dtype);
  int64_t b = drawSize(random, 3, true), h = drawSize(random, 4, true),
          s = drawSize(random, 70, true), dv = drawSize(random, 70, true);
  hideSizes(random, {&b, &h, &s, &dv});
  std::string o = typeText({b, h, s, dv}, dtype);
  std::string l = typeText({b, h, s}, sums);
  RandomProgram program;
  program.dtype = dtype;
  program.options = "no options";
  program.text = "func.func @main(%o1: " + o + ", %l1: " + l + ", %o2: " + o +
                 ", %l2: " + l + ") -> (" + o + ", " + l +
                 ") {\n  %o, %l = attn.merge %o1, %l1, %o2, %l2 : (" + o +
                 ", " + l + ", " + o + ", " + l + ") -> (" + o + ", " + l +
                 ")\n  return %o, %l : " + o + ", " + l + "\n}\n";
  for (int n = 0; n < 5; ++n) {
    Array shape(sizeOr(b, drawSize(random, 3)), sizeOr(h, drawSize(random, 4)),
                sizeOr(s, drawSize(random, 70)),
                sizeOr(dv, drawSize(random, 70)));
    Array parts[2], lse[2];
    RandomCall call;
    call.sizes = sizesText({shape.b, shape.h, shape.s, shape.d});
    for (int part : {0, 1}) {
      parts[part] = drawArray(random, dtype, shape, 2.0);
      lse[part] =
          drawArray(random, sums, Array(shape.b, shape.h, shape.s, 1), 10.0);
      // A part without keys, whose output is not used.
      for (size_t row = 0; row < lse[part].data.size(); ++row)
        if (random.oneIn(6)) {
          lse[part].data[row] = -INFINITY;
          for (int64_t c = 0; c < shape.d; ++c)
            parts[part].data[row * size_t(shape.d) + size_t(c)] = NAN;
        }
      addArray(call.arguments, dtype, parts[part]);
      call.arguments.add(sums, {shape.b, shape.h, shape.s}, lse[part].data);
    }
    auto [all, total] = mergeParts(parts, lse);
    call.wanted.push_back(wantedOf("O", dtype, dtype, all));
    Wanted w = wantedOf("LSE", sums, dtype, total);
    w.sizes.pop_back();
    w.isLse = true;
    call.wanted.push_back(std::move(w));
    program.calls.push_back(std::move(call));
  }
  return program;
}

RandomProgram attn::fuzz::makeProducts(uint64_t seed) {
  Random random(seed);
  switch (random.below(12)) {
  case 0:
  case 1:
    return makeFavor(random);
  case 2:
  case 3:
    return makeFeatureMap(random);
  case 4:
    return makeMerge(random);
  case 5:
  case 6:
    return makeChain(random);
  default:
    return makeMatrixProduct(random);
  }
}
