// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumPy's .npy files, versions 1.0, 2.0 and 3.0, as tensors. Elements of
// either byte order and arrays in Fortran order become row-major tensors of
// this machine's byte order.
//
// NumPy has no bf16: the files that ml_dtypes writes call it '<V2' (or
// 'bfloat16'), which is read as bf16 and written for bf16.

#ifndef ATTN_RUNTIME_NPY_H
#define ATTN_RUNTIME_NPY_H

#include "runtime/Tensor.h"

#include <optional>

namespace attn {

/// Reads a file. With `expected`, any other element type is an error; bf16
/// may then also be stored as plain 16-bit patterns ('<u2').
Result<Tensor> readNpy(const std::string &path,
                       std::optional<DType> expected = {});

/// Writes a file of version 1.0, row major, little endian.
Result<void> writeNpy(const std::string &path, const TensorView &view);

} // namespace attn

#endif // ATTN_RUNTIME_NPY_H
