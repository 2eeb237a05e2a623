// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values on a command line:
//
//   [name=]@file.npy                  a tensor from a file
//   [name=]4x8x128x64xbf16=VALUES     a tensor of this type
//   [name=]index=5, i32=5, f32=0.5    a number
//
// VALUES is one of
//   normal(mean,deviation) uniform(low,high) iota iota(start,step)
//   1,2,3,4                           row major
//   7                                 the same everywhere
//   @file.npy @file.bin               read; .bin holds bare elements
// and nothing at all (no '=' either) means normal(0,1), for integer types 0.
// uniform on integer types draws from low to high - 1.

#ifndef ATTN_RUNTIME_SPEC_H
#define ATTN_RUNTIME_SPEC_H

#include "runtime/Engine.h"

#include <optional>

namespace attn {

/// A parsed value, not yet computed or read.
struct InputSpec {
  enum class Source { list, normal, uniform, iota, file };
  std::string name;
  /// Nothing for a bare @file.npy, whose type is in the file.
  std::optional<Parameter> type;
  Source source = Source::normal;
  /// Two parameters of normal, uniform and iota.
  double parameters[2] = {0, 1};
  /// The elements of a list: `integers` for integer types, else `floats`.
  std::vector<double> floats;
  std::vector<int64_t> integers;
  std::string path;
};

/// Where a result goes: a file, or standard output where `path` is empty.
struct OutputSpec {
  std::string name;
  std::string path;
};

/// A value that owns what it points to.
struct OwnedValue {
  std::variant<Tensor, int64_t, double> held;
  Value value() const;
};

Result<InputSpec> parseInputSpec(std::string_view text);

/// "[name=]-" or "[name=]@file.npy".
Result<OutputSpec> parseOutputSpec(std::string_view text);

/// A type such as "4x8xf32" or "index"; -1 never occurs.
Result<Parameter> parseType(std::string_view text);

/// Computes or reads the value. `stream` sets specs with the same seed apart.
Result<OwnedValue> evaluate(const InputSpec &spec, uint64_t seed,
                            uint64_t stream);

} // namespace attn

#endif // ATTN_RUNTIME_SPEC_H
