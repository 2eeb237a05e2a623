// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SHA-256 (FIPS 180-4), for the names and the checksums of cache entries.
// Internal; no LLVM.

#ifndef ATTN_RUNTIME_CACHE_SHA256_H
#define ATTN_RUNTIME_CACHE_SHA256_H

#include <array>
#include <cstdint>
#include <string_view>

namespace attn {

using Sha256 = std::array<uint8_t, 32>;

Sha256 sha256(std::string_view bytes);

} // namespace attn

#endif // ATTN_RUNTIME_CACHE_SHA256_H
