// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptions as bytes.

#include "runtime/ahead/Description.h"

#include "runtime/code/Bytes.h"

namespace attn {

std::string encode(const Description &description) {
  ByteWriter bytes;
  bytes.text(description.features);
  bytes.text(encode(description.image));
  return bytes.take();
}

Result<Description> decodeDescription(std::string_view encoded) {
  ByteReader bytes(encoded);
  Description description;
  description.features = bytes.text();
  std::string_view image = bytes.text();
  Result<ModuleImage> decoded = decodeImage(image);
  if (!bytes.isComplete() || !decoded || decoded->functions.size() != 1)
    return Error{ErrorCode::invalidArgument,
                 "malformed description of a function"};
  description.image = std::move(*decoded);
  return description;
}

} // namespace attn
