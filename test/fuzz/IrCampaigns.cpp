// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a source file can hold. See Campaigns.h.

#include "passes/Pipelines.h"
#include "passes/Registration.h"
#include "runtime/Engine.h"
#include "runtime/compile/Source.h"
#include "test/fuzz/Campaigns.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

using namespace attn;
using namespace attn::fuzz;

/// Every .mlir file of the corpus and of the examples, without its comments,
/// which mutations would be wasted on.
static Corpus irCorpus() {
  Corpus c;
  std::vector<std::filesystem::path> paths;
  for (const char *folder : {"/test/fuzz/corpus/ir", "/examples/ir"})
    for (const auto &entry : std::filesystem::recursive_directory_iterator(
             std::string(ATTN_SOURCE_DIR) + folder))
      if (entry.path().extension() == ".mlir")
        paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const std::filesystem::path &path : paths) {
    std::ifstream file(path);
    std::string text;
    for (std::string line; std::getline(file, line);)
      if (line.find("//") == std::string::npos)
        text += line + "\n";
    c.inputs.push_back(text);
  }
  c.dictionary = {
      "permutation = [1 0]",
      "permutation = [x]",
      "permutation =",
      "dimensions = [1 0]",
      "dimensions = 1",
      "dimensions = [99999999999999999999]",
      "f32",
      "bf16",
      "f16",
      "f64",
      "i1",
      "i8",
      "i32",
      "i64",
      "i1000000",
      "index",
      "none",
      "?",
      "x",
      "tensor",
      "vector",
      "memref",
      "attn.gqa",
      "attn.softmax",
      "attn.yield",
      "attn.online_softmax",
      "#attn.causal",
      "#attn.window",
      "top_left",
      "bottom_right",
      "scale",
      "softcap",
      "offset",
      "lengths",
      "prefix",
      "alibi",
      "bias",
      "select",
      "sinks",
      "query_starts",
      "key_starts",
      "attn.merge",
      "attn.linear",
      "attn.feature_map",
      "attn.random_features",
      "attn.favor",
      "decay",
      "beta",
      "transition",
      "bonus",
      "state",
      "feature",
      "normalize",
      "block",
      "causal",
      "projection",
      "log",
      "map",
      "seed",
      "orthogonal",
      "norms",
      "kind",
      "token",
      "positive",
      "#attn.elu1",
      "#attn.relu",
      "#attn.relu2",
      "#attn.hedgehog",
      "#attn.taylor2",
      "#attn.cosformer",
      "#attn.softmax_features",
      "#attn.softmax_positions",
      "#attn.hyperbolic",
      "#attn.trigonometric",
      "#attn.bigbird",
      "#attn.prefix",
      "key_offset",
      "random_blocks",
      "last",
      "score",
      "keep",
      "mask",
      "left",
      "right",
      "arith.addi",
      "arith.subi",
      "arith.muli",
      "arith.divsi",
      "arith.divui",
      "arith.floordivsi",
      "arith.ceildivsi",
      "arith.remsi",
      "arith.remui",
      "arith.shli",
      "arith.shrsi",
      "arith.shrui",
      "arith.andi",
      "arith.ori",
      "arith.xori",
      "arith.minsi",
      "arith.maxsi",
      "arith.minui",
      "arith.maxui",
      "arith.addf",
      "arith.subf",
      "arith.mulf",
      "arith.divf",
      "arith.remf",
      "arith.maximumf",
      "arith.minimumf",
      "arith.maxnumf",
      "arith.minnumf",
      "arith.negf",
      "math.exp",
      "math.exp2",
      "math.log",
      "math.tanh",
      "math.sqrt",
      "math.absf",
      "math.absi",
      "math.powf",
      "math.sin",
      "arith.extsi",
      "arith.extui",
      "arith.trunci",
      "arith.sitofp",
      "arith.uitofp",
      "arith.fptosi",
      "arith.index_cast",
      "arith.index_castui",
      "eq",
      "ne",
      "slt",
      "sle",
      "ult",
      "uge",
      "sgt",
      "sge",
      "%q",
      "%k",
      "%v",
      "%i",
      "%j",
      "%h",
      "%b",
      "%s",
      "true",
      "false",
      "dense",
      "tensor.dim",
      "tensor.extract",
      "func.func",
      "return",
      "private",
      "unit",
      "inf",
  };
  return c;
}

namespace {
/// A context renewed so that it does not grow.
class Parser {
public:
  Parser() { mlir::attn::registerAttn(registry); }

  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
    if (!context || ++uses > 100) {
      context = std::make_unique<mlir::MLIRContext>(
          registry, mlir::MLIRContext::Threading::DISABLED);
      uses = 0;
    }
    return mlir::parseSourceString<mlir::ModuleOp>(
        text, mlir::ParserConfig(context.get()));
  }

  mlir::MLIRContext *get() { return context.get(); }

private:
  mlir::DialectRegistry registry;
  std::unique_ptr<mlir::MLIRContext> context;
  int uses = 0;
};

Parser &parser() {
  static Parser instance;
  return instance;
}
} // namespace

static NamedCampaign onIr(const std::string &name) {
  NamedCampaign named;
  named.name = name;
  named.corpus = irCorpus();
  named.mutate = mutateText;
  return named;
}

NamedCampaign attn::fuzz::irCampaign() {
  NamedCampaign named = onIr("ir");
  named.campaign.count = 100000;
  named.consume = [](const std::string &text) {
    // MLIR's own parser crashes on these; the engine refuses them first.
    if (findParserFault(text))
      return false;
    mlir::OwningOpRef<mlir::ModuleOp> module = parser().parse(text);
    if (!module)
      return false;
    mlir::PassManager manager(parser().get());
    mlir::attn::PipelineOptions options;
    options.target = std::string("cpu:generic");
    mlir::attn::buildSource(manager, options);
    mlir::attn::buildRewrite(manager, options);
    return mlir::succeeded(manager.run(*module));
  };
  return named;
}

/// Compiles the inputs that parse; the others cost next to nothing.
static NamedCampaign compileOn(const std::string &name, EngineOptions options) {
  // The compiler is what is tested.
  options.cacheDir = "";
  NamedCampaign named = onIr(name);
  named.campaign.count = 5000;
  named.campaign.perChild = 300;
  named.consume = [options](const std::string &text) {
    if (findParserFault(text) || !parser().parse(text))
      return false;
    // An engine keeps its programs, so each input has its own.
    return Engine(options).compileText(text).ok();
  };
  return named;
}

NamedCampaign attn::fuzz::compileCampaign() {
  EngineOptions options;
  options.target = "cpu:generic";
  return compileOn("compile", options);
}

NamedCampaign attn::fuzz::referenceCampaign() {
  EngineOptions options;
  options.device = "reference";
  return compileOn("reference", options);
}

NamedCampaign attn::fuzz::pipelineCampaign() {
  NamedCampaign named;
  named.name = "pipeline";
  named.corpus = {{"target=cpu:avx2", "target=host dump=x count-tiles=true",
                   "count-tiles=false target={cpu:generic}"},
                  {"target", "dump", "count-tiles", "cpu:avx512bf16",
                   "cpu:", "cuda:sm_80", "host", "true", "false", "{", "}",
                   "\"", "'", "=", ",", " "}};
  named.mutate = mutateBinary;
  named.campaign.count = 20000;
  named.consume = [](const std::string &text) {
    mlir::attn::PipelineOptions options;
    std::string discarded;
    llvm::raw_string_ostream errors(discarded);
    return mlir::succeeded(options.parseFromString(text, errors));
  };
  return named;
}
