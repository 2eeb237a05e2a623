// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of inputs and outputs against a signature.

#include "runtime/Arguments.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace attn {

static Error argumentError(const std::string &what, const std::string &expected,
                           const std::string &got) {
  return Error{ErrorCode::invalidArgument,
               what + "expected " + expected + ", got " + got};
}

std::string describeParameter(const Signature &signature, bool isResult,
                              size_t index) {
  const auto &list = isResult ? signature.results : signature.arguments;
  std::string text = "function '" + signature.function + "' " +
                     (isResult ? "result " : "argument ") +
                     std::to_string(index);
  if (!list[index].name.empty())
    text += " (" + list[index].name + ")";
  return text + ": ";
}

/// MLIR's i8 has no sign, so both host types fit.
static bool isSameType(DType expected, DType got) {
  return expected == got || (expected == DType::i8 && got == DType::u8);
}

static bool isDType(DType dtype) {
  return dtype >= DType::f64 && dtype <= DType::i64;
}

static Result<void> checkType(const Parameter &parameter, DType dtype,
                              const std::vector<int64_t> &sizes,
                              const std::string &what) {
  if (!isDType(dtype) || !isSameType(parameter.dtype, dtype))
    return argumentError(
        what, std::string("elements of type ") + name(parameter.dtype),
        isDType(dtype) ? name(dtype) : "no element type");
  if (sizes.size() != parameter.sizes.size())
    return argumentError(what, "rank " + std::to_string(parameter.sizes.size()),
                         "rank " + std::to_string(sizes.size()));
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::string dim = "dimension " + std::to_string(i);
    if (sizes[i] < 0)
      return argumentError(what, dim + " not to be negative",
                           std::to_string(sizes[i]));
    if (parameter.sizes[i] >= 0 && sizes[i] != parameter.sizes[i])
      return argumentError(
          what, dim + " of size " + std::to_string(parameter.sizes[i]),
          std::to_string(sizes[i]));
  }
  return {};
}

Result<void> checkArgumentType(const Signature &signature, size_t index,
                               const Parameter &given) {
  const Parameter &parameter = signature.arguments[index];
  std::string what = describeParameter(signature, /*isResult=*/false, index);
  bool isTensor = given.kind == Parameter::Kind::tensor;
  if (parameter.kind != Parameter::Kind::tensor && isTensor)
    return argumentError(what, formatType(parameter), "a tensor");
  if (parameter.kind == Parameter::Kind::tensor && !isTensor)
    return argumentError(what, "a tensor " + formatType(parameter), "a number");
  return isTensor ? checkType(parameter, given.dtype, given.sizes, what)
                  : Result<void>();
}

/// Type, rank, static sizes and form of `view`.
static Result<ByteRange> checkTensor(const Parameter &parameter,
                                     const TensorView &view,
                                     const std::string &what) {
  if (Result<void> done = checkType(parameter, view.dtype, view.sizes, what);
      !done)
    return done.error();
  if (!view.strides.empty() && view.strides.size() != view.sizes.size())
    return argumentError(what,
                         std::to_string(view.sizes.size()) + " strides or none",
                         std::to_string(view.strides.size()));
  std::optional<ByteRange> range = touchedBytes(view);
  if (!range)
    return argumentError(what, "sizes and strides within the address space",
                         formatType(view.dtype, view.sizes));
  if (!view.data && range->begin != range->end)
    return argumentError(what,
                         "memory for " + formatType(view.dtype, view.sizes),
                         "a null pointer");
  return *range;
}

static std::vector<int64_t> stridesOf(const TensorView &view) {
  return view.strides.empty() ? contiguousStrides(view.sizes) : view.strides;
}

static bool hasUnitInnerStride(const TensorView &view) {
  return view.sizes.empty() || view.sizes.back() <= 1 ||
         stridesOf(view).back() == 1;
}

static bool isAligned(const TensorView &view) {
  return reinterpret_cast<uintptr_t>(view.data) % byteSize(view.dtype) == 0;
}

/// True if no two elements share memory, by a rule that may refuse exotic
/// layouts: by growing stride, each dimension must step over all smaller ones.
static bool hasDistinctElements(const TensorView &view) {
  std::vector<std::pair<uint64_t, uint64_t>> dims; // stride, steps
  std::vector<int64_t> strides = stridesOf(view);
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    if (view.sizes[i] == 0)
      return true;
    uint64_t stride = strides[i] < 0 ? -static_cast<uint64_t>(strides[i])
                                     : static_cast<uint64_t>(strides[i]);
    if (view.sizes[i] > 1)
      dims.push_back({stride, view.sizes[i] - 1});
  }
  std::sort(dims.begin(), dims.end());
  uint64_t reach = 0;
  for (auto [stride, steps] : dims) {
    if (stride <= reach)
      return false;
    reach += stride * steps;
  }
  return true;
}

/// struct {void *allocated, *aligned; int64 offset, sizes[r], strides[r]} as
/// words. A dimension of size 1 gets a stride that any code can use.
void Arguments::addTrusted(const TensorView &view) {
  std::vector<int64_t> strides = stridesOf(view);
  std::vector<int64_t> contiguous = contiguousStrides(view.sizes);
  for (size_t i = 0; i < strides.size(); ++i)
    if (view.sizes[i] <= 1)
      strides[i] = contiguous[i];
  static_assert(sizeof(void *) == sizeof(int64_t),
                "descriptors are built from 64-bit words");
  int64_t address = reinterpret_cast<intptr_t>(view.data);
  std::vector<int64_t> words = {address, address, 0};
  words.insert(words.end(), view.sizes.begin(), view.sizes.end());
  words.insert(words.end(), strides.begin(), strides.end());
  descriptors.push_back(std::move(words));
  slots.push_back(descriptors.back().data());
}

Result<void> Arguments::addTensor(const Parameter &parameter,
                                  const TensorView &view,
                                  const std::string &what) {
  Result<ByteRange> range = checkTensor(parameter, view, what);
  if (!range)
    return range.error();
  uintptr_t base = reinterpret_cast<uintptr_t>(view.data);
  ranges.push_back({base + range->begin, base + range->end, what});
  planned.insert(planned.end(), view.sizes.begin(), view.sizes.end());
  if (hasUnitInnerStride(view) && isAligned(view)) {
    addTrusted(view);
    return {};
  }
  Result<Tensor> copy = Tensor::copyOf(view);
  if (!copy)
    return Error{copy.error().code, what + copy.error().message};
  packed.push_back(std::move(*copy));
  addTrusted(packed.back().view());
  return {};
}

Result<void> Arguments::addScalar(const Parameter &parameter,
                                  const Value &value, const std::string &what) {
  const int64_t *integer = std::get_if<int64_t>(&value);
  const double *number = std::get_if<double>(&value);
  int64_t &slot = scalars.emplace_back(0);
  slots.push_back(&slot);
  if (isFloat(parameter.dtype)) {
    if (!integer && !number)
      return argumentError(what, formatType(parameter), "a tensor");
    storeFromDouble(parameter.dtype,
                    number ? *number : static_cast<double>(*integer), &slot);
    planned.push_back(slot);
    return {};
  }
  if (!integer)
    return argumentError(what, formatType(parameter),
                         number ? "a floating-point number" : "a tensor");
  if (parameter.dtype == DType::i32) {
    int32_t narrow = static_cast<int32_t>(*integer);
    if (narrow != *integer)
      return argumentError(what, "a number that fits into i32",
                           std::to_string(*integer));
    std::memcpy(&slot, &narrow, sizeof narrow);
  } else {
    slot = *integer;
  }
  planned.push_back(*integer);
  return {};
}

Result<void> Arguments::addInput(const Parameter &parameter, const Value &value,
                                 const std::string &what) {
  if (parameter.kind != Parameter::Kind::tensor)
    return addScalar(parameter, value, what);
  const TensorView *view = std::get_if<TensorView>(&value);
  if (!view)
    return argumentError(what, "a tensor " + formatType(parameter), "a number");
  return addTensor(parameter, *view, what);
}

Result<void> Arguments::addOutput(const Parameter &parameter,
                                  const std::vector<int64_t> &sizes,
                                  const TensorView &view,
                                  const std::string &what) {
  Result<ByteRange> range = checkTensor(parameter, view, what);
  if (!range)
    return range.error();
  if (view.sizes != sizes)
    return argumentError(what, formatType(parameter.dtype, sizes),
                         formatType(view.dtype, view.sizes));
  if (!hasUnitInnerStride(view))
    return argumentError(what, "an innermost stride of 1",
                         std::to_string(view.strides.back()));
  if (!isAligned(view))
    return argumentError(what,
                         "memory aligned to " +
                             std::to_string(byteSize(view.dtype)) + " bytes",
                         "an address that is not");
  if (!hasDistinctElements(view))
    return argumentError(what, "strides that keep elements apart",
                         "elements that may overlap");
  uintptr_t base = reinterpret_cast<uintptr_t>(view.data);
  Range own{base + range->begin, base + range->end, what};
  for (const Range &other : ranges)
    if (own.begin < other.end && other.begin < own.end)
      return argumentError(what, "memory of its own",
                           "an overlap with " +
                               other.what.substr(0, other.what.size() - 2));
  ranges.push_back(own);
  addTrusted(view);
  return {};
}

} // namespace attn
