// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a parsed specification to memory: reads the file, or fills the tensor.

#include "runtime/Files.h"
#include "runtime/Npy.h"
#include "runtime/Random.h"
#include "runtime/Spec.h"

#include <cmath>
#include <cstring>

namespace attn {

Value OwnedValue::value() const {
  if (const Tensor *tensor = std::get_if<Tensor>(&held))
    return tensor->view();
  if (const int64_t *integer = std::get_if<int64_t>(&held))
    return *integer;
  return *std::get_if<double>(&held);
}

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Bare elements in this machine's byte order.
static Result<Tensor> readRaw(const std::string &path, const Parameter &type) {
  Result<InputFile> file = InputFile::open(path);
  if (!file)
    return file.error();
  std::optional<int64_t> count = numElements(type.sizes);
  int64_t bytes = 0;
  if (!count ||
      __builtin_mul_overflow(*count, static_cast<int64_t>(byteSize(type.dtype)),
                             &bytes) ||
      static_cast<uint64_t>(bytes) != file->size())
    return Error{ErrorCode::ioFailure,
                 "file '" + path + "': expected " +
                     (count ? std::to_string(bytes) : "2^63 or more") +
                     " bytes for " + formatType(type) + ", got " +
                     std::to_string(file->size())};
  Result<Tensor> tensor = Tensor::empty(type.dtype, type.sizes);
  if (!tensor)
    return tensor.error();
  if (Result<void> done = file->read(0, tensor->raw(), bytes); !done)
    return done.error();
  return tensor;
}

static Result<Tensor> readTensor(const InputSpec &spec) {
  if (!spec.type)
    return readNpy(spec.path);
  if (!endsWith(spec.path, ".npy"))
    return readRaw(spec.path, *spec.type);
  Result<Tensor> tensor = readNpy(spec.path, spec.type->dtype);
  if (tensor && tensor->sizes() != spec.type->sizes)
    return Error{ErrorCode::invalidArgument,
                 "file '" + spec.path + "': expected " +
                     formatType(*spec.type) + ", got " +
                     formatType(tensor->dtype(), tensor->sizes())};
  return tensor;
}

/// An integer element, without the detour through double that i64 would lose
/// bits on.
static void setInteger(Tensor &tensor, int64_t index, int64_t value) {
  if (tensor.dtype() == DType::i64)
    tensor.data<int64_t>()[index] = value;
  else
    tensor.set(index, static_cast<double>(value));
}

static void fill(const InputSpec &spec, const CounterRandom &random,
                 Tensor &tensor) {
  bool isInteger = !isFloat(tensor.dtype());
  double a = spec.parameters[0], b = spec.parameters[1];
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    switch (spec.source) {
    case InputSpec::Source::list:
      if (isInteger)
        setInteger(tensor, i, spec.integers[spec.integers.size() == 1 ? 0 : i]);
      else
        tensor.set(i, spec.floats[spec.floats.size() == 1 ? 0 : i]);
      break;
    case InputSpec::Source::normal:
      tensor.set(i, a + b * random.normal(i));
      break;
    case InputSpec::Source::uniform:
      if (isInteger)
        // The parser has checked low < high; rounding up keeps one integer
        // between them at least.
        setInteger(tensor, i,
                   random.integer(i, std::floor(a),
                                  std::max(std::floor(a) + 1, std::floor(b))));
      else
        tensor.set(i, a + (b - a) * random.uniform(i));
      break;
    case InputSpec::Source::iota:
      tensor.set(i, a + b * static_cast<double>(i));
      break;
    case InputSpec::Source::file:
      break;
    }
  }
}

Result<OwnedValue> evaluate(const InputSpec &spec, uint64_t seed,
                            uint64_t stream) {
  if (spec.source == InputSpec::Source::file) {
    Result<Tensor> tensor = readTensor(spec);
    if (!tensor)
      return tensor.error();
    return OwnedValue{std::move(*tensor)};
  }
  if (spec.type->kind != Parameter::Kind::tensor) {
    if (isFloat(spec.type->dtype))
      return OwnedValue{spec.floats.front()};
    return OwnedValue{spec.integers.front()};
  }
  Result<Tensor> tensor = Tensor::empty(spec.type->dtype, spec.type->sizes);
  if (!tensor)
    return tensor.error();
  fill(spec, CounterRandom(seed, stream), *tensor);
  return OwnedValue{std::move(*tensor)};
}

} // namespace attn
