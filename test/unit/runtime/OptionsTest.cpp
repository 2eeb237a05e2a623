// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of attn-run, and the binding of values to arguments.

#include "tools/attn-run/Options.h"
#include "tools/attn-run/Bind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;
using namespace attn::run;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

std::string errorOf(const std::vector<std::string> &arguments) {
  Result<Options> options = parseOptions(arguments);
  return options ? "" : options.error().message;
}

TEST(Options, defaults) {
  Result<Options> options = parseOptions({"a.mlir"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->file, "a.mlir");
  EXPECT_EQ(options->engine.device, "cpu");
  EXPECT_EQ(options->engine.target, "host");
  EXPECT_EQ(options->benchmark, 0);
  EXPECT_EQ(options->seed, 0u);
  EXPECT_FALSE(options->check);
}

TEST(Options, everything_in_any_order) {
  Result<Options> options = parseOptions(
      {"--seed=7", "--input=q=2xf32=1,2", "a.mlir", "--input=index=5",
       "--function=f", "--device=reference", "--target=cpu:avx2", "--check",
       "--expect=2xf32=1", "--output=-", "--atol=1e-3", "--rtol=0",
       "--benchmark=3", "--threads=2", "--dump=d", "--remarks",
       "--reassociate=always", "--linear-form=chunk", "--linear-chunk=16"});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->seed, 7u);
  ASSERT_EQ(options->inputs.size(), 2u);
  EXPECT_EQ(options->inputs[0].name, "q");
  EXPECT_EQ(options->function, "f");
  EXPECT_EQ(options->engine.device, "reference");
  EXPECT_EQ(options->engine.target, "cpu:avx2");
  EXPECT_EQ(options->engine.dumpDir, "d");
  EXPECT_TRUE(options->engine.remarks);
  EXPECT_TRUE(options->check);
  EXPECT_EQ(options->atol, 1e-3);
  EXPECT_EQ(options->rtol, 0);
  EXPECT_EQ(options->benchmark, 3);
  EXPECT_EQ(options->call.threads, 2);
  EXPECT_EQ(options->engine.reassociate, "always");
  EXPECT_EQ(options->engine.linearForm, "chunk");
  EXPECT_EQ(options->engine.linearChunk, 16);
}

TEST(Options, choices_name_what_there_is) {
  EXPECT_EQ(errorOf({"a.mlir", "--reassociate=yes"}),
            "option --reassociate: expected auto, always or never, got 'yes'");
  EXPECT_EQ(errorOf({"a.mlir", "--linear-form=fast"}),
            "option --linear-form: expected auto, quadratic, chunk or "
            "recurrent, got 'fast'");
  EXPECT_EQ(errorOf({"a.mlir", "--linear-chunk=-1"}),
            "option --linear-chunk: expected an integer from 0 to 65536, got "
            "'-1'");
}

TEST(Options, optional_values) {
  EXPECT_EQ(parseOptions({"a", "--benchmark"})->benchmark, 20);
  EXPECT_TRUE(parseOptions({"--help"})->help);
  Result<Options> options = parseOptions({"a", "--emit=obj", "-o", "b.o"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->emitFile, "b.o");
}

TEST(Options, where_compiled_code_is_kept) {
  EXPECT_EQ(parseOptions({"a"})->engine.cacheDir, std::nullopt);
  EXPECT_EQ(parseOptions({"a", "--cache-dir=d"})->engine.cacheDir, "d");
  EXPECT_EQ(parseOptions({"a", "--no-cache"})->engine.cacheDir, "");
  for (auto arguments :
       {std::vector<std::string>{"a", "--no-cache", "--cache-dir=d"},
        std::vector<std::string>{"a", "--cache-dir=d", "--no-cache"}})
    EXPECT_EQ(errorOf(arguments),
              "option --no-cache: expected no --cache-dir beside it");
  EXPECT_EQ(errorOf({"a", "--cache-dir="}),
            "option --cache-dir: expected a value after '='");
}

TEST(Options, errors_name_the_option_and_what_is_allowed) {
  EXPECT_EQ(errorOf({}), "expected a file, got none");
  EXPECT_EQ(errorOf({"a", "b"}), "expected one file, got 'a' and 'b'");
  EXPECT_THAT(errorOf({"a", "--speed"}),
              HasSubstr("unknown option '--speed': expected one of --function, "
                        "--device"));
  EXPECT_THAT(errorOf({"a", "-x"}), HasSubstr("unknown option '-x'"));
  EXPECT_EQ(errorOf({"a", "--function"}),
            "option --function: expected a value, as in --function=VALUE");
  EXPECT_EQ(errorOf({"a", "--function="}),
            "option --function: expected a value after '='");
  EXPECT_EQ(errorOf({"a", "--check=1"}),
            "option --check: expected no value, got '1'");
  EXPECT_EQ(errorOf({"a", "--seed=1", "--seed=2"}),
            "option --seed: expected once, got it twice");
  EXPECT_EQ(errorOf({"a", "--benchmark=0"}),
            "option --benchmark: expected an integer from 1 to 1000000, got "
            "'0'");
  EXPECT_THAT(errorOf({"a", "--seed=-1"}),
              HasSubstr("an integer from 0 to 18446744073709551615, got '-1'"));
  EXPECT_THAT(errorOf({"a", "--threads=2x"}), HasSubstr("got '2x'"));
  EXPECT_THAT(errorOf({"a", "--threads=99999"}), HasSubstr("0 to 1024"));
  EXPECT_THAT(errorOf({"a", "--check", "--atol=-1"}),
              HasSubstr("a number that is not negative, got '-1'"));
  EXPECT_THAT(errorOf({"a", "--check", "--atol=nan"}), HasSubstr("got 'nan'"));
  EXPECT_EQ(errorOf({"a", "--emit=exe"}),
            "option --emit: expected llvm, asm or obj, got 'exe'");
  EXPECT_THAT(errorOf({"a", "--input=2xf31=1"}),
              HasSubstr("option --input: value '2xf31=1': expected"));
  EXPECT_THAT(errorOf({"a", "--output=x"}),
              HasSubstr("option --output: value 'x': expected"));
}

TEST(Options, combinations) {
  EXPECT_EQ(errorOf({"a", "--emit=obj"}),
            "option --emit: expected -o NAME.o beside obj, got none");
  for (const char *name : {"b", "b.obj", ".o", "folder/.o", "b.o/"})
    EXPECT_EQ(errorOf({"a", "--emit=obj", "-o", name}),
              "option --emit: expected -o NAME.o beside obj, got '" +
                  std::string(name) + "'");
  EXPECT_EQ(errorOf({"a", "-o", "b"}), "option -o: expected --emit beside it");
  EXPECT_EQ(errorOf({"a", "-o"}), "option -o: expected one file");
  EXPECT_EQ(errorOf({"a", "--rtol=1"}),
            "option --rtol: expected --check, --verify-stages or --expect "
            "beside it");
  EXPECT_EQ(errorOf({"a", "--verify-stages", "--device=reference"}),
            "option --verify-stages: expected device cpu, got reference");
}

std::vector<Parameter> parameters(std::vector<std::string> names) {
  std::vector<Parameter> list;
  for (std::string &name : names) {
    list.emplace_back();
    list.back().name = std::move(name);
    list.back().sizes = {2};
  }
  return list;
}

TEST(Bind, names_first_then_order) {
  auto list = parameters({"q", "k", "v"});
  EXPECT_THAT(*bindNames({"", "q", ""}, list, "--input"), ElementsAre(1, 0, 2));
  EXPECT_THAT(*bindNames({"2"}, list, "--input"), ElementsAre(2));
  EXPECT_THAT(*bindNames({"", ""}, list, "--input"), ElementsAre(0, 1));
}

TEST(Bind, errors) {
  auto list = parameters({"q", ""});
  EXPECT_EQ(bindNames({"", "", ""}, list, "--input").error().message,
            "option --input: expected at most 2 (q, 1), got 3");
  EXPECT_EQ(bindNames({"x"}, list, "--input").error().message,
            "option --input: expected one of q, 1, got 'x'");
  EXPECT_EQ(bindNames({"q", "q"}, list, "--input").error().message,
            "option --input: expected 'q' once, got it twice");
  EXPECT_EQ(bindNames({"q", "0"}, list, "--input").error().message,
            "option --input: expected '0' once, got it twice");
}

TEST(Bind, arguments_without_a_value) {
  Signature signature;
  signature.function = "f";
  signature.arguments = parameters({"q", "m"});
  signature.arguments[1].dtype = DType::i1;
  Result<std::vector<OwnedValue>> values = makeInputs(signature, {}, 1);
  ASSERT_TRUE(values.ok());
  EXPECT_NE(std::get<Tensor>((*values)[0].held).at(0), 0);
  EXPECT_EQ(std::get<Tensor>((*values)[1].held).at(0), 1);

  signature.arguments[1].sizes = {3, -1};
  EXPECT_EQ(makeInputs(signature, {}, 1).error().message,
            "function 'f' argument 1 (m): 3x?xi1: expected an --input, as its "
            "shape is dynamic");
  signature.arguments[1].kind = Parameter::Kind::index;
  signature.arguments[1].sizes = {};
  EXPECT_EQ(makeInputs(signature, {}, 1).error().message,
            "function 'f' argument 1 (m): index: expected an --input");
}

} // namespace
