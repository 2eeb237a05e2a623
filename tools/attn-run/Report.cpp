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
    std::string range = formatRange(result);
    std::printf("%s: %s%s%s\n", resultName(signature, i).c_str(),
                formatType(result.dtype(), result.sizes()).c_str(),
                range.empty() ? "" : ", ", range.c_str());
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

/// Says where rounding alone may have decided on a result.
static void printJumps(const Options &options, const Parameter &result) {
  for (const std::string &jump : result.jumps)
    std::printf("  %s:%s: where rounding alone decides, devices differ\n",
                options.file.c_str(), jump.c_str());
}

/// What a mismatch of `result` says of the compiler.
static Agreement mismatchOf(const Parameter &result) {
  return result.jumps.empty() ? Agreement::mismatch : Agreement::unclear;
}

Result<Agreement> checkExpected(const Options &options,
                                const Signature &signature,
                                const std::vector<Tensor> &results) {
  Result<std::vector<size_t>> bound =
      bindSpecs(options.expected, signature.results, "--expect");
  if (!bound)
    return bound.error();
  Agreement agreement = Agreement::ok;
  for (size_t i = 0; i < bound->size(); ++i) {
    const Parameter &result = signature.results[(*bound)[i]];
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
      agreement = Agreement::mismatch;
      continue;
    }
    double tolerance = defaultElementTolerance(got.dtype());
    double atol = options.atol.value_or(tolerance);
    double rtol = options.rtol.value_or(tolerance);
    Difference difference = compare(got, *expected, atol, rtol);
    bool isWithinBounds = difference.outside == 0;
    std::printf("expect %s: %s, %s, %lld of %lld outside atol "
                "%.3g, rtol %.3g\n",
                name.c_str(), isWithinBounds ? "ok" : "MISMATCH",
                formatErrors(difference, /*relative=*/false).c_str(),
                static_cast<long long>(difference.outside),
                static_cast<long long>(got.numElements()), atol, rtol);
    if (isWithinBounds)
      continue;
    printWorst(difference, got, *expected);
    printJumps(options, result);
    agreement = std::max(agreement, mismatchOf(result));
  }
  return agreement;
}

DType operandType(const Signature &signature) {
  DType narrowest = DType::f64;
  for (const Parameter &argument : signature.arguments)
    if (argument.kind == Parameter::Kind::tensor && isFloat(argument.dtype) &&
        byteSize(argument.dtype) < byteSize(narrowest))
      narrowest = argument.dtype;
  return narrowest;
}

Agreement printComparison(const Options &options, const Signature &signature,
                          const std::string &label,
                          const std::vector<Tensor> &results,
                          const std::vector<Tensor> &expected) {
  Agreement agreement = Agreement::ok;
  for (size_t i = 0; i < results.size(); ++i) {
    const Parameter &result = signature.results[i];
    std::string name = resultName(signature, i);
    if (results[i].sizes() != expected[i].sizes()) {
      std::printf("%s %s: MISMATCH: expected %s, got %s\n", label.c_str(),
                  name.c_str(),
                  formatType(result.dtype, expected[i].sizes()).c_str(),
                  formatType(result.dtype, results[i].sizes()).c_str());
      agreement = Agreement::mismatch;
      continue;
    }
    Tolerance tolerance = defaultTolerance(result);
    bool isAbsolute = tolerance.kind == Tolerance::Kind::maxAbs;
    tolerance.bound =
        (isAbsolute ? options.atol : options.rtol).value_or(tolerance.bound);
    Difference difference = compare(results[i], expected[i]);
    bool isClose = isWithin(difference, tolerance);
    std::printf("%s %s: %s, %s, tolerance %.3g (%s)\n", label.c_str(),
                name.c_str(), isClose ? "ok" : "MISMATCH",
                formatErrors(difference).c_str(), tolerance.bound,
                isAbsolute ? "max abs" : "relative rms");
    if (isClose)
      continue;
    printWorst(difference, results[i], expected[i]);
    printJumps(options, result);
    agreement = std::max(agreement, mismatchOf(result));
  }
  return agreement;
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

Result<Agreement> checkReference(const Options &options,
                                 const Signature &signature,
                                 const std::vector<Value> &inputs,
                                 const std::vector<Tensor> &results) {
  Result<std::vector<Tensor>> expected =
      callReference(options, "source", signature.function, inputs);
  if (!expected)
    return expected.error();
  return printComparison(options, signature, "check", results, *expected);
}

} // namespace attn::run
