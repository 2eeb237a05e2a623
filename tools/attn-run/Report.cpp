// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Report.h. Everything for people goes to standard output.

#include "Report.h"

#include "Bind.h"

#include "runtime/Difference.h"
#include "runtime/Npy.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace attn::run {

const char *name(CacheUse::State state) {
  switch (state) {
  case CacheUse::State::hit:
    return "hit";
  case CacheUse::State::miss:
    return "miss";
  case CacheUse::State::off:
    break;
  }
  return "off";
}

void printSummary(const Signature &signature,
                  const std::vector<Tensor> &results) {
  for (size_t i = 0; i < results.size(); ++i) {
    const Tensor &result = results[i];
    double low = INFINITY, high = -INFINITY, sum = 0;
    int64_t nans = 0;
    for (int64_t k = 0; k < result.numElements(); ++k) {
      double value = result.at(k);
      nans += std::isnan(value);
      low = std::fmin(low, value);
      high = std::fmax(high, value);
      sum += value;
    }
    std::printf("%s: %s", resultName(signature, i).c_str(),
                formatType(result.dtype(), result.sizes()).c_str());
    if (result.numElements() > 0)
      std::printf(", min %.6g, max %.6g, mean %.6g", low, high,
                  sum / static_cast<double>(result.numElements()));
    if (nans > 0)
      std::printf(", %lld NaN", static_cast<long long>(nans));
    std::printf("\n");
  }
}

Result<void> writeOutputs(const Options &options, const Signature &signature,
                          const std::vector<Tensor> &results) {
  Result<std::vector<size_t>> bound =
      bindSpecs(options.outputs, signature.results, "--output");
  if (!bound)
    return bound.error();
  for (size_t i = 0; i < bound->size(); ++i) {
    const Tensor &result = results[(*bound)[i]];
    const std::string &path = options.outputs[i].path;
    if (path.empty()) {
      std::printf("%s: %s = %s\n", resultName(signature, (*bound)[i]).c_str(),
                  formatType(result.dtype(), result.sizes()).c_str(),
                  formatElements(result).c_str());
      continue;
    }
    if (Result<void> done = writeNpy(path, result.view()); !done)
      return done.error();
  }
  return {};
}

/// "[1, 0, 3]" for an element in row-major order.
static std::string formatIndex(int64_t index,
                               const std::vector<int64_t> &sizes) {
  std::string text = "]";
  for (size_t dim = sizes.size(); dim-- > 0;) {
    text = (dim == 0 ? "" : ", ") + std::to_string(index % sizes[dim]) + text;
    index /= sizes[dim];
  }
  return "[" + text;
}

void printWorst(const Difference &difference, const Tensor &got,
                const Tensor &expected) {
  if (difference.worst >= 0)
    std::printf("  at %s: expected %.9g, got %.9g\n",
                formatIndex(difference.worst, got.sizes()).c_str(),
                expected.at(difference.worst), got.at(difference.worst));
}

static double defaultElementTolerance(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return 1e-12;
  case DType::f32:
    return 1e-5;
  case DType::f16:
    return 1e-3;
  case DType::bf16:
    return 8e-3;
  default:
    return 0;
  }
}

Result<bool> checkExpected(const Options &options, const Signature &signature,
                           const std::vector<Tensor> &results) {
  Result<std::vector<size_t>> bound =
      bindSpecs(options.expected, signature.results, "--expect");
  if (!bound)
    return bound.error();
  bool isFine = true;
  for (size_t i = 0; i < bound->size(); ++i) {
    const Tensor &got = results[(*bound)[i]];
    std::string name = resultName(signature, (*bound)[i]);
    Result<OwnedValue> value =
        evaluate(options.expected[i], options.seed, (*bound)[i]);
    if (!value)
      return value.error();
    const Tensor *expected = std::get_if<Tensor>(&value->held);
    if (!expected)
      return Error{ErrorCode::invalidArgument,
                   "option --expect: expected a tensor for " + name +
                       ", got a number"};
    if (expected->sizes() != got.sizes()) {
      std::printf("expect %s: MISMATCH: expected %s, got %s\n", name.c_str(),
                  formatType(expected->dtype(), expected->sizes()).c_str(),
                  formatType(got.dtype(), got.sizes()).c_str());
      isFine = false;
      continue;
    }
    double tolerance = defaultElementTolerance(got.dtype());
    double atol = options.atol.value_or(tolerance);
    double rtol = options.rtol.value_or(tolerance);
    Difference difference = compare(got, *expected, atol, rtol);
    bool isWithinBounds = difference.outside == 0;
    std::printf("expect %s: %s, max abs error %.3g, %lld of %lld outside atol "
                "%.3g, rtol %.3g\n",
                name.c_str(), isWithinBounds ? "ok" : "MISMATCH",
                difference.maxAbs, static_cast<long long>(difference.outside),
                static_cast<long long>(got.numElements()), atol, rtol);
    if (!isWithinBounds)
      printWorst(difference, got, *expected);
    isFine &= isWithinBounds;
  }
  return isFine;
}

DType operandType(const Signature &signature) {
  DType narrowest = DType::f64;
  for (const Parameter &argument : signature.arguments)
    if (argument.kind == Parameter::Kind::tensor && isFloat(argument.dtype) &&
        byteSize(argument.dtype) < byteSize(narrowest))
      narrowest = argument.dtype;
  return narrowest;
}

bool printComparison(const Options &options, const Signature &signature,
                     const std::string &label,
                     const std::vector<Tensor> &results,
                     const std::vector<Tensor> &expected) {
  bool isFine = true;
  for (size_t i = 0; i < results.size(); ++i) {
    const Parameter &result = signature.results[i];
    Tolerance tolerance = defaultTolerance(result, operandType(signature));
    bool isAbsolute = tolerance.kind == Tolerance::Kind::maxAbs;
    tolerance.bound =
        (isAbsolute ? options.atol : options.rtol).value_or(tolerance.bound);
    bool isSameShape = results[i].sizes() == expected[i].sizes();
    Difference difference;
    if (isSameShape)
      difference = compare(results[i], expected[i]);
    bool isClose = isSameShape && isWithin(difference, tolerance);
    std::printf("%s %s: %s, max abs error %.3g, relative rms %.3g, "
                "tolerance %.3g (%s)\n",
                label.c_str(), resultName(signature, i).c_str(),
                isClose ? "ok" : "MISMATCH", difference.maxAbs,
                difference.relativeRms, tolerance.bound,
                isAbsolute ? "max abs" : "relative rms");
    if (!isClose && isSameShape)
      printWorst(difference, results[i], expected[i]);
    isFine &= isClose;
  }
  return isFine;
}

Result<std::vector<Tensor>> callReference(const Options &options,
                                          const std::string &stage,
                                          const std::string &function,
                                          const std::vector<Value> &inputs) {
  EngineOptions engineOptions;
  engineOptions.device = "reference";
  engineOptions.referenceStage = stage;
  engineOptions.target = options.engine.target;
  engineOptions.cacheDir = options.engine.cacheDir;
  Result<Program> reference = Engine(engineOptions).compileFile(options.file);
  if (!reference)
    return Error{reference.error().code,
                 "device reference: " + reference.error().message};
  return reference->call(function, inputs);
}

Result<bool> checkReference(const Options &options, const Signature &signature,
                            const std::vector<Value> &inputs,
                            const std::vector<Tensor> &results) {
  Result<std::vector<Tensor>> expected =
      callReference(options, "source", signature.function, inputs);
  if (!expected)
    return expected.error();
  return printComparison(options, signature, "check", results, *expected);
}

} // namespace attn::run
