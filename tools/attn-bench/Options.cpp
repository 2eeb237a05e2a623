// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of options, and the parser over it.

#include "Options.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace attn::bench {

static constexpr int maxThreads = 1024;
static constexpr int maxRuns = 10000;

static Result<void> parseInteger(const std::string &text, int low, int high,
                                 int &number) {
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < low || number > high)
    return Error{ErrorCode::invalidArgument,
                 "expected an integer from " + std::to_string(low) + " to " +
                     std::to_string(high) + ", got '" + text + "'"};
  return {};
}

namespace {
struct Option {
  const char *name;
  bool hasValue;
  bool isRepeatable;
  Result<void> (*apply)(Options &, const std::string &value);
};
} // namespace

static const Option table[] = {
    {"--cases", true, true,
     [](Options &o, const std::string &value) {
       o.caseFiles.push_back(value);
       return Result<void>();
     }},
    {"--filter", true, false,
     [](Options &o, const std::string &value) {
       o.filter = value;
       return Result<void>();
     }},
    {"--threads", true, false,
     [](Options &o, const std::string &value) {
       return parseInteger(value, 0, maxThreads, o.threads);
     }},
    {"--runs", true, false,
     [](Options &o, const std::string &value) {
       return parseInteger(value, 1, maxRuns, o.runs);
     }},
    {"--json", true, false,
     [](Options &o, const std::string &value) {
       o.jsonFile = value;
       return Result<void>();
     }},
    {"--plot", true, false,
     [](Options &o, const std::string &value) {
       o.plotFile = value;
       return Result<void>();
     }},
    {"--serve", false, false,
     [](Options &o, const std::string &) {
       o.serve = true;
       return Result<void>();
     }},
    {"--help", false, false,
     [](Options &o, const std::string &) {
       o.help = true;
       return Result<void>();
     }},
};

static std::string allNames() {
  std::string names;
  for (const Option &option : table)
    names += std::string(names.empty() ? "" : ", ") + option.name;
  return names;
}

Result<Options> parseOptions(const std::vector<std::string> &arguments) {
  Options options;
  std::set<std::string> seen;
  for (const std::string &argument : arguments) {
    auto fail = [](const std::string &message) {
      return Error{ErrorCode::invalidArgument, message};
    };
    size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    bool hasValue = equals != std::string::npos;
    std::string value = hasValue ? argument.substr(equals + 1) : "";
    const Option *option =
        std::find_if(std::begin(table), std::end(table),
                     [&](const Option &o) { return name == o.name; });
    if (option == std::end(table))
      return fail("unknown argument '" + name + "': expected one of " +
                  allNames());
    if (!option->hasValue && hasValue)
      return fail("option " + name + ": expected no value, got '" + value +
                  "'");
    if (option->hasValue && value.empty())
      return fail("option " + name + ": expected a value, as in " + name +
                  "=VALUE");
    if (!seen.insert(name).second && !option->isRepeatable)
      return fail("option " + name + ": expected once, got it twice");
    if (Result<void> done = option->apply(options, value); !done)
      return fail("option " + name + ": " + done.error().message);
  }
  if (options.help)
    return options;
  if (options.serve) {
    for (const char *name :
         {"--cases", "--filter", "--runs", "--json", "--plot"})
      if (seen.count(name))
        return Error{ErrorCode::invalidArgument,
                     std::string("option --serve: expected no ") + name +
                         " beside it"};
  } else if (options.caseFiles.empty()) {
    return Error{ErrorCode::invalidArgument, "expected --cases=FILE, got none"};
  }
  return options;
}

const char *helpText() {
  return R"(usage: attn-bench --cases=FILE... [options]
       attn-bench --serve [--threads=N]

Times attention and compares it with peaks of this machine that are measured
between the runs. Cases of a group take turns.

  --cases=FILE    the cases, one per line; may be given several times
  --filter=REGEX  only cases whose name has a match
  --threads=N     threads of cases that name none; 0 (default) is one per core
  --runs=N        turns per case (5); figures are medians over them
  --json=FILE     write every turn as Google Benchmark's JSON
  --plot=FILE     write a bar chart of the shares of the peak as SVG
  --serve         take commands from standard input, for programs that
                  alternate with others: 'case LINE' prepares a case,
                  'write FOLDER' writes its tensors as q.npy, k.npy, v.npy and
                  o.npy, 'run' takes a turn; each is answered by a line of JSON

columns of the table
  ms          time of a call
  ratio       to the first case of the group
  GFLOP/s     2 B Hq Sq Sk (Dk + Dv) operations, whatever a mask leaves out
  kept        the same for the pairs of query and key that the mask keeps
  GB/s        where reading is the bound: queries, output, and the keys and
              values that any query sees, once each
  of peak     share of the bound: kept operations over the peak of the fastest
              instruction for the type, or bytes over the rate of reading
  peak        that peak, in GFLOP/s with the instruction, or in GB/s
  compile ms  first compilation of the case, from text to callable code

exit status: 0 fine, 1 a case failed, 2 anything else
)";
}

} // namespace attn::bench
