// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Differential.h.

#include "test/fuzz/families/Differential.h"

#include "test/e2e/GuardedMemory.h"
#include "test/fuzz/families/PoisonedMemory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

using namespace attn;
using namespace attn::fuzz;
using test::Guarded;
using test::Side;

std::optional<Family> attn::fuzz::findFamily(const std::string &name,
                                             std::string &known) {
  for (const Family &family :
       {Family{"linear", makeLinear, 60}, Family{"softmax", makeSoftmax, 60},
        Family{"products", makeProducts, 90}}) {
    if (family.name == name)
      return family;
    known += (known.empty() ? "" : " ") + family.name;
  }
  return std::nullopt;
}

//===- values -------------------------------------------------------------===//

/// How many times the change that roundings of operands make a result may be
/// off: those of a computation are some more than those.
static double marginOf(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? 8.0 : 64.0;
}

/// Results below it may be anything smaller: numbers below the normal ones
/// count as 0 on their way, and f16 has few of them.
static double smallestOf(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return 0x1p-1010;
  case DType::f16:
    return 0x1p-24;
  default:
    return 0x1p-118;
  }
}

/// Results above it may be infinite.
static double largestOf(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return std::numeric_limits<double>::max();
  case DType::f16:
    return 65504.0;
  default:
    return 0x1p127;
  }
}

namespace {
/// Sums over the values that are wanted steadily, and the first that is wrong.
struct Tally {
  double largest = 0.0, squares = 0.0, wobbleSquares = 0.0, errorSquares = 0.0;
  int64_t worst = -1;
  double worstError = 0.0, worstBound = 0.0;
};
} // namespace

static std::string describe(const Wanted &w, const std::vector<double> &got,
                            const std::vector<double> &wobble, int64_t n,
                            const std::string &what) {
  std::ostringstream os;
  os.precision(9);
  os << w.name << ": " << what << "; entry " << n << " of " << got.size()
     << ": expected " << w.values[size_t(n)] << ", got " << got[size_t(n)];
  if (!wobble.empty())
    os << " (a rounding of operands moves it by " << wobble[size_t(n)] << ")";
  return os.str();
}

static std::string checkWith(const Wanted &w, const std::vector<double> &got,
                             const std::vector<double> &wobble) {
  oracle::Tolerance tolerance = test::toleranceOf(w.precision);
  double margin = marginOf(w.precision);
  auto moves = [&](size_t n) { return wobble.empty() ? 0.0 : wobble[n]; };
  auto isSteady = [&](size_t n) {
    return moves(n) <= 32 * roundingOf(w.precision) * std::fabs(w.values[n]);
  };
  Tally tally;
  for (size_t n = 0; n < got.size(); ++n) {
    double want = w.values[n];
    if (!std::isfinite(want) || !std::isfinite(got[n])) {
      bool same = std::isnan(want) ? std::isnan(got[n]) : got[n] == want;
      // The type may have no finite number of that size.
      same |= std::isinf(got[n]) && std::isfinite(want) &&
              std::signbit(got[n]) == std::signbit(want) &&
              std::fabs(want) + margin * moves(n) > largestOf(w.dtype);
      if (!same)
        return describe(w, got, wobble, int64_t(n), "another kind of number");
      continue;
    }
    if (!isSteady(n))
      continue;
    tally.largest = std::max(tally.largest, std::fabs(want));
    tally.squares += want * want;
    tally.wobbleSquares += moves(n) * moves(n);
    tally.errorSquares += (got[n] - want) * (got[n] - want);
  }
  double largest = w.isLse ? 1.0 : tally.largest;
  double maxAbs = w.isLse ? tolerance.lseAbs : tolerance.maxAbs;
  double smallest = smallestOf(w.dtype);
  for (size_t n = 0; n < got.size(); ++n) {
    if (!std::isfinite(w.values[n]) || !std::isfinite(got[n]))
      continue;
    double error = std::fabs(got[n] - w.values[n]);
    double bound = maxAbs * largest + margin * moves(n) + smallest;
    if (!(error <= bound) && error - bound > tally.worstError) {
      tally.worst = int64_t(n);
      tally.worstError = error - bound;
      tally.worstBound = bound;
    }
  }
  std::ostringstream os;
  if (tally.worst >= 0) {
    os << "an error above " << tally.worstBound;
    return describe(w, got, wobble, tally.worst, os.str());
  }
  double error = std::sqrt(tally.errorSquares);
  double bound = tolerance.relativeRms * std::sqrt(tally.squares) +
                 margin * std::sqrt(tally.wobbleSquares) +
                 smallest * std::sqrt(double(got.size()));
  if (w.isLse || error <= bound)
    return {};
  os << w.name << ": relative RMS " << error / std::sqrt(tally.squares)
     << ", bound " << bound / std::sqrt(tally.squares);
  return os.str();
}

std::string attn::fuzz::checkWanted(const Wanted &w,
                                    const std::vector<double> &got) {
  if (got.size() != w.values.size())
    return w.name + ": expected " + std::to_string(w.values.size()) +
           " entries, got " + std::to_string(got.size());
  std::string wrong = w.isUnsteady ? "look" : checkWith(w, got, {});
  if (wrong.empty() || !w.wobble)
    return wrong;
  return checkWith(w, got, w.wobble());
}

//===- memory -------------------------------------------------------------===//

namespace {
/// An operand or output with `gap` elements behind each row but the last, all
/// of it full of `byte`, between pages that can't be touched.
class Placed {
public:
  Placed(DType dtype, const std::vector<int64_t> &sizes, int64_t gap, Side side,
         unsigned char byte)
      : bytes(bytesOf(dtype, sizes, gap)), byte(byte),
        memory(bytes + 2 * margin, side) {
    std::memset(memory.data, byte, bytes + 2 * margin);
    view.dtype = dtype;
    view.sizes = sizes;
    view.strides = contiguousStrides(pitched(sizes, gap));
    // A margin would keep an access beyond the end from the guard page.
    view.data =
        memory.data + (side == Side::EndsAtGuard ? 2 * margin : size_t(0));
  }

  /// Whether a byte beside the elements has changed.
  bool isDamaged() {
    std::vector<uint8_t> elements = test::toBytes(view);
    Placed clean(view.dtype, view.sizes, 0, Side::EndsAtGuard, byte);
    if (!elements.empty())
      copyElements(clean.view, view);
    for (size_t n = 0; n < bytes + 2 * margin; ++n)
      if ((unsigned char)(memory.data[n]) != byte)
        return true;
    return false;
  }

  TensorView view;

private:
  static constexpr size_t margin = 64;

  static std::vector<int64_t> pitched(std::vector<int64_t> sizes, int64_t gap) {
    if (!sizes.empty())
      sizes.back() += gap;
    return sizes;
  }
  static size_t bytesOf(DType dtype, const std::vector<int64_t> &sizes,
                        int64_t gap) {
    int64_t elements = countOf(pitched(sizes, gap));
    return size_t(countOf(sizes) == 0 ? 0
                  : sizes.empty()     ? elements
                                      : elements - gap) *
           byteSize(dtype);
  }

  size_t bytes;
  unsigned char byte;
  Guarded memory;
};

/// Where a call finds its operands and leaves its results.
struct Place {
  int threads;
  int64_t gap;
  Side side;
  unsigned char byte;
};
} // namespace

/// Runs the call at a place; `bits` receives those of the results.
static std::string runAt(const Place &place, const Program &program,
                         const RandomCall &call,
                         std::vector<std::vector<uint8_t>> &bits) {
  std::vector<std::unique_ptr<Placed>> operands, outputs;
  std::vector<Value> inputs = call.arguments.values;
  for (Value &value : inputs)
    if (auto *view = std::get_if<TensorView>(&value)) {
      // What is between the rows of an operand is NaN, or true, always.
      operands.push_back(std::make_unique<Placed>(view->dtype, view->sizes,
                                                  place.gap, place.side, 0xff));
      if (countOf(view->sizes) != 0)
        copyElements(*view, operands.back()->view);
      *view = operands.back()->view;
    }
  std::vector<TensorView> views;
  for (const Wanted &w : call.wanted) {
    outputs.push_back(std::make_unique<Placed>(w.dtype, w.sizes, place.gap,
                                               place.side, place.byte));
    views.push_back(outputs.back()->view);
  }
  CallOptions options;
  options.threads = place.threads;
  Result<void> done = [&] {
    PoisonedMemory poison(place.byte);
    return program.callInto("main", inputs, views, options);
  }();
  if (!done)
    return done.error().message;
  for (size_t n = 0; n < call.wanted.size(); ++n) {
    bits.push_back(test::toBytes(views[n]));
    std::string wrong =
        checkWanted(call.wanted[n], test::toDoubles(outputs[n]->view));
    if (!wrong.empty())
      return wrong;
    if (outputs[n]->isDamaged())
      return call.wanted[n].name + ": something was written beside it";
  }
  size_t operand = 0;
  for (const Value &value : call.arguments.values)
    if (auto *view = std::get_if<TensorView>(&value)) {
      Placed &placed = *operands[operand++];
      if (test::toBytes(placed.view) != test::toBytes(*view) ||
          placed.isDamaged())
        return "operand " + std::to_string(operand - 1) + " was written";
    }
  return {};
}

static std::string judgeCall(const Program &program, const RandomCall &call,
                             size_t number) {
  const Place places[] = {
      {1, number % 2 ? 3 : 0, Side::EndsAtGuard, 0xff},
      {2, number % 2 ? 0 : 3, Side::StartsAfterGuard, 0x5a}};
  std::vector<std::vector<uint8_t>> bits[2];
  for (size_t n : {0, 1})
    if (std::string wrong = runAt(places[n], program, call, bits[n]);
        !wrong.empty())
      return wrong + (n ? " (over other garbage, on 2 threads)" : "");
  for (size_t n = 0; n < call.wanted.size(); ++n)
    if (bits[0][n] != bits[1][n])
      return call.wanted[n].name + ": bits that depend on memory or threads";
  return {};
}

Verdict attn::fuzz::judge(const RandomProgram &program) {
  Verdict verdict;
  for (const test::Target &target : test::targetsFor(program.dtype)) {
    if (!test::whyNotHere(target).empty())
      continue;
    EngineOptions options;
    options.device = target.device;
    options.target = target.target;
    options.cacheDir = "";
    if (target.device == "cpu" && program.configure)
      program.configure(options);
    Result<Program> compiled = Engine(options).compileText(program.text);
    if (!compiled) {
      verdict.wrong += target.name + ": " + compiled.error().message + "\n";
      continue;
    }
    ++verdict.runs;
    for (size_t n = 0; n < program.calls.size(); ++n) {
      std::string wrong = judgeCall(*compiled, program.calls[n], n);
      if (wrong.empty())
        continue;
      verdict.wrong += target.name + ", call " + std::to_string(n) + " (" +
                       program.calls[n].sizes + "): " + wrong + "\n";
      break;
    }
  }
  return verdict;
}
