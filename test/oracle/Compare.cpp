// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Compare.h.

#include "test/oracle/Compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

using namespace attn::oracle;

uint16_t attn::oracle::toBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (std::isnan(value)) // rounding could carry a NaN payload into infinity
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float attn::oracle::fromBf16(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

double attn::oracle::fromF16(uint16_t bits) {
  int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  double magnitude = exponent == 0 ? std::ldexp(fraction, -24)
                     : exponent < 0x1f
                         ? std::ldexp(1024 + fraction, exponent - 25)
                     : fraction == 0 ? HUGE_VAL
                                     : std::nan("");
  return bits >> 15 ? -magnitude : magnitude;
}

uint16_t attn::oracle::toF16(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return sign | 0x7e00;
  double magnitude = std::abs(value);
  if (magnitude >= 65520.0) // the middle between the largest number and 2^16
    return sign | 0x7c00;
  // The distance of f16 numbers: that of subnormals at the least.
  int exponent = std::max(magnitude == 0.0 ? -14 : std::ilogb(magnitude), -14);
  double distance = std::ldexp(1.0, exponent - 10);
  // 1024 to 2048 of them, or fewer for a subnormal; 2048 is the first of the
  // next exponent, whose bits follow.
  int count = int(std::nearbyint(magnitude / distance));
  return sign | uint16_t(((exponent + 14) << 10) + count);
}

Difference attn::oracle::compare(const std::vector<double> &got,
                                 const std::vector<double> &want) {
  Difference d;
  d.sizesDiffer = got.size() != want.size();
  double errorSquares = 0.0, wantSquares = 0.0;
  int64_t finite = 0;
  for (size_t n = 0; n < std::min(got.size(), want.size()); ++n) {
    if (!std::isfinite(want[n]) || !std::isfinite(got[n])) {
      bool same = std::isnan(want[n]) ? std::isnan(got[n]) : got[n] == want[n];
      if (!same && d.kindMismatches++ == 0)
        d.worst = int64_t(n);
      continue;
    }
    double error = std::abs(got[n] - want[n]);
    errorSquares += error * error;
    wantSquares += want[n] * want[n];
    ++finite;
    d.maxWant = std::max(d.maxWant, std::abs(want[n]));
    if (error > d.maxAbs) {
      d.maxAbs = error;
      if (d.kindMismatches == 0)
        d.worst = int64_t(n);
    }
  }
  if (finite != 0)
    d.relativeRms =
        std::sqrt(errorSquares / (wantSquares > 0.0 ? wantSquares : finite));
  return d;
}

static std::string check(const std::vector<double> &got,
                         const std::vector<double> &want, double relativeRms,
                         double maxAbs, bool maxAbsIsRelative) {
  Difference d = compare(got, want);
  std::ostringstream os;
  if (d.sizesDiffer) {
    os << "expected " << want.size() << " entries, got " << got.size();
    return os.str();
  }
  // A bound relative to the data would vanish with all-zero expected data.
  double bound = maxAbs * (maxAbsIsRelative && d.maxWant > 0 ? d.maxWant : 1.0);
  if (d.kindMismatches == 0 && d.relativeRms <= relativeRms &&
      d.maxAbs <= bound)
    return {};
  os.precision(9);
  os << "relative RMS " << d.relativeRms << " (bound " << relativeRms
     << "), max abs " << d.maxAbs << " (bound " << bound << "), "
     << d.kindMismatches << " NaN or infinity mismatches; entry " << d.worst
     << ": expected " << want[size_t(d.worst)] << ", got "
     << got[size_t(d.worst)];
  return os.str();
}

std::string attn::oracle::checkOutput(const std::vector<double> &got,
                                      const std::vector<double> &want,
                                      Tolerance tolerance) {
  return check(got, want, tolerance.relativeRms, tolerance.maxAbs, true);
}

std::string attn::oracle::checkLse(const std::vector<double> &got,
                                   const std::vector<double> &want,
                                   Tolerance tolerance) {
  // LSE is near 0 as easily as not, so only the absolute error means anything.
  return check(got, want, HUGE_VAL, tolerance.lseAbs, false);
}
