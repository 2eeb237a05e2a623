// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file system of a few pages, for a process that finds the disk full.

#ifndef ATTN_TEST_UNIT_RUNTIME_SMALLDISK_H
#define ATTN_TEST_UNIT_RUNTIME_SMALLDISK_H

#include <fstream>
#include <functional>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

/// Gives this process mounts of its own. Root needs no more; others become root
/// of a user namespace that holds nobody else.
inline bool enterMountNamespace() {
  uid_t user = geteuid();
  gid_t group = getegid();
  if (user == 0)
    return unshare(CLONE_NEWNS) == 0;
  if (unshare(CLONE_NEWNS | CLONE_NEWUSER) != 0)
    return false;
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
  return geteuid() == 0;
}

/// Runs `body` in a child that sees an empty file system of `kilobytes` at
/// `path`. 0 if it returned true, 1 if it did not, and 2 if this machine lets
/// the user mount nothing.
inline int runOnSmallDisk(const std::string &path, int kilobytes,
                          const std::function<bool()> &body) {
  pid_t child = fork();
  if (child == 0) {
    std::string size = "mode=0700,size=" + std::to_string(kilobytes) + "k";
    if (!enterMountNamespace() ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", path.c_str(), "tmpfs", 0, size.c_str()) != 0)
      _exit(2);
    // An exception must not take the child into the tests of its parent.
    auto run = [&]() noexcept { return body(); };
    _exit(run() ? 0 : 1);
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
    return 1;
  return WEXITSTATUS(status);
}

#endif // ATTN_TEST_UNIT_RUNTIME_SMALLDISK_H
