// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Permissions don't bind root, so that a test of them acts as somebody else.

#ifndef ATTN_TEST_UNIT_RUNTIME_PRIVILEGES_H
#define ATTN_TEST_UNIT_RUNTIME_PRIVILEGES_H

#include <string>
#include <unistd.h>
#include <vector>

/// If this is root, acts as another user for a scope. The user gets the
/// folders, so far as they exist.
class Unprivileged {
public:
  explicit Unprivileged(const std::vector<std::string> &folders)
      : isRoot(geteuid() == 0) {
    constexpr uid_t nobody = 65534;
    for (const std::string &folder : folders)
      if (isRoot && chown(folder.c_str(), nobody, nobody) != 0)
        continue;
    if (isRoot && seteuid(nobody) != 0)
      _exit(1);
  }
  ~Unprivileged() {
    if (isRoot && seteuid(0) != 0)
      _exit(1);
  }
  Unprivileged(const Unprivileged &) = delete;
  Unprivileged &operator=(const Unprivileged &) = delete;

private:
  bool isRoot;
};

#endif // ATTN_TEST_UNIT_RUNTIME_PRIVILEGES_H
