// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of options, and the parser over it.

#include "Options.h"

#include "tools/plot/Drawing.h"

#include <charconv>
#include <functional>
#include <set>

namespace attn::run {

static constexpr int64_t maxBenchmark = 1000000;
static constexpr int64_t defaultBenchmark = 20;

static Error optionError(const std::string &option, const std::string &what) {
  return Error{ErrorCode::invalidArgument, "option " + option + ": " + what};
}

template <class T>
static Result<void> parseNumber(const std::string &option,
                                const std::string &text, T low, T high,
                                T &number) {
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, number);
  // Not "number < low": NaN must fail.
  if (error != std::errc() || stop != end || !(number >= low) ||
      !(number <= high)) {
    std::string range = "a number";
    if constexpr (std::is_integral_v<T>)
      range = "an integer from " + std::to_string(low) + " to " +
              std::to_string(high);
    else
      range = "a number that is not negative";
    return optionError(option, "expected " + range + ", got '" + text + "'");
  }
  return {};
}

namespace {
/// Whether an option is followed by "=value".
enum class Takes { nothing, value, optionalValue };

struct Option {
  const char *name;
  Takes takes;
  bool isRepeatable;
  std::function<Result<void>(Options &, const std::string &name,
                             const std::string &value)>
      apply;
};
} // namespace

/// An option whose value is stored as it is.
static Option text(const char *name, std::string &(*target)(Options &)) {
  return {name, Takes::value, false,
          [target](Options &options, const std::string &,
                   const std::string &value) -> Result<void> {
            target(options) = value;
            return {};
          }};
}

/// An option that says what to do with a file, its value or the one beside it.
static Option file(const char *name,
                   std::optional<std::string> &(*target)(Options &)) {
  return {name, Takes::optionalValue, false,
          [target](Options &options, const std::string &,
                   const std::string &value) -> Result<void> {
            target(options) = value;
            return {};
          }};
}

/// A repeatable option whose value is a specification.
template <class Spec>
static Option spec(const char *name, Result<Spec> (*parse)(std::string_view),
                   std::vector<Spec> &(*target)(Options &)) {
  return {name, Takes::value, true,
          [parse, target](Options &options, const std::string &name,
                          const std::string &value) -> Result<void> {
            Result<Spec> parsed = parse(value);
            if (!parsed)
              return optionError(name, parsed.error().message);
            target(options).push_back(*parsed);
            return {};
          }};
}

static Option tolerance(const char *name,
                        std::optional<double> &(*target)(Options &)) {
  return {name, Takes::value, false,
          [target](Options &options, const std::string &name,
                   const std::string &value) -> Result<void> {
            double number = 0;
            Result<void> done = parseNumber(name, value, 0.0, 1e300, number);
            target(options) = number;
            return done;
          }};
}

/// An option whose value is one of `values`.
static Option choice(const char *name, std::vector<std::string> values,
                     std::string &(*target)(Options &)) {
  return {name, Takes::value, false,
          [values, target](Options &options, const std::string &name,
                           const std::string &value) -> Result<void> {
            std::string names;
            for (const std::string &known : values) {
              if (value == known) {
                target(options) = value;
                return {};
              }
              bool isLast = known == values.back();
              names += (names.empty() ? "" : isLast ? " or " : ", ") + known;
            }
            return optionError(name,
                               "expected " + names + ", got '" + value + "'");
          }};
}

static Option flag(const char *name, bool &(*target)(Options &)) {
  return {name, Takes::nothing, false,
          [target](Options &options, const std::string &,
                   const std::string &) -> Result<void> {
            target(options) = true;
            return {};
          }};
}

static Result<void> setEmit(Options &options, const std::string &name,
                            const std::string &value) {
  if (value != "llvm" && value != "asm" && value != "obj")
    return optionError(name, "expected llvm, asm or obj, got '" + value + "'");
  options.emit = value;
  return {};
}

static Result<void> setBenchmark(Options &options, const std::string &name,
                                 const std::string &value) {
  options.benchmark = defaultBenchmark;
  if (value.empty())
    return {};
  return parseNumber<int64_t>(name, value, 1, maxBenchmark, options.benchmark);
}

static Result<void> setSeed(Options &options, const std::string &name,
                            const std::string &value) {
  return parseNumber<uint64_t>(name, value, 0, UINT64_MAX, options.seed);
}

static Result<void> setThreads(Options &options, const std::string &name,
                               const std::string &value) {
  return parseNumber<int>(name, value, 0, 1024, options.call.threads);
}

static Result<void> setLinearChunk(Options &options, const std::string &name,
                                   const std::string &value) {
  return parseNumber<int64_t>(name, value, 0, 65536,
                              options.engine.linearChunk);
}

static Result<void> setCacheDir(Options &options, const std::string &,
                                const std::string &value) {
  options.engine.cacheDir = value;
  return {};
}

/// A number that says which attention, batch or head is to be seen.
static Result<void> setPlace(const std::string &name, const std::string &value,
                             int64_t &number) {
  return parseNumber<int64_t>(name, value, 0, INT64_MAX, number);
}

static Result<void> setPlotAttention(Options &options, const std::string &name,
                                     const std::string &value) {
  return setPlace(name, value, options.plotPlace.attention);
}

static Result<void> setPlotBatch(Options &options, const std::string &name,
                                 const std::string &value) {
  return setPlace(name, value, options.plotPlace.batch);
}

static Result<void> setPlotHead(Options &options, const std::string &name,
                                const std::string &value) {
  return setPlace(name, value, options.plotPlace.head);
}

static const std::vector<Option> &table() {
  static const std::vector<Option> options = {
      text("--function", [](Options &o) -> auto & { return o.function; }),
      text("--device", [](Options &o) -> auto & { return o.engine.device; }),
      text("--target", [](Options &o) -> auto & { return o.engine.target; }),
      text("--dump", [](Options &o) -> auto & { return o.engine.dumpDir; }),
      file("--onnx-test", [](Options &o) -> auto & { return o.onnxTest; }),
      file("--import", [](Options &o) -> auto & { return o.import; }),
      spec(
          "--input", parseInputSpec,
          +[](Options &o) -> auto & { return o.inputs; }),
      spec(
          "--output", parseOutputSpec,
          +[](Options &o) -> auto & { return o.outputs; }),
      spec(
          "--expect", parseInputSpec,
          +[](Options &o) -> auto & { return o.expected; }),
      flag("--check", [](Options &o) -> auto & { return o.check; }),
      flag("--verify-stages",
           [](Options &o) -> auto & { return o.verifyStages; }),
      tolerance("--atol", [](Options &o) -> auto & { return o.atol; }),
      tolerance("--rtol", [](Options &o) -> auto & { return o.rtol; }),
      text("--plot-mask", [](Options &o) -> auto & { return o.plotMask; }),
      {"--plot-attention", Takes::value, false, setPlotAttention},
      {"--plot-batch", Takes::value, false, setPlotBatch},
      {"--plot-head", Takes::value, false, setPlotHead},
      {"--benchmark", Takes::optionalValue, false, setBenchmark},
      {"--seed", Takes::value, false, setSeed},
      {"--threads", Takes::value, false, setThreads},
      {"--emit", Takes::value, false, setEmit},
      flag("--exact", [](Options &o) -> auto & { return o.engine.exact; }),
      text("--favor", [](Options &o) -> auto & { return o.engine.favor; }),
      choice("--reassociate", {"auto", "always", "never"},
             [](Options &o) -> auto & { return o.engine.reassociate; }),
      choice("--linear-form", {"auto", "quadratic", "chunk", "recurrent"},
             [](Options &o) -> auto & { return o.engine.linearForm; }),
      {"--linear-chunk", Takes::value, false, setLinearChunk},
      flag("--explain", [](Options &o) -> auto & { return o.engine.explain; }),
      flag("--remarks", [](Options &o) -> auto & { return o.engine.remarks; }),
      {"--cache-dir", Takes::value, false, setCacheDir},
      flag("--no-cache", [](Options &o) -> auto & { return o.noCache; }),
      flag("--help", [](Options &o) -> auto & { return o.help; }),
  };
  return options;
}

static std::string allNames() {
  std::string names;
  for (const Option &option : table())
    names += std::string(option.name) + ", ";
  return names + "-o";
}

static Result<void> applyOption(const std::string &argument,
                                std::set<std::string> &seen, Options &options) {
  size_t equals = argument.find('=');
  std::string name = argument.substr(0, equals);
  bool hasValue = equals != std::string::npos;
  std::string value = hasValue ? argument.substr(equals + 1) : "";
  for (const Option &option : table()) {
    if (name != option.name)
      continue;
    if (option.takes == Takes::nothing && hasValue)
      return optionError(name, "expected no value, got '" + value + "'");
    if (option.takes == Takes::value && !hasValue)
      return optionError(name, "expected a value, as in " + name + "=VALUE");
    if (option.takes != Takes::nothing && hasValue && value.empty())
      return optionError(name, "expected a value after '='");
    if (!seen.insert(name).second && !option.isRepeatable)
      return optionError(name, "expected once, got it twice");
    return option.apply(options, name, value);
  }
  return Error{ErrorCode::invalidArgument,
               "unknown option '" + name + "': expected one of " + allNames()};
}

/// NAME.o in some folder, beside which there will be NAME.h.
static bool isObjectFile(const std::string &path) {
  std::string name = path.substr(path.rfind('/') + 1);
  return name.size() > 2 && name.substr(name.size() - 2) == ".o";
}

/// What runs or reads ONNX instead of IR takes the options that have a meaning
/// there.
static Result<void> checkOnnx(const Options &options,
                              const std::set<std::string> &seen) {
  bool isTest = options.onnxTest.has_value();
  const char *name = isTest ? "--onnx-test" : "--import";
  std::set<std::string> fitting = {name};
  if (isTest)
    fitting.insert({"--device", "--target", "--threads", "--atol", "--rtol",
                    "--exact", "--reassociate", "--linear-form",
                    "--linear-chunk", "--dump", "--cache-dir", "--no-cache"});
  for (const std::string &other : seen)
    if (!fitting.count(other))
      return optionError(other,
                         std::string("expected no ") + name + " beside it");
  if (!options.emitFile.empty())
    return optionError("-o", std::string("expected no ") + name + " beside it");
  bool hasValue = !(isTest ? options.onnxTest : options.import)->empty();
  if (hasValue == !options.file.empty())
    return optionError(name, hasValue ? "expected one file, got '" +
                                            options.file + "' beside it"
                                      : "expected a file, got none");
  return {};
}

/// Combinations that can't be served.
static Result<void> checkCombination(const Options &options,
                                     const std::set<std::string> &seen) {
  if (options.help)
    return {};
  if (options.noCache && options.engine.cacheDir)
    return optionError("--no-cache", "expected no --cache-dir beside it");
  if (options.onnxTest || options.import)
    return checkOnnx(options, seen);
  if (options.file.empty())
    return Error{ErrorCode::invalidArgument, "expected a file, got none"};
  if (!options.emitFile.empty() && options.emit.empty())
    return optionError("-o", "expected --emit beside it");
  if (options.emit == "obj" && !isObjectFile(options.emitFile))
    return optionError(
        "--emit",
        "expected -o NAME.o beside obj, got " +
            (options.emitFile.empty() ? "none" : "'" + options.emitFile + "'"));
  if ((options.atol || options.rtol) && !options.check &&
      !options.verifyStages && options.expected.empty())
    return optionError(options.atol ? "--atol" : "--rtol",
                       "expected --check, --verify-stages or --expect beside "
                       "it");
  bool hasPlace = options.plotPlace.attention != 0 ||
                  options.plotPlace.batch != 0 || options.plotPlace.head != 0;
  if (options.plotMask.empty() && hasPlace)
    return optionError("--plot-head, --plot-batch or --plot-attention",
                       "expected --plot-mask beside it");
  if (std::string why = plot::whyNoPicture(options.plotMask); !why.empty())
    return optionError("--plot-mask", why);
  if (!options.plotMask.empty() && options.engine.device != "cpu")
    return optionError("--plot-mask",
                       "expected device cpu, got " + options.engine.device);
  if (options.verifyStages && options.engine.device != "cpu")
    return optionError("--verify-stages",
                       "expected device cpu, got " + options.engine.device);
  return {};
}

Result<Options> parseOptions(const std::vector<std::string> &arguments) {
  Options options;
  std::set<std::string> seen;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (argument == "-o") {
      if (++i == arguments.size() || !options.emitFile.empty())
        return optionError("-o", "expected one file");
      options.emitFile = arguments[i];
    } else if (!argument.empty() && argument[0] == '-') {
      if (Result<void> done = applyOption(argument, seen, options); !done)
        return done.error();
    } else if (!options.file.empty()) {
      return Error{ErrorCode::invalidArgument, "expected one file, got '" +
                                                   options.file + "' and '" +
                                                   argument + "'"};
    } else {
      options.file = argument;
    }
  }
  if (Result<void> done = checkCombination(options, seen); !done)
    return done.error();
  if (options.noCache)
    options.engine.cacheDir = "";
  for (std::optional<std::string> *path : {&options.onnxTest, &options.import})
    if (*path && (*path)->empty())
      *path = options.file;
  return options;
}

const char *helpText() {
  return R"(usage: attn-run FILE.mlir [options]
       attn-run --onnx-test DIR [options]
       attn-run --import FILE.onnx

Compiles a file just in time and runs one of its functions; or runs a node test
of ONNX, DIR/model.onnx on every DIR/test_data_set_N; or prints the IR of the
attention in a model.

  --function=NAME     the function to run; the only public one, or main
  --device=DEVICE     cpu, or reference (the plain lowering in f64)
  --target=TARGET     host, cpu:generic, cpu:avx2, cpu:avx512,
                      cpu:avx512bf16 or cpu:amx
  --input=SPEC        an argument, by name or in order
  --output=SPEC       [name=]- (text) or [name=]@file.npy, for a result
  --expect=SPEC       what a result should be; else exit with 1
  --check             compare with the reference device; else exit with 1
  --verify-stages     the same after every stage, and name the first that
                      changes a result
  --atol=X --rtol=X   --expect: |got - expected| <= atol + rtol |expected|;
                      --onnx-test: the same, by default 1e-7 and 1e-3 (bf16:
                      2^-6);
                      the others: bounds on log-sum-exp (absolute) and on the
                      others (relative root mean square)
  --benchmark[=N]     time N runs (20) and print one line of JSON
  --seed=N            of random inputs (0)
  --threads=N         threads of a call; 0 (default) is what OMP_NUM_THREADS
                      says, or one per CPU that may be used
  --emit=KIND         instead of running, print llvm or asm (or -o FILE), or
                      with -o NAME.o write obj, an object file to link, and
                      NAME.h, which declares its functions for C and C++
  --exact             the exponential of f32 for bf16, too
  --favor=FORM        exact, or textbook: attn.favor with the stabiliser that it
                      was published with
  --reassociate=MODE  whether (A B) C may become A (B C), which changes
                      rounding: auto (where it costs less), always or never
  --linear-form=FORM  how attn.linear is computed: auto, quadratic, chunk or
                      recurrent
  --linear-chunk=N    tokens of a chunk of attn.linear; 0 leaves them to the
                      compiler
  --plot-mask=FILE    draw the tiles of a mask as SVG: which are skipped, run
                      without mask code and with it; small ones with elements.
                      --plot-attention=N, --plot-batch=N, --plot-head=N say of
                      which attention of the function and which head (0)
  --dump=DIR          write the IR after every stage into a folder
  --explain           print why patterns and passes left operations as they are
  --remarks           print what the passes remark and what the cache did
  --cache-dir=DIR     where compiled code is kept; else $ATTN_CACHE_DIR,
                      $XDG_CACHE_HOME/attn or ~/.cache/attn
  --no-cache          compile and keep nothing; so does ATTN_CACHE_DIR=

SPEC is one of
  [name=]@file.npy  [name=]4x8x64xbf16=VALUES  [name=]index=5  [name=]f32=0.5
VALUES is one of
  1,2,3,4 (row major)  7 (all the same)  normal(mean,deviation)
  uniform(low,high)  iota  iota(start,step)  @file.npy  @file.bin (bare)
Arguments without a SPEC are normal(0,1) for floats, 0 for integers and true
for i1, if their shape is static.

exit status: 0 fine, 1 a result is not as expected, 2 anything else
)";
}

} // namespace attn::run
