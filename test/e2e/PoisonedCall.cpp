// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PoisonedCall.h.

#include "test/e2e/PoisonedCall.h"

#include <algorithm>
#include <cstring>

using namespace attn;
using namespace attn::test;

/// One call into memory of which every byte is `poison`.
static Result<std::vector<Tensor>>
callInto(const Program &program, std::string_view name,
         const std::vector<Value> &inputs, const Signature &signature,
         const std::vector<std::vector<int64_t>> &sizes,
         const CallOptions &options, int poison) {
  std::vector<Tensor> results;
  std::vector<TensorView> views;
  for (size_t n = 0; n < sizes.size(); ++n) {
    Result<Tensor> result = Tensor::empty(signature.results[n].dtype, sizes[n]);
    if (!result)
      return result.error();
    std::memset(result->raw(), poison, result->numBytes());
    results.push_back(std::move(*result));
    views.push_back(results.back().view());
  }
  Result<void> done = program.callInto(name, inputs, views, options);
  if (!done)
    return done.error();
  return results;
}

Result<std::vector<Tensor>>
attn::test::callPoisoned(const Program &program, std::string_view name,
                         const std::vector<Value> &inputs,
                         CallOptions options) {
  Result<Signature> signature = program.signature(name);
  if (!signature)
    return signature.error();
  Result<std::vector<std::vector<int64_t>>> sizes =
      program.resultSizes(name, inputs);
  if (!sizes)
    return sizes.error();
  Result<std::vector<Tensor>> first =
      callInto(program, name, inputs, *signature, *sizes, options, poisonOfNaN);
  if (!first)
    return first.error();
  Result<std::vector<Tensor>> second = callInto(
      program, name, inputs, *signature, *sizes, options, poisonOfNumbers);
  if (!second)
    return second.error();
  for (size_t n = 0; n < first->size(); ++n) {
    const auto *bytes = static_cast<const char *>((*first)[n].raw());
    const auto *end = bytes + (*first)[n].numBytes();
    const auto *other = static_cast<const char *>((*second)[n].raw());
    const char *differs = std::mismatch(bytes, end, other).first;
    if (differs != end) {
      int64_t element =
          (differs - bytes) / int64_t(byteSize((*first)[n].dtype()));
      return Error{ErrorCode::compileFailure,
                   "result " + std::to_string(n) + ", element " +
                       std::to_string(element) + " of " +
                       formatType((*first)[n].dtype(), (*sizes)[n]) +
                       ": expected the same bits in memory of NaN and of "
                       "numbers, got " +
                       std::to_string((*first)[n].at(element)) + " and " +
                       std::to_string((*second)[n].at(element))};
    }
  }
  return first;
}
