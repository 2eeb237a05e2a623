// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-bench: times the cases of case files. Everything of substance is in the
// files beside this one.

#include "CaseFile.h"
#include "Groups.h"
#include "Options.h"
#include "Plot.h"
#include "Serve.h"
#include "Suite.h"

#include "runtime/Files.h"
#include "tools/StandardOutput.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <regex>
#include <sstream>
#include <thread>

using namespace attn;
using namespace attn::bench;

static constexpr int exitCaseFailed = 1;
static constexpr int exitFailure = 2;

static int fail(const std::string &message) {
  std::fflush(stdout);
  std::fprintf(stderr, "attn-bench: %s\n", message.c_str());
  return exitFailure;
}

/// The cases of all files that the filter lets through.
static Result<std::vector<Case>> selectCases(const Options &options) {
  std::vector<Case> all, selected;
  for (const std::string &path : options.caseFiles)
    if (Result<void> done = readCases(path, all); !done)
      return done.error();
  std::regex filter;
  try {
    filter = std::regex(options.filter);
  } catch (const std::regex_error &error) {
    return Error{ErrorCode::invalidArgument,
                 "option --filter: expected a regular expression, got '" +
                     options.filter + "': " + error.what()};
  }
  for (Case &problem : all)
    if (std::regex_search(problem.name, filter))
      selected.push_back(std::move(problem));
  if (selected.empty())
    return Error{ErrorCode::invalidArgument,
                 "option --filter: expected a match in the name of a case, "
                 "got none for '" +
                     options.filter + "'"};
  return selected;
}

/// Says so where others use the cores already.
static void warnOfLoad() {
  double load = 0;
  // Of the machine, as the load is, not those that this process may use.
  double cores = std::max(1u, std::thread::hardware_concurrency());
  if (getloadavg(&load, 1) == 1 && load > cores / 4)
    std::fprintf(stderr,
                 "attn-bench: warning: load average %.1f on %.0f cores: times "
                 "will be too long\n",
                 load, cores);
}

static int runBenchmarks(const Options &options) {
  Result<std::vector<Case>> cases = selectCases(options);
  if (!cases)
    return fail(cases.error().message);
  warnOfLoad();
  // Known to be possible before the hours that it may take.
  std::optional<OutputFile> jsonFile;
  if (!options.jsonFile.empty()) {
    Result<OutputFile> file = OutputFile::open(options.jsonFile);
    if (!file)
      return fail("option --json: " + file.error().message);
    jsonFile.emplace(std::move(*file));
  }
  std::ostringstream json;
  TurnRunner runner(options.runs, options.threads, jsonFile ? &json : nullptr);
  std::vector<Summary> summaries = runGroups(runner, *cases);
  runner.finish();
  if (jsonFile) {
    Result<void> done = jsonFile->write({json.str()});
    if (done)
      done = jsonFile->commit();
    if (!done)
      return fail("option --json: " + done.error().message);
  }
  if (!options.plotFile.empty())
    if (Result<void> done =
            writeFile(options.plotFile, {drawShares(summaries)});
        !done)
      return fail("option --plot: " + done.error().message);
  bool isFine = std::all_of(
      summaries.begin(), summaries.end(), [](const Summary &summary) {
        return summary.failure.empty() || summary.isUnsupported;
      });
  return isFine ? 0 : exitCaseFailed;
}

static int runSuite(const Options &options) {
  warnOfLoad();
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error)
    return fail("option --out: can't make the folder '" + options.out +
                "': " + error.message());
  Result<bool> isFine = options.suite == "linear" ? runLinearSuite(options)
                                                  : runFormSuite(options);
  if (!isFine)
    return fail(isFine.error().message);
  return *isFine ? 0 : exitCaseFailed;
}

static int runTool(int argc, char **argv) {
  Result<Options> options =
      parseOptions({argv + std::min(argc, 1), argv + argc});
  if (!options)
    return fail(options.error().message + " (--help lists the options)");
  if (options->help) {
    std::fputs(helpText(), stdout);
    return 0;
  }
  if (!options->suite.empty())
    return runSuite(*options);
  if (!options->serve)
    return runBenchmarks(*options);
  Server(options->threads).run(std::cin, std::cout);
  return 0;
}

int main(int argc, char **argv) {
  return attn::runWithStandardOutput("attn-bench",
                                     [&] { return runTool(argc, argv); });
}
