// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types of tensors as the host sees them, their names and sizes, and
// the conversion of single elements to and from double.

#ifndef ATTN_RUNTIME_DTYPE_H
#define ATTN_RUNTIME_DTYPE_H

#include "runtime/Api.h"
#include "runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace attn {

/// i1 is one byte per element, 0 or 1.
enum class DType { f64, f32, f16, bf16, i1, i8, u8, i32, i64 };

/// Bytes of one element in memory.
ATTN_API size_t byteSize(DType dtype);

/// The MLIR spelling, except that unsigned types keep their u.
ATTN_API const char *name(DType dtype);

/// The inverse of name().
ATTN_API Result<DType> parseDType(std::string_view text);

ATTN_API bool isFloat(DType dtype);

/// The element at `data` as a double (i64 beyond 2^53 rounds). The address
/// needs no alignment.
ATTN_API double loadAsDouble(DType dtype, const void *data);

/// Stores `value`, rounded once to nearest even; integer types saturate and
/// take NaN as 0, i1 stores value != 0.
ATTN_API void storeFromDouble(DType dtype, double value, void *data);

} // namespace attn

#endif // ATTN_RUNTIME_DTYPE_H
