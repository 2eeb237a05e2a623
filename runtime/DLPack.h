// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors from and for other libraries by DLPack
// (https://dmlc.github.io/dlpack), without a copy: both the struct that all
// versions have and the versioned one of DLPack 1.
//
//   auto q = attn::importDLPack(managed);
//   if (!q)
//     return report(q.error().message);
//   auto out = program->call("attend", {q->view(), ...});
//   return attn::exportDLPack(std::move(out->front()));

#ifndef ATTN_RUNTIME_DLPACK_H
#define ATTN_RUNTIME_DLPACK_H

#include "runtime/Tensor.h"

// As <dlpack/dlpack.h> of any version defines them.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace attn {

/// A tensor that another library owns. Its deleter is called once, when this
/// goes away; views are valid until then.
class ATTN_API ImportedTensor {
public:
  const TensorView &view() const { return shape; }

  /// True if the owner forbids writing. It may be an input of a call, but not
  /// an output.
  bool isReadOnly() const { return readOnly; }

private:
  friend Result<ImportedTensor> importDLPack(DLManagedTensor *);
  friend Result<ImportedTensor> importDLPack(DLManagedTensorVersioned *);
  using Owner = std::unique_ptr<void, void (*)(void *)>;
  ImportedTensor(Owner owner, TensorView shape, bool readOnly)
      : owner(std::move(owner)), shape(std::move(shape)), readOnly(readOnly) {}

  Owner owner;
  TensorView shape;
  bool readOnly;
};

/// Takes the tensor over. After an error it still belongs to the caller, and
/// its deleter was not called. Errors are
/// - a null pointer; a version other than 1.x;
/// - another device than the CPU;
/// - another element type than f16, bf16, f32, f64, i8, u8, i32, i64 and bool,
///   which becomes i1; more than one lane;
/// - a negative rank or size, a shape or data that is null but for a tensor
///   that has none, and sizes and strides beyond the address space.
/// Strides may be anything, and null for row-major without gaps.
ATTN_API Result<ImportedTensor> importDLPack(DLManagedTensor *managed);
ATTN_API Result<ImportedTensor> importDLPack(DLManagedTensorVersioned *managed);

/// Gives the tensor away. The memory lives until the receiver calls the
/// deleter, which it does once.
ATTN_API DLManagedTensor *exportDLPack(Tensor tensor);

/// The same as version 1.0.
ATTN_API DLManagedTensorVersioned *exportDLPackVersioned(Tensor tensor);

} // namespace attn

#endif // ATTN_RUNTIME_DLPACK_H
