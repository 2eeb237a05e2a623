// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of which one byte too far cannot be touched.

#ifndef ATTN_TEST_E2E_GUARDEDMEMORY_H
#define ATTN_TEST_E2E_GUARDEDMEMORY_H

#include <cstddef>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace attn::test {

enum class Side { EndsAtGuard, StartsAfterGuard };

/// Memory between two inaccessible pages, against one of them; it holds NaN of
/// every type of floats, so that a result that nobody wrote is seen.
class Guarded {
public:
  Guarded(size_t bytes, Side side) : bytes(bytes) {
    size_t page = size_t(sysconf(_SC_PAGESIZE));
    size_t body = (bytes + page - 1) / page * page;
    length = body + 2 * page;
    void *p =
        mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
      return;
    base = static_cast<char *>(p);
    if (body != 0 && mprotect(base + page, body, PROT_READ | PROT_WRITE) != 0)
      return;
    data = base + page + (side == Side::EndsAtGuard ? body - bytes : 0);
    std::memset(data, 0xff, bytes);
  }
  ~Guarded() {
    if (base)
      munmap(base, length);
  }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;

  char *data = nullptr;
  const size_t bytes;

private:
  char *base = nullptr;
  size_t length = 0;
};

} // namespace attn::test

#endif // ATTN_TEST_E2E_GUARDEDMEMORY_H
