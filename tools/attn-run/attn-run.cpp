// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-run: compiles a file just in time, runs a function of it, and checks or
// times it. Everything of substance is in the runtime and the files beside
// this one.

#include "Benchmark.h"
#include "Bind.h"
#include "NodeTest.h"
#include "Options.h"
#include "Paths.h"
#include "PlotMask.h"
#include "Report.h"
#include "VerifyStages.h"

#include "runtime/Files.h"
#include "tools/StandardOutput.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

using namespace attn;
using namespace attn::run;

static constexpr int exitMismatch = 1;
static constexpr int exitFailure = 2;

static int fail(const Error &error) {
  std::fflush(stdout);
  std::fprintf(stderr, "attn-run: %s\n", error.message.c_str());
  return exitFailure;
}

/// The function that was asked for, or the one that is meant.
static Result<Signature> chooseFunction(const Program &program,
                                        const std::string &asked) {
  std::vector<std::string> names = program.functions();
  if (!asked.empty())
    return program.signature(asked);
  if (names.size() == 1)
    return program.signature(names.front());
  if (std::find(names.begin(), names.end(), "main") != names.end())
    return program.signature("main");
  std::string known;
  for (const std::string &name : names)
    known += (known.empty() ? "" : ", ") + name;
  return Error{ErrorCode::invalidArgument,
               "option --function: expected one of " + known + ", got none"};
}

/// Writes FOLDER/NAME.o and FOLDER/NAME.h, which give functions the prefix
/// NAME.
static int emitObject(const Options &options) {
  std::string stem = stemOf(options.emitFile);
  std::string prefix = stem.substr(stem.rfind('/') + 1);
  for (char &c : prefix)
    c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (std::isdigit(static_cast<unsigned char>(prefix[0])))
    prefix = "_" + prefix;
  Result<AheadModule> module =
      Engine(options.engine).compileAhead(options.file, prefix);
  if (!module)
    return fail(module.error());
  // Both are there before either takes its place, as they belong together.
  Result<OutputFile> object = OutputFile::open(options.emitFile);
  if (!object)
    return fail(object.error());
  Result<OutputFile> header = OutputFile::open(stem + ".h");
  if (!header)
    return fail(header.error());
  for (Result<void> done :
       {object->write({module->object}), header->write({module->header})})
    if (!done)
      return fail(done.error());
  for (OutputFile *file : {&*object, &*header})
    if (Result<void> done = file->commit(); !done)
      return fail(done.error());
  return 0;
}

static int emit(const Options &options) {
  if (options.emit == "obj")
    return emitObject(options);
  Result<std::string> code =
      Engine(options.engine).emitFile(options.file, options.emit);
  if (!code)
    return fail(code.error());
  if (options.emitFile.empty()) {
    std::fwrite(code->data(), 1, code->size(), stdout);
    return 0;
  }
  Result<void> done = writeFile(options.emitFile, {*code});
  return done ? 0 : fail(done.error());
}

/// What the cache did, for those who ask, and what is wrong with it, for those
/// who named a folder.
static void printCacheUse(const Options &options, const CacheUse &use) {
  bool isNamed = !options.engine.cacheDir.value_or("").empty();
  if (!options.engine.remarks && (!isNamed || use.note.empty()))
    return;
  std::fprintf(stderr, "attn-run: remark: cache: %s%s%s\n", name(use.state),
               use.note.empty() ? "" : ": ", use.note.c_str());
}

/// What became of the tiles of a call, as a remark; a device may have none.
static void printTiles(const Program &program, const std::string &function,
                       const std::vector<Value> &inputs) {
  Result<std::array<int64_t, 3>> tiles = program.tiles(function, inputs);
  if (tiles)
    std::fprintf(stderr,
                 "%s: remark: key tiles: %lld skipped, %lld plain, %lld "
                 "masked\n",
                 function.c_str(), static_cast<long long>((*tiles)[0]),
                 static_cast<long long>((*tiles)[1]),
                 static_cast<long long>((*tiles)[2]));
}

static int runFunction(const Options &options, const Program &program) {
  Result<Signature> signature = chooseFunction(program, options.function);
  if (!signature)
    return fail(signature.error());
  Result<std::vector<OwnedValue>> owned =
      makeInputs(*signature, options.inputs, options.seed);
  if (!owned)
    return fail(owned.error());
  std::vector<Value> inputs;
  for (const OwnedValue &value : *owned)
    inputs.push_back(value.value());
  Result<std::vector<Tensor>> results =
      program.call(signature->function, inputs, options.call);
  if (!results)
    return fail(results.error());

  if (options.engine.remarks)
    printTiles(program, signature->function, inputs);
  if (!options.plotMask.empty())
    if (Result<void> done = plotMask(options, program, *signature, inputs);
        !done)
      return fail(done.error());
  bool isQuiet = !options.plotMask.empty() || options.check ||
                 options.verifyStages || options.benchmark > 0 ||
                 !options.outputs.empty() || !options.expected.empty();
  if (!isQuiet)
    printSummary(*signature, *results);
  if (Result<void> done = writeOutputs(options, *signature, *results); !done)
    return fail(done.error());
  Result<Agreement> asExpected = checkExpected(options, *signature, *results);
  if (!asExpected)
    return fail(asExpected.error());
  Result<Agreement> asReference = Agreement::ok;
  if (options.check)
    asReference = checkReference(options, *signature, inputs, *results);
  if (!asReference)
    return fail(asReference.error());
  Result<bool> asEveryStage = true;
  if (options.verifyStages)
    asEveryStage = verifyStages(options, *signature, inputs, *results);
  if (!asEveryStage)
    return fail(asEveryStage.error());
  if (options.benchmark > 0) {
    Result<std::string> json =
        benchmark(options, program, *signature, inputs, *results);
    if (!json)
      return fail(json.error());
    std::printf("%s\n", json->c_str());
  }
  bool isFine = *asExpected == Agreement::ok && *asReference == Agreement::ok &&
                *asEveryStage;
  return isFine ? 0 : exitMismatch;
}

static int runOnnxTest(const Options &options) {
  NodeTestOptions test{options.engine, options.call, options.atol,
                       options.rtol};
  Result<bool> asExpected = runNodeTest(*options.onnxTest, test);
  if (!asExpected)
    return fail(asExpected.error());
  return *asExpected ? 0 : exitMismatch;
}

static int printImported(const std::string &path) {
  Result<std::string> text = importFile(path);
  if (!text)
    return fail(text.error());
  std::fputs(text->c_str(), stdout);
  return 0;
}

static int runTool(int argc, char **argv) {
  Result<Options> options =
      parseOptions({argv + std::min(argc, 1), argv + argc});
  if (!options)
    return fail({options.error().code,
                 options.error().message + " (--help lists the options)"});
  if (options->help) {
    std::fputs(helpText(), stdout);
    return 0;
  }
  if (Result<void> done = checkPaths(*options); !done)
    return fail(done.error());
  if (options->import)
    return printImported(*options->import);
  if (options->onnxTest)
    return runOnnxTest(*options);
  // Code can be looked at for a target that does not run here; remarks come
  // with a program.
  bool hasRemarks = options->engine.remarks || options->engine.explain;
  if (!options->emit.empty() && !hasRemarks)
    return emit(*options);
  Result<Program> program = Engine(options->engine).compileFile(options->file);
  if (!program)
    return fail(program.error());
  if (!program->remarks().empty())
    std::fprintf(stderr, "%s\n", program->remarks().c_str());
  printCacheUse(*options, program->cacheUse());
  return options->emit.empty() ? runFunction(*options, *program)
                               : emit(*options);
}

int main(int argc, char **argv) {
  return runWithStandardOutput("attn-run", [&] { return runTool(argc, argv); });
}
