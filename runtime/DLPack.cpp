// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of what comes in, and owners of what goes out.

#include "runtime/DLPack.h"

#include "runtime/DLPackVersioned.h"

namespace attn {

static Error tensorError(const std::string &expected, const std::string &got) {
  return Error{ErrorCode::invalidArgument,
               "DLPack tensor: expected " + expected + ", got " + got};
}

namespace {
/// An element type and its code in DLPack; the bits follow from the type.
struct TypeEntry {
  DType dtype;
  uint8_t code;
};
} // namespace

static constexpr TypeEntry typeTable[] = {
    {DType::f64, kDLFloat},   {DType::f32, kDLFloat},  {DType::f16, kDLFloat},
    {DType::bf16, kDLBfloat}, {DType::i1, dlpackBool}, {DType::i8, kDLInt},
    {DType::u8, kDLUInt},     {DType::i32, kDLInt},    {DType::i64, kDLInt},
};

static Result<DType> importType(const DLDataType &type) {
  for (const TypeEntry &entry : typeTable)
    if (type.code == entry.code && type.bits == 8 * byteSize(entry.dtype) &&
        type.lanes == 1)
      return entry.dtype;
  return tensorError("elements of type f16, bf16, f32, f64, i8, u8, i32, i64 "
                     "or bool, of one lane",
                     "type code " + std::to_string(type.code) + " of " +
                         std::to_string(type.bits) + " bits and " +
                         std::to_string(type.lanes) + " lanes");
}

static Result<TensorView> importView(const DLTensor &tensor) {
  if (tensor.device.device_type != kDLCPU)
    return tensorError("memory of the CPU (device type 1)",
                       "device type " +
                           std::to_string(tensor.device.device_type));
  Result<DType> dtype = importType(tensor.dtype);
  if (!dtype)
    return dtype.error();
  if (tensor.ndim < 0)
    return tensorError("a rank that is not negative",
                       std::to_string(tensor.ndim));
  if (tensor.ndim > 0 && !tensor.shape)
    return tensorError(std::to_string(tensor.ndim) + " sizes",
                       "a null pointer");
  TensorView view;
  view.dtype = *dtype;
  view.sizes.assign(tensor.shape, tensor.shape + tensor.ndim);
  if (tensor.strides)
    view.strides.assign(tensor.strides, tensor.strides + tensor.ndim);
  for (int64_t size : view.sizes)
    if (size < 0)
      return tensorError("sizes that are not negative", std::to_string(size));
  std::optional<ByteRange> range = touchedBytes(view);
  if (!range)
    return tensorError("sizes and strides within the address space",
                       formatType(view.dtype, view.sizes));
  bool isEmpty = range->begin == range->end;
  if (!tensor.data && !isEmpty)
    return tensorError("memory for " + formatType(view.dtype, view.sizes),
                       "a null pointer");
  uint64_t address = reinterpret_cast<uintptr_t>(tensor.data);
  if (__builtin_add_overflow(address, tensor.byte_offset, &address))
    return tensorError("a byte offset within the address space",
                       std::to_string(tensor.byte_offset));
  view.data = reinterpret_cast<void *>(address);
  return view;
}

/// Calls the deleter, of which there may be none.
template <class Managed> static void release(void *managed) {
  auto *tensor = static_cast<Managed *>(managed);
  if (tensor->deleter)
    tensor->deleter(tensor);
}

Result<ImportedTensor> importDLPack(DLManagedTensor *managed) {
  if (!managed)
    return tensorError("a tensor", "a null pointer");
  Result<TensorView> view = importView(managed->dl_tensor);
  if (!view)
    return view.error();
  return ImportedTensor({managed, release<DLManagedTensor>}, std::move(*view),
                        /*readOnly=*/false);
}

Result<ImportedTensor> importDLPack(DLManagedTensorVersioned *managed) {
  if (!managed)
    return tensorError("a tensor", "a null pointer");
  if (managed->version.major != 1)
    return tensorError("version 1 of DLPack",
                       "version " + std::to_string(managed->version.major) +
                           "." + std::to_string(managed->version.minor));
  Result<TensorView> view = importView(managed->dl_tensor);
  if (!view)
    return view.error();
  return ImportedTensor({managed, release<DLManagedTensorVersioned>},
                        std::move(*view), managed->flags & dlpackReadOnly);
}

namespace {
/// What an exported tensor owns.
template <class Managed> struct Exported {
  explicit Exported(Tensor given)
      : tensor(std::move(given)), sizes(tensor.sizes()),
        strides(tensor.view().strides) {}

  Managed managed = {};
  Tensor tensor;
  // DLPack points to sizes that it may write to.
  std::vector<int64_t> sizes, strides;
};
} // namespace

template <class Managed> static Managed *give(Tensor tensor) {
  auto *exported = new Exported<Managed>(std::move(tensor));
  DType dtype = exported->tensor.dtype();
  DLTensor &out = exported->managed.dl_tensor;
  out.data = exported->tensor.raw();
  out.device.device_type = kDLCPU;
  out.ndim = static_cast<int>(exported->sizes.size());
  for (const TypeEntry &entry : typeTable)
    if (entry.dtype == dtype)
      out.dtype.code = entry.code;
  out.dtype.bits = static_cast<uint8_t>(8 * byteSize(dtype));
  out.dtype.lanes = 1;
  out.shape = exported->sizes.data();
  out.strides = exported->strides.data();
  exported->managed.manager_ctx = exported;
  exported->managed.deleter = [](Managed *self) {
    delete static_cast<Exported<Managed> *>(self->manager_ctx);
  };
  return &exported->managed;
}

DLManagedTensor *exportDLPack(Tensor tensor) {
  return give<DLManagedTensor>(std::move(tensor));
}

DLManagedTensorVersioned *exportDLPackVersioned(Tensor tensor) {
  auto *managed = give<DLManagedTensorVersioned>(std::move(tensor));
  managed->version.major = 1;
  managed->version.minor = 0;
  return managed;
}

} // namespace attn
