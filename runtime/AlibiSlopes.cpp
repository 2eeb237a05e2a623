// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See AlibiSlopes.h.

#include "runtime/AlibiSlopes.h"

#include <cmath>
#include <string>

using namespace attn;

static double slopeOf(int64_t head, int64_t heads) {
  return std::exp2(-8.0 * double(head + 1) / double(heads));
}

Result<std::vector<double>> attn::alibiSlopes(int64_t heads) {
  if (heads < 0)
    return Error{ErrorCode::invalidArgument,
                 "alibiSlopes: heads: expected at least 0, got " +
                     std::to_string(heads)};
  int64_t power = 1;
  while (power <= heads / 2)
    power *= 2;
  std::vector<double> slopes;
  for (int64_t h = 0; h < heads; ++h)
    slopes.push_back(h < power ? slopeOf(h, power)
                               : slopeOf(2 * (h - power), 2 * power));
  return slopes;
}
