// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the suites have in common.

#include "Suite.h"

#include "CaseFile.h"

#include "runtime/Files.h"

#include <cassert>
#include <cstdio>

namespace attn::bench {

Result<bool> runLinearSuite(const Options &options) {
  Result<bool> time = runLinearTime(options);
  if (!time)
    return time;
  Result<bool> error = runLinearError(options);
  if (!error)
    return error;
  return *time && *error;
}

Case suiteCase(const std::string &name, int64_t length,
               const std::string &words) {
  std::string size = std::to_string(length);
  Result<Case> parsed = parseCase(
      name + "-" + size + " dtype=f32 H=8 D=64 S=" + size + " " + words);
  assert(parsed.ok() && "the words of a suite are right");
  parsed->group = size;
  return std::move(*parsed);
}

Result<void> writeOut(const Options &options, const std::string &name,
                      const std::string &text) {
  std::string path = options.out + "/" + name;
  if (Result<void> done = writeFile(path, {text}); !done)
    return Error{done.error().code, "option --out: " + done.error().message};
  std::printf("wrote %s\n", path.c_str());
  return {};
}

} // namespace attn::bench
