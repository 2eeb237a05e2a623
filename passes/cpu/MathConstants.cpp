// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MathConstants.h.

#include "passes/cpu/MathConstants.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

// Relative error 2e-9, 4e-9 and 2e-11.
static constexpr double kExp2F32[] = {0.000154614446986,
                                      0.00134004281776,
                                      0.00961805667852,
                                      0.0555032722667,
                                      0.240226509223,
                                      0.693147206703,
                                      1.0};
static constexpr double kTanhF32[] = {-0.00661022783111, 0.0213093886644,
                                      -0.0539094288275, 0.13333113729,
                                      -0.33333332008};
static constexpr double kLogF32[] = {0.233304672163, 0.28550820816,
                                     0.400001218398, 0.666666665545};

// Relative error 3e-18 and 8e-18; absolute error 2e-18.
static constexpr double kExp2F64[] = {
    4.4558179083360645e-10, 7.074194297288521e-09,  1.0178057087733941e-07,
    1.3215432535912375e-06, 1.5252733841556773e-05, 0.00015403530463724353,
    0.001333355814640647,   0.009618129107587256,   0.055504108664821625,
    0.24022650695910158,    0.6931471805599453,     1.0};
static constexpr double kTanhF64[] = {
    -2.0598556673275166e-05, 8.510707927354112e-05,  -0.00023463104528300406,
    0.0005889348072447028,   -0.0014556615775702365, 0.003592110347096177,
    -0.008863234395418095,   0.021869488493563037,   -0.05396825396743174,
    0.13333333333332714,     -0.3333333333333333};
static constexpr double kLogF64[] = {0.1308675766695207,  0.13268760562036724,
                                     0.15386240172447838, 0.18181795631498243,
                                     0.22222222391794727, 0.28571428570803253,
                                     0.4000000000000088,  0.6666666666666666};

static constexpr double kFromZero[] = {0.000216129190491,
                                       0.00124678450955,
                                       0.00967545173579,
                                       0.0554852805202,
                                       0.240229305578,
                                       0.693147044441,
                                       1.0};
static constexpr double kFromZeroShort[] = {0.0770670845567, 0.227644917449,
                                            0.695116817011, 1.0};
const ArrayRef<double> attn::kExp2FromZero = kFromZero;
const ArrayRef<double> attn::kExp2FromZeroShort = kFromZeroShort;

const MathConstants &attn::getMathConstants(bool isF64) {
  // ln2 in 12 and in 33 bits; of the rest, f64 holds more than is needed.
  constexpr double high32 = 0.693359375, high64 = 0x1.62e42feep-1;
  static const MathConstants f32{/*bits=*/32,
                                 /*fractionBits=*/23,
                                 /*bias=*/127,
                                 /*rootHalfBits=*/0x3f3504f3,
                                 high32,
                                 llvm::numbers::ln2 - high32,
                                 /*expLow=*/-105,
                                 /*expHigh=*/89,
                                 /*tanhIsOne=*/10,
                                 kExp2F32,
                                 kTanhF32,
                                 kLogF32};
  static const MathConstants f64{/*bits=*/64,
                                 /*fractionBits=*/52,
                                 /*bias=*/1023,
                                 /*rootHalfBits=*/0x3fe6a09e667f3bcd,
                                 high64,
                                 /*ln2Low=*/1.90821492927058770002e-10,
                                 /*expLow=*/-746,
                                 /*expHigh=*/710,
                                 /*tanhIsOne=*/20,
                                 kExp2F64,
                                 kTanhF64,
                                 kLogF64};
  return isF64 ? f64 : f32;
}
