// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text inside a .npy header: a Python dictionary with the keys descr,
// fortran_order and shape. Internal to the npy reader.

#ifndef ATTN_RUNTIME_NPYHEADER_H
#define ATTN_RUNTIME_NPYHEADER_H

#include "runtime/TensorView.h"

#include <string_view>

namespace attn {

struct NpyHeader {
  std::string descr;
  bool isFortranOrder = false;
  std::vector<int64_t> shape;
};

/// Parses the dictionary; messages name the position in `text` and what was
/// expected there, without a file name.
Result<NpyHeader> parseNpyHeader(std::string_view text);

/// An element type as stored.
struct NpyElement {
  DType dtype;
  bool isBigEndian = false;
};

/// What a type string such as "<f4" means. With `expected` == bf16, '<u2' is
/// a bf16 pattern.
Result<NpyElement> parseNpyDescr(std::string_view descr,
                                 std::optional<DType> expected);

/// The dictionary for a row-major little-endian array, without padding.
std::string formatNpyHeader(DType dtype, const std::vector<int64_t> &shape);

} // namespace attn

#endif // ATTN_RUNTIME_NPYHEADER_H
