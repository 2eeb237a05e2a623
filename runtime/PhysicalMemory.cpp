// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/PhysicalMemory.h"

#include <unistd.h>

namespace attn {

bool fitsIntoMemory(size_t bytes) {
  static const double physical = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                                 static_cast<double>(sysconf(_SC_PAGESIZE));
  return static_cast<double>(bytes) <= physical;
}

} // namespace attn
