// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/attn-bench/Options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;
using namespace attn::bench;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

TEST(BenchOptions, every_option) {
  Result<Options> options =
      parseOptions({"--cases=a", "--cases=b", "--filter=x.*y", "--threads=3",
                    "--runs=7", "--json=j", "--plot=p"});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_THAT(options->caseFiles, ElementsAre("a", "b"));
  EXPECT_EQ(options->filter, "x.*y");
  EXPECT_EQ(options->threads, 3);
  EXPECT_EQ(options->runs, 7);
  EXPECT_EQ(options->jsonFile, "j");
  EXPECT_EQ(options->plotFile, "p");
  EXPECT_FALSE(options->serve);
  EXPECT_TRUE(parseOptions({"--serve", "--threads=2"})->serve);
  EXPECT_TRUE(parseOptions({"--help"})->help);
  Result<Options> suite =
      parseOptions({"--suite=linear-forms", "--out=d", "--max-n=512",
                    "--max-m=64", "--runs=2"});
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  EXPECT_EQ(suite->suite, "linear-forms");
  EXPECT_EQ(suite->out, "d");
  EXPECT_EQ(suite->maxN, 512);
  EXPECT_EQ(suite->maxM, 64);
}

TEST(BenchOptions, refused) {
  struct {
    std::vector<std::string> arguments;
    const char *message;
  } const refused[] = {
      {{}, "expected --cases=FILE, got none"},
      {{"--case=a"}, "unknown argument '--case': expected one of --cases, "},
      {{"a.txt"}, "unknown argument 'a.txt'"},
      {{"--cases=a", "--runs=0"},
       "option --runs: expected an integer from 1 "
       "to 10000, got '0'"},
      {{"--cases=a", "--threads=x"}, "option --threads: expected an integer"},
      {{"--cases=a", "--runs=1", "--runs=2"}, "option --runs: expected once"},
      {{"--cases=a", "--plot=p.png"},
       "option --plot: expected a file name that ends in .svg, as pictures are "
       "SVG, got 'p.png'"},
      {{"--cases"}, "option --cases: expected a value, as in --cases=VALUE"},
      {{"--cases="}, "option --cases: expected a value"},
      {{"--serve=1"}, "option --serve: expected no value, got '1'"},
      {{"--suite=plots", "--out=d"},
       "option --suite: expected linear or linear-forms, got 'plots'"},
      {{"--suite=linear"}, "option --suite: expected --out=DIR beside it"},
      {{"--suite=linear", "--out=d", "--cases=a"},
       "option --suite: expected no --cases beside it"},
      {{"--serve", "--suite=linear"},
       "option --serve: expected no --suite beside it"},
      {{"--cases=a", "--out=d"}, "option --out: expected --suite beside it"},
      {{"--cases=a", "--max-n=512"}, "option --max-n: expected --suite beside"},
      {{"--suite=linear", "--out=d", "--max-n=255"},
       "option --max-n: expected an integer from 256 to 1048576, got '255'"},
      {{"--suite=linear", "--out=d", "--max-m=8"},
       "option --max-m: expected an integer from 16 to 65536, got '8'"},
      {{"--serve", "--runs=3"}, "option --serve: expected no --runs beside it"},
  };
  for (const auto &[arguments, message] : refused) {
    Result<Options> options = parseOptions(arguments);
    ASSERT_FALSE(options.ok()) << message;
    EXPECT_THAT(options.error().message, HasSubstr(message));
  }
}

TEST(BenchOptions, help_lists_every_option) {
  std::string error = parseOptions({"--none"}).error().message;
  std::string list = error.substr(error.find("one of ") + 7) + ",";
  for (size_t at = 0; (at = list.find("--", at)) != std::string::npos; ++at) {
    std::string name = list.substr(at, list.find(',', at) - at);
    if (name != "--help")
      EXPECT_THAT(helpText(), HasSubstr(name));
  }
}

} // namespace
