// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Paths.h.

#include "Paths.h"

#include "runtime/Files.h"

namespace attn::run {

std::string stemOf(const std::string &path) {
  return path.substr(0, path.rfind('.'));
}

namespace {
struct Path {
  const char *option;
  std::string path;
};
} // namespace

static std::vector<Path> pathsRead(const Options &options) {
  std::vector<Path> read{{"the program", options.file}};
  for (const InputSpec &spec : options.inputs)
    read.push_back({"--input", spec.path});
  for (const InputSpec &spec : options.expected)
    read.push_back({"--expect", spec.path});
  return read;
}

static std::vector<Path> pathsWritten(const Options &options) {
  std::vector<Path> written;
  for (const OutputSpec &spec : options.outputs)
    written.push_back({"--output", spec.path});
  written.push_back({"--plot-mask", options.plotMask});
  if (!options.emitFile.empty()) {
    written.push_back({"-o", options.emitFile});
    if (options.emit == "obj")
      written.push_back({"-o", stemOf(options.emitFile) + ".h"});
  }
  return written;
}

Result<void> checkPaths(const Options &options) {
  std::vector<Path> written = pathsWritten(options);
  auto error = [](const Path &path, const std::string &got) {
    return Error{ErrorCode::invalidArgument,
                 std::string("option ") + path.option +
                     ": expected a file of its own, got '" + path.path +
                     "', which " + got};
  };
  for (size_t i = 0; i < written.size(); ++i) {
    if (written[i].path.empty() || written[i].path == "/dev/null")
      continue;
    for (const Path &read : pathsRead(options))
      if (!read.path.empty() && isSameFile(written[i].path, read.path))
        return error(written[i], std::string(read.option) + " reads");
    for (size_t j = 0; j < i; ++j)
      if (written[j].path == written[i].path ||
          isSameFile(written[j].path, written[i].path))
        return error(written[i], std::string(written[j].option) + " writes");
  }
  return {};
}

} // namespace attn::run
