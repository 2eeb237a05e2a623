// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What DLPack 1.0 adds, where the installed header is older. Internal; no LLVM.

#ifndef ATTN_RUNTIME_DLPACKVERSIONED_H
#define ATTN_RUNTIME_DLPACKVERSIONED_H

#include <dlpack/dlpack.h>

namespace attn {
/// Code of the element type bool, eight bits wide.
static constexpr uint8_t dlpackBool = 6;
/// Flag of a tensor that must not be written to.
static constexpr uint64_t dlpackReadOnly = 1;
} // namespace attn

#ifndef DLPACK_MAJOR_VERSION
struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

struct DLManagedTensorVersioned {
  /// Within a major version the layout does not change.
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
};
#endif

#endif // ATTN_RUNTIME_DLPACKVERSIONED_H
