// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The public interface on real programs. Numbers are the business of the
// end-to-end tests; here they only have to agree between ways of calling.

#include "runtime/Engine.h"
#include "runtime/Difference.h"
#include "runtime/Spec.h"
#include "runtime/cache/ModuleCache.h"

#include "TemporaryFolder.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>

using namespace attn;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

const char attention[] = R"(
func.func @attend(%q: tensor<?x?x?x?xf32>, %k: tensor<?x?x?x?xf32>,
                  %v: tensor<?x?x?x?xf32>)
    -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.gqa %q, %k, %v align(bottom_right) mask(#attn.causal)
      : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>)
      -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x?xf32>, tensor<?x?x?xf32>
}
)";

Tensor random(const std::string &type, uint64_t stream) {
  Result<InputSpec> spec = parseInputSpec(type);
  EXPECT_TRUE(spec.ok());
  Result<OwnedValue> value = evaluate(*spec, 1, stream);
  EXPECT_TRUE(value.ok());
  return std::move(std::get<Tensor>(value->held));
}

struct Operands {
  Tensor q = random("2x6x37x40xf32", 0);
  Tensor k = random("2x2x70x40xf32", 1);
  Tensor v = random("2x2x70x24xf32", 2);
  std::vector<Value> values() const { return {q.view(), k.view(), v.view()}; }
};

bool isSame(const Tensor &a, const Tensor &b) {
  return a.sizes() == b.sizes() &&
         std::memcmp(a.raw(), b.raw(), a.numBytes()) == 0;
}

class EngineTest : public testing::TestWithParam<const char *> {
protected:
  Program compile(const std::string &text = attention) {
    EngineOptions options;
    options.device = GetParam();
    Result<Program> program = Engine(options).compileText(text);
    // GoogleTest turns it into a failure of the test.
    if (!program)
      throw std::runtime_error(program.error().message);
    return *program;
  }
};

TEST_P(EngineTest, describes_functions) {
  Program program = compile();
  EXPECT_THAT(program.functions(), ElementsAre("attend"));
  Result<Signature> signature = program.signature("attend");
  ASSERT_TRUE(signature.ok());
  EXPECT_EQ(format(*signature),
            "attend(q: ?x?x?x?xf32, k: ?x?x?x?xf32, v: ?x?x?x?xf32) -> "
            "(o: ?x?x?x?xf32, lse: ?x?x?xf32)");
  EXPECT_EQ(program.signature("other").error().message,
            "function: expected one of attend, got 'other'");
  EXPECT_GT(program.compileMillis(), 0);
  EXPECT_THAT(program.target(), StartsWith("cpu:"));
}

TEST_P(EngineTest, compiles_ahead_of_time) {
  TemporaryFolder folder;
  std::string path = folder.write("attention.mlir", attention);
  EngineOptions options;
  options.device = GetParam();
  Engine engine(options);
  Result<AheadModule> module = engine.compileAhead(path, "net");
  ASSERT_TRUE(module.ok()) << module.error().message;
  EXPECT_EQ(module->object.substr(1, 3), "ELF");
  EXPECT_THAT(module->object, HasSubstr("net_attend_function"));
  EXPECT_THAT(module->header, HasSubstr("net_attend_plan("));
  EXPECT_THAT(module->target, StartsWith("cpu:"));
  // The same bytes each time.
  EXPECT_EQ(engine.compileAhead(path, "net")->object, module->object);

  EXPECT_EQ(engine.compileAhead(path, "1").error().message,
            "prefix: expected a name in C and C++, got '1'");
  EXPECT_EQ(engine.compileAhead(path + "x", "net").error().code,
            ErrorCode::ioFailure);
  folder.write("attention.mlir", "func.func @f(");
  EXPECT_EQ(engine.compileAhead(path, "net").error().code,
            ErrorCode::compileFailure);
}

TEST_P(EngineTest, allocates_results) {
  Operands x;
  auto results = compile().call("attend", x.values());
  ASSERT_TRUE(results.ok()) << results.error().message;
  ASSERT_EQ(results->size(), 2u);
  EXPECT_THAT((*results)[0].sizes(), ElementsAre(2, 6, 37, 24));
  EXPECT_THAT((*results)[1].sizes(), ElementsAre(2, 6, 37));
}

TEST_P(EngineTest, given_memory_gets_the_same_bits) {
  Operands x;
  Program program = compile();
  auto results = program.call("attend", x.values());
  ASSERT_TRUE(results.ok());
  Tensor o = random("2x6x37x24xf32", 8), lse = random("2x6x37xf32", 9);
  Result<void> done =
      program.callInto("attend", x.values(), {o.view(), lse.view()});
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_TRUE(isSame(o, (*results)[0]));
  EXPECT_TRUE(isSame(lse, (*results)[1]));
}

TEST_P(EngineTest, thread_count_does_not_change_bits) {
  Operands x;
  Program program = compile();
  auto one = program.call("attend", x.values(), {1});
  ASSERT_TRUE(one.ok());
  for (int threads : {0, 2, 3, 7}) {
    auto other = program.call("attend", x.values(), {threads});
    ASSERT_TRUE(other.ok());
    EXPECT_TRUE(isSame((*one)[0], (*other)[0]));
    EXPECT_TRUE(isSame((*one)[1], (*other)[1]));
  }
  for (int threads : {-1, 1025})
    EXPECT_THAT(program.call("attend", x.values(), {threads}).error().message,
                HasSubstr("option threads: expected 0 to 1024"));
}

TEST_P(EngineTest, broken_rules_name_sizes) {
  Operands x;
  x.k = random("2x2x70x32xf32", 1);
  auto results = compile().call("attend", x.values());
  ASSERT_FALSE(results.ok());
  EXPECT_THAT(results.error().message, HasSubstr("key: expected head dim"));
  EXPECT_THAT(results.error().message, HasSubstr("40, got 32"));
  x = Operands();
  x.v = random("2x2x69x24xf32", 1);
  EXPECT_THAT(compile().call("attend", x.values()).error().message,
              HasSubstr("70, got 69"));
  x = Operands();
  x.q = random("2x5x37x40xf32", 1);
  EXPECT_THAT(compile().call("attend", x.values()).error().message,
              HasSubstr("2, got 5"));
}

TEST_P(EngineTest, results_larger_than_memory_are_an_error) {
  // Broadcast operands take no memory, their result would take 2^50 bytes.
  float zeros[40] = {};
  int64_t huge = int64_t(1) << 43;
  TensorView q{zeros, DType::f32, {1, 2, huge, 40}, {0, 0, 0, 1}};
  TensorView k{zeros, DType::f32, {1, 2, 1, 40}, {}};
  float keys[80] = {};
  k.data = keys;
  TensorView v = k;
  auto results = compile().call("attend", {q, k, v});
  ASSERT_FALSE(results.ok());
  EXPECT_EQ(results.error().code, ErrorCode::outOfMemory);
}

TEST(Engine, buffers_larger_than_memory_are_an_error) {
  EngineOptions options;
  options.device = "reference";
  Result<Program> program = Engine(options).compileText(attention);
  ASSERT_TRUE(program.ok());
  // The reference device holds all scores: 2^43 of them here.
  float zeros[2] = {};
  TensorView q{zeros, DType::f32, {1, 1, 1 << 16, 1}, {0, 0, 0, 1}};
  TensorView k{zeros, DType::f32, {1, 1, 1 << 27, 1}, {0, 0, 0, 1}};
  auto results = program->call("attend", {q, k, k});
  ASSERT_FALSE(results.ok());
  EXPECT_EQ(results.error().code, ErrorCode::outOfMemory);
  // 2^64 scores would wrap.
  q.sizes[2] = k.sizes[2] = int64_t(1) << 32;
  results = program->call("attend", {q, k, k});
  ASSERT_FALSE(results.ok());
  EXPECT_THAT(results.error().message, HasSubstr("2^56 scores"));
}

TEST_P(EngineTest, flops_and_emitted_code) {
  Operands x;
  Program program = compile();
  Result<double> flops = program.flops("attend", x.values());
  ASSERT_TRUE(flops.ok());
  EXPECT_EQ(*flops, 2.0 * 2 * 6 * 37 * 70 * (40 + 24));
  EXPECT_THAT(*program.emit("llvm"), HasSubstr("attend.call"));
  EXPECT_THAT(*program.emit("asm"), HasSubstr("attend.call"));
  EXPECT_EQ(program.emit("obj")->substr(1, 3), "ELF");
  EXPECT_EQ(program.emit("exe").error().message,
            "kind of output: expected llvm, asm or obj, got 'exe'");
}

TEST_P(EngineTest, many_threads_compile_and_call) {
  Operands x;
  EngineOptions options;
  options.device = GetParam();
  Engine engine(options);
  auto expected = compile().call("attend", x.values());
  ASSERT_TRUE(expected.ok());
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      // Two threads ask for each text at the same time.
      std::string text = attention + std::string(t / 2, ' ');
      Result<Program> program = engine.compileText(text);
      for (int run = 0; program && run < 5; ++run) {
        auto results = program->call("attend", x.values(), {t % 3});
        good += results && isSame((*results)[0], (*expected)[0]);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good, 20);
}

TEST_P(EngineTest, programs_outlive_their_engine) {
  Operands x;
  std::optional<Program> program;
  {
    EngineOptions options;
    options.device = GetParam();
    Engine engine(options);
    Result<Program> compiled = engine.compileText(attention);
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    program = *compiled;
  }
  EXPECT_TRUE(program->call("attend", x.values()).ok());
}

INSTANTIATE_TEST_SUITE_P(Device, EngineTest,
                         testing::Values("cpu", "reference"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

TEST(Engine, options_are_checked) {
  EngineOptions options;
  options.device = "cuda";
  Result<Engine> engine = Engine::create(options);
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().message,
            "option device: expected cpu or reference, got 'cuda'");
  EXPECT_EQ(Engine(options).compileText(attention).error().message,
            engine.error().message);
  options = {};
  options.device = "reference";
  options.referenceStage = "llvm";
  EXPECT_EQ(Engine::create(options).error().message,
            "option referenceStage: expected source, rewrite or tile, got "
            "'llvm'");
  options.device = "cpu";
  options.referenceStage = "tile";
  EXPECT_EQ(Engine::create(options).error().message,
            "option referenceStage: expected device reference beside 'tile', "
            "got cpu");
  options = {};
  options.reassociate = "yes";
  EXPECT_EQ(Engine::create(options).error().message,
            "option reassociate: expected auto, always or never, got 'yes'");
  options = {};
  options.linearForm = "fast";
  EXPECT_EQ(Engine::create(options).error().message,
            "option linearForm: expected auto, quadratic, chunk or recurrent, "
            "got 'fast'");
  options = {};
  options.linearChunk = -1;
  EXPECT_EQ(Engine::create(options).error().message,
            "option linearChunk: expected 0 or a number of tokens, got '-1'");
  options = {};
  options.target = "cpu:sse9";
  EXPECT_THAT(Engine::create(options).error().message,
              HasSubstr("option target: expected host, cpu:generic"));
}

TEST(Engine, errors_name_file_and_place) {
  TemporaryFolder folder;
  std::string path = folder.write("a.mlir", "func.func @f() {\n  attn.no\n}");
  Result<Program> program = Engine().compileFile(path);
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().code, ErrorCode::compileFailure);
  EXPECT_THAT(program.error().message, StartsWith(path + ":2:3: error: "));
  EXPECT_THAT(Engine().compileFile(folder.path("b.mlir")).error().message,
              HasSubstr("can't open"));
  EXPECT_THAT(Engine().compileFile(folder.path("")).error().message,
              HasSubstr("got a directory"));
}

TEST(Engine, the_cache_returns_what_it_has) {
  Engine engine;
  Result<Program> first = engine.compileText(attention);
  Result<Program> second = engine.compileText(attention);
  ASSERT_TRUE(first.ok() && second.ok());
  // Only a compilation that ran twice would have two times.
  EXPECT_EQ(first->compileMillis(), second->compileMillis());
}

TEST(ModuleCache, keeps_the_newest) {
  ModuleCache cache(2);
  auto request = [](const std::string &text) {
    return CompileRequest{text, "t", EngineOptions(), ""};
  };
  // Failures are kept like successes, and cost less to make.
  for (const char *text : {"a", "b", "c", "b"})
    EXPECT_FALSE(cache.find(request(text)).ok());
  EXPECT_EQ(cache.size(), 2u);
}

TEST(ModuleCache, options_make_a_difference) {
  ModuleCache cache(100);
  CompileRequest request{"a", "t", EngineOptions(), ""};
  (void)cache.find(request).ok();
  for (auto change : std::vector<void (*)(CompileRequest &)>{
           [](CompileRequest &r) { r.options.device = "reference"; },
           [](CompileRequest &r) { r.options.referenceStage = "tile"; },
           [](CompileRequest &r) { r.options.target = "cpu:generic"; },
           [](CompileRequest &r) { r.options.exact = true; },
           [](CompileRequest &r) { r.options.favor = "textbook"; },
           [](CompileRequest &r) { r.options.reassociate = "never"; },
           [](CompileRequest &r) { r.options.linearForm = "chunk"; },
           [](CompileRequest &r) { r.options.linearChunk = 16; },
           [](CompileRequest &r) { r.options.countTiles = true; },
           [](CompileRequest &r) { r.options.mapMask = true; },
           [](CompileRequest &r) { r.options.remarks = true; },
           [](CompileRequest &r) { r.options.explain = true; },
           [](CompileRequest &r) { r.options.dumpDir = "d"; },
           [](CompileRequest &r) { r.whyNoTiles = "no"; },
           [](CompileRequest &r) { r.name = "u"; },
           [](CompileRequest &r) { r.text = "b"; }}) {
    size_t before = cache.size();
    CompileRequest changed = request;
    change(changed);
    (void)cache.find(changed).ok();
    EXPECT_EQ(cache.size(), before + 1);
    (void)cache.find(changed).ok();
    EXPECT_EQ(cache.size(), before + 1);
  }
}

// LLVM's instcombine aborts by default where its first round leaves something
// to do, as it does here.
TEST(Engine, code_that_instcombine_visits_twice) {
  EngineOptions options;
  options.target = "cpu:generic";
  Result<Program> program = Engine(options).compileText(R"(
    func.func @main(%q: tensor<1x4x1x32xf32>, %p: index)
        -> tensor<1x4x1x32xf32> {
      %o = attn.softmax %q, %q, %q offset(%p : index)
          mask(#attn.window<left = 3>)
          : (tensor<1x4x1x32xf32>, tensor<1x4x1x32xf32>, tensor<1x4x1x32xf32>)
          -> tensor<1x4x1x32xf32>
      %o2 = attn.gqa %o, %q, %q
          : (tensor<1x4x1x32xf32>, tensor<1x4x1x32xf32>, tensor<1x4x1x32xf32>)
          -> tensor<1x4x1x32xf32>
      return %o2 : tensor<1x4x1x32xf32>
    })");
  EXPECT_TRUE(program.ok()) << program.error().message;
}

TEST(Engine, scalars_and_plain_arithmetic) {
  Result<Program> program = Engine().compileText(R"(
    func.func @f(%x: tensor<2xf32>, %n: index, %s: f32, %i: i32, %l: i64)
        -> tensor<2xf32> {
      %ni = arith.index_cast %n : index to i64
      %li = arith.addi %ni, %l : i64
      %ii = arith.extsi %i : i32 to i64
      %sum = arith.addi %li, %ii : i64
      %f = arith.sitofp %sum : i64 to f32
      %g = arith.mulf %f, %s : f32
      %e = tensor.empty() : tensor<2xf32>
      %r = linalg.fill ins(%g : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
      return %r : tensor<2xf32>
    })");
  ASSERT_TRUE(program.ok()) << program.error().message;
  Tensor x = random("2xf32", 0);
  auto results = program->call(
      "f", {x.view(), int64_t(100), 0.5, int64_t(-3), int64_t(7)});
  ASSERT_TRUE(results.ok()) << results.error().message;
  EXPECT_EQ((*results)[0].at(0), 52);
  EXPECT_EQ((*results)[0].at(1), 52);
}

} // namespace
