// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of options, and the parser over it.

#include "Options.h"

#include "tools/plot/Drawing.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace attn::bench {

static constexpr int maxThreads = 1024;
static constexpr int maxRuns = 10000;
static constexpr int minN = 256, maxN = 1 << 20;
static constexpr int minM = 16, maxM = 1 << 16;

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
       std::string why = plot::whyNoPicture(value);
       return why.empty() ? Result<void>()
                          : Error{ErrorCode::invalidArgument, why};
     }},
    {"--suite", true, false,
     [](Options &o, const std::string &value) {
       o.suite = value;
       if (value == "linear" || value == "linear-forms")
         return Result<void>();
       return Result<void>(
           Error{ErrorCode::invalidArgument,
                 "expected linear or linear-forms, got '" + value + "'"});
     }},
    {"--out", true, false,
     [](Options &o, const std::string &value) {
       o.out = value;
       return Result<void>();
     }},
    {"--max-n", true, false,
     [](Options &o, const std::string &value) {
       return parseInteger(value, minN, maxN, o.maxN);
     }},
    {"--max-m", true, false,
     [](Options &o, const std::string &value) {
       return parseInteger(value, minM, maxM, o.maxM);
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

/// What goes together, and what must be there.
static Result<void> checkTogether(const Options &options,
                                  const std::set<std::string> &seen) {
  auto refuse = [&](const char *option,
                    std::initializer_list<const char *> others) {
    for (const char *other : others)
      if (seen.count(option) && seen.count(other))
        return Result<void>(Error{ErrorCode::invalidArgument,
                                  std::string("option ") + option +
                                      ": expected no " + other + " beside it"});
    return Result<void>();
  };
  if (Result<void> done = refuse("--serve", {"--cases", "--filter", "--runs",
                                             "--json", "--plot", "--suite"});
      !done)
    return done;
  if (Result<void> done =
          refuse("--suite", {"--cases", "--filter", "--json", "--plot"});
      !done)
    return done;
  for (const char *name : {"--out", "--max-n", "--max-m"})
    if (seen.count(name) && options.suite.empty())
      return Error{ErrorCode::invalidArgument, std::string("option ") + name +
                                                   ": expected --suite beside "
                                                   "it, got none"};
  if (!options.suite.empty() && options.out.empty())
    return Error{ErrorCode::invalidArgument,
                 "option --suite: expected --out=DIR beside it, got none"};
  if (!options.serve && options.suite.empty() && options.caseFiles.empty())
    return Error{ErrorCode::invalidArgument, "expected --cases=FILE, got none"};
  return {};
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
  if (Result<void> done = checkTogether(options, seen); !done)
    return done.error();
  return options;
}

const char *helpText() {
  return R"(usage: attn-bench --cases=FILE... [options]
       attn-bench --suite=NAME --out=DIR [options]
       attn-bench --serve [--threads=N]

Times attention and compares it with peaks of this machine that are measured
between the runs. Cases of a group take turns.

  --cases=FILE    the cases, one per line; may be given several times
  --filter=REGEX  only cases whose name has a match
  --threads=N     threads of cases that name none; 0 (default) is what
                  OMP_NUM_THREADS says, or one per CPU that may be used
  --runs=N        turns per case (5); figures are medians over them
  --json=FILE     write every turn as Google Benchmark's JSON
  --plot=FILE     write a bar chart of the shares of the peak as SVG
  --suite=linear  two plots of the linear family with their numbers, as
                  linear-time and linear-error, .svg and .csv: time against
                  the length of the sequence, of softmax, linear attention and
                  FAVOR+; error of the random features against their number,
                  beside the closed form
  --suite=linear-forms
                  whether the form of causal linear attention that the
                  compiler chooses is the fastest one, as linear-forms.csv;
                  exit status 1 where it takes 20 % more than the fastest
  --out=DIR       the folder for the files of a suite; made where there is none
  --max-n=N       sequences of a suite up to this length (16384)
  --max-m=N       random features of a suite up to this number (1024)
  --serve         take commands from standard input, for programs that
                  alternate with others: 'case LINE' prepares a case,
                  'write FOLDER' writes its tensors as q.npy, k.npy, v.npy,
                  o.npy and, with such clauses, decay.npy, state.npy and
                  final_state.npy, 'run' takes a turn; each is answered by a
                  line of JSON

columns of the table
  ms          time of a call
  ratio       to the first case of the group
  GFLOP/s     2 B Hq Sq Sk (Dk + Dv) operations, whatever a mask leaves out;
              of the linear family those of chunks
  kept        the same for the pairs of query and key that the mask keeps; of
              the linear family the 4 Dk Dv per token of the recurrence
  GB/s        where reading is the bound: queries, output, and the keys and
              values that any query sees, once each; of the linear family
              all operands and results, with the states
  of peak     share of the bound: kept operations over the peak of the fastest
              instruction for the type, or bytes over the rate of reading
  peak        that peak, in GFLOP/s with the instruction, or in GB/s
  compile ms  first compilation of the case, from text to callable code

exit status: 0 fine, 1 a case failed, 2 anything else
)";
}

} // namespace attn::bench
