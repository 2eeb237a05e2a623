// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The node tests of ONNX, data that nobody here made. They are in the folder
// that $ATTN_ONNX_NODE_TESTS names, or below the build folder, where ./dev test
// makes them, or beside the source tree; where they are nowhere, the tests are
// skipped.

#include "tools/attn-run/NodeTest.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

using namespace attn;
using namespace attn::run;

namespace {

/// A folder of node tests.
struct Suite {
  std::string folder;
  bool isPinned = false; ///< its package is, so that their number is known
};

const Suite &suite() {
  static const Suite found = [] {
    if (const char *folder = std::getenv("ATTN_ONNX_NODE_TESTS"))
      return Suite{folder};
    if (std::filesystem::is_directory(ATTN_MADE_NODE_TESTS))
      return Suite{ATTN_MADE_NODE_TESTS, /*isPinned=*/true};
    return Suite{ATTN_SOURCE_DIR "/../shared/onnx-node-tests"};
  }();
  return found;
}

/// The tests whose names start with `prefix`, sorted.
std::vector<std::string> listTests(const std::string &prefix) {
  std::vector<std::string> tests;
  std::error_code error;
  for (const auto &entry :
       std::filesystem::directory_iterator(suite().folder, error))
    if (entry.path().filename().string().rfind(prefix, 0) == 0)
      tests.push_back(entry.path().string());
  std::sort(tests.begin(), tests.end());
  return tests;
}

/// Ends the running test where there are none of `tests`: a folder that was
/// named is expected to have some.
#define ATTN_EXPECT_NODE_TESTS(tests)                                          \
  if ((tests).empty() && std::getenv("ATTN_ONNX_NODE_TESTS"))                  \
    FAIL() << "ATTN_ONNX_NODE_TESTS: expected node tests in '"                 \
           << suite().folder << "', got none";                                 \
  if ((tests).empty())                                                         \
  GTEST_SKIP() << "no node tests of ONNX in " << suite().folder                \
               << ": ./dev test makes them in " ATTN_MADE_NODE_TESTS           \
                  ", or ATTN_ONNX_NODE_TESTS names another folder"

/// "reference", or a target of device cpu.
NodeTestOptions optionsOf(const std::string &where) {
  NodeTestOptions options;
  if (where == "reference")
    options.engine.device = where;
  else
    options.engine.target = where;
  return options;
}

class NodeSuite : public testing::TestWithParam<const char *> {
protected:
  /// Runs all; `count` are in the pinned package, `least` in any folder.
  void runAll(const std::string &prefix, const std::string &what, size_t count,
              size_t least) {
    std::vector<std::string> tests = listTests(prefix);
    ATTN_EXPECT_NODE_TESTS(tests);
    NodeTestOptions options = optionsOf(GetParam());
    if (!Engine::create(options.engine))
      GTEST_SKIP() << GetParam() << " does not run here";
    size_t passed = 0;
    for (const std::string &test : tests) {
      Result<bool> asExpected = runNodeTest(test, options);
      EXPECT_TRUE(asExpected.ok()) << asExpected.error().message;
      EXPECT_TRUE(!asExpected.ok() || *asExpected) << test;
      passed += asExpected.ok() && *asExpected;
    }
    std::printf("%zu/%zu %s on %s\n", passed, tests.size(), what.c_str(),
                GetParam());
    if (suite().isPinned)
      EXPECT_EQ(tests.size(), count);
    EXPECT_GE(tests.size(), least);
  }
};

TEST_P(NodeSuite, attention) { runAll("test_attention_", "Attention", 93, 76); }

TEST_P(NodeSuite, flex_attention) {
  runAll("test_flexattention", "FlexAttention", 11, 11);
}

/// What is not imported says so by its name.
TEST_P(NodeSuite, other_operators_are_refused_by_name) {
  std::vector<std::string> tests = listTests("test_rotary_embedding");
  ATTN_EXPECT_NODE_TESTS(tests);
  for (const std::string &test : tests) {
    Result<bool> result = runNodeTest(test, optionsOf(GetParam()));
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find("operator 'RotaryEmbedding'"),
              std::string::npos)
        << result.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, NodeSuite,
                         testing::Values("host", "cpu:avx2", "cpu:generic",
                                         "reference"),
                         [](const auto &info) {
                           std::string name = info.param;
                           return name.substr(name.find(':') + 1);
                         });

} // namespace
