// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Error metrics and the printing of elements.

#include "runtime/Difference.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>

namespace attn {

Difference compare(const Tensor &got, const Tensor &expected, double absolute,
                   double relative) {
  Difference result;
  double sumError = 0, sumExpected = 0;
  for (int64_t i = 0; i < expected.numElements(); ++i) {
    double g = got.at(i), e = expected.at(i);
    if (!std::isfinite(g) || !std::isfinite(e)) {
      if (g == e || (std::isnan(g) && std::isnan(e))) {
        ++result.sameKind;
        continue;
      }
      if (result.kindMismatches++ == 0)
        result.worst = i;
      ++result.outside;
      continue;
    }
    double error = std::fabs(g - e);
    ++result.finite;
    sumError += error * error;
    sumExpected += e * e;
    result.outside += error > absolute + relative * std::fabs(e);
    if (error > result.maxAbs || result.worst < 0) {
      result.maxAbs = std::max(error, result.maxAbs);
      if (result.kindMismatches == 0)
        result.worst = i;
    }
  }
  if (sumExpected > 0)
    result.relativeRms = std::sqrt(sumError / sumExpected);
  else if (result.finite > 0)
    result.relativeRms =
        std::sqrt(sumError / static_cast<double>(result.finite));
  return result;
}

Tolerance defaultTolerance(const Parameter &result) {
  static_assert(DType::f64 < DType::f32 && DType::f32 < DType::f16 &&
                    DType::f16 < DType::bf16,
                "types go from fine to coarse");
  if (!isFloat(result.dtype))
    return {Tolerance::Kind::maxAbs, 0};
  DType coarsest = std::max(result.dtype, result.rounding);
  if (result.isLogSumExp)
    return {Tolerance::Kind::maxAbs, coarsest == DType::f64   ? 1e-13
                                     : coarsest == DType::f32 ? 1e-5
                                                              : 4e-3};
  switch (coarsest) {
  case DType::f64:
    return {Tolerance::Kind::relativeRms, 1e-13};
  case DType::f32:
    return {Tolerance::Kind::relativeRms, 1e-5};
  case DType::f16:
    return {Tolerance::Kind::relativeRms, 1e-3};
  default:
    return {Tolerance::Kind::relativeRms, 8e-3};
  }
}

bool isWithin(const Difference &difference, Tolerance tolerance) {
  double value = tolerance.kind == Tolerance::Kind::maxAbs
                     ? difference.maxAbs
                     : difference.relativeRms;
  // Not ">": a NaN from an overflow of the sums is a failure.
  return difference.kindMismatches == 0 && value <= tolerance.bound;
}

static std::string count(int64_t number, int64_t of, const char *what) {
  return std::to_string(number) + " of " + std::to_string(of) + " elements " +
         what + ", ";
}

std::string formatErrors(const Difference &difference, bool relative) {
  int64_t all =
      difference.finite + difference.sameKind + difference.kindMismatches;
  std::string text;
  if (difference.kindMismatches > 0)
    text += count(difference.kindMismatches, all, "differ in NaN or infinity");
  if (difference.sameKind > 0)
    text += count(difference.sameKind, all, "not finite in both");
  if (difference.finite == 0 && all > 0)
    return text + "none finite in both";
  char errors[80];
  std::snprintf(errors, sizeof errors, "max abs error %.3g", difference.maxAbs);
  text += errors;
  if (relative) {
    std::snprintf(errors, sizeof errors, ", relative rms %.3g",
                  difference.relativeRms);
    text += errors;
  }
  return text;
}

std::string formatRange(const Tensor &tensor) {
  double low = INFINITY, high = -INFINITY, sum = 0;
  int64_t finite = 0, nans = 0, infinite = 0;
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    double value = tensor.at(i);
    if (std::isnan(value)) {
      ++nans;
    } else if (std::isinf(value)) {
      ++infinite;
    } else {
      ++finite;
      low = std::min(low, value);
      high = std::max(high, value);
      sum += value;
    }
  }
  std::string text;
  if (finite > 0) {
    char range[120];
    std::snprintf(range, sizeof range, "min %.6g, max %.6g, mean %.6g", low,
                  high, sum / static_cast<double>(finite));
    text = range;
  }
  auto append = [&](int64_t number, const char *what) {
    if (number > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(number) + " " + what;
  };
  append(nans, "NaN");
  append(infinite, "infinite");
  return text;
}

static std::string formatElement(const Tensor &tensor, int64_t index) {
  char text[40];
  DType dtype = tensor.dtype();
  if (dtype == DType::i64)
    std::snprintf(text, sizeof text, "%" PRId64, tensor.data<int64_t>()[index]);
  else if (!isFloat(dtype))
    std::snprintf(text, sizeof text, "%.0f", tensor.at(index));
  else
    std::snprintf(text, sizeof text, "%.*g",
                  dtype == DType::f64   ? 17
                  : dtype == DType::f32 ? 9
                  : dtype == DType::f16 ? 5
                                        : 4,
                  tensor.at(index));
  return text;
}

std::string formatElements(const Tensor &tensor) {
  const std::vector<int64_t> &sizes = tensor.sizes();
  if (sizes.empty())
    return formatElement(tensor, 0);
  if (tensor.numElements() == 0)
    return "[]";
  std::string text;
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    // A dimension opens before element i where i is a multiple of what it
    // holds, and closes after it likewise.
    int64_t held = 1, opened = 0, closed = 0;
    for (size_t dim = sizes.size(); dim-- > 0;) {
      held *= sizes[dim];
      opened += i % held == 0;
      closed += (i + 1) % held == 0;
    }
    text += i == 0 ? "" : ", ";
    text.append(opened, '[');
    text += formatElement(tensor, i);
    text.append(closed, ']');
  }
  return text;
}

} // namespace attn
