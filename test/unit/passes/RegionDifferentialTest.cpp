// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random keep regions through the vector code of every target, against the
// plain lowering. Positions start at 0, at the limit of 32 bits or far beyond
// it, so that both index widths of the vector code are chosen at run time.

#include "RandomRegion.h"

#include "dialect/Attn.h"
#include "passes/Registration.h"
#include "runtime/Engine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace attn;

namespace {

constexpr int64_t kBatch = 2, kHeads = 6, kKeys = 75, kHeadDim = 8;

/// A function with an attention op that has no keep region yet. The heads of a
/// group share tiles where there are few queries.
std::string getSkeleton(bool grouped) {
  std::string q = "tensor<?x6x?x8xf32>";
  std::string kv = grouped ? "tensor<?x2x?x8xf32>" : "tensor<?x6x?x8xf32>";
  return "func.func @main(%q: " + q + ", %k: " + kv + ", %v: " + kv +
         ", %p: index, %k0: index, %a: tensor<75xi32>, %b: tensor<4x75xi8>,"
         " %c: tensor<2xi64>) -> (" +
         q + ", tensor<?x6x?xf32>) {\n  %o, %lse = attn." +
         (grouped ? "gqa" : "softmax") +
         " %q, %k, %v offset(%p : index) key_offset(%k0 : index) : (" + q +
         ", " + kv + ", " + kv + ") -> (" + q +
         ", tensor<?x6x?xf32>)\n  return %o, %lse : " + q +
         ", tensor<?x6x?xf32>\n}\n";
}

/// The skeleton with a random keep region, as text.
std::string buildSource(mlir::MLIRContext &context, bool grouped, uint64_t seed,
                        bool withFloats) {
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(getSkeleton(grouped), &context);
  mlir::OpBuilder builder(&context);
  mlir::Location loc = builder.getUnknownLoc();
  module->walk([&](mlir::attn::SoftmaxFamilyInterface op) {
    mlir::Type index = builder.getIndexType();
    mlir::Block *block = builder.createBlock(
        &op.getKeep(), {}, {index, index, index, index}, {loc, loc, loc, loc});
    auto function = op->getParentOfType<mlir::func::FuncOp>();
    test::RandomRegion(builder, function.getArguments().take_back(3), seed,
                       withFloats)
        .build(*block, /*numOps=*/withFloats ? 12 : 8);
  });
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

template <typename T>
Tensor makeTensor(DType dtype, std::vector<int64_t> sizes,
                  const std::function<T(size_t)> &value) {
  Tensor tensor = std::move(*Tensor::empty(dtype, sizes));
  size_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  for (size_t i = 0; i < count; ++i)
    tensor.data<T>()[i] = value(i);
  return tensor;
}

/// The largest difference of two results; equal infinities do not differ.
double difference(const Tensor &a, const Tensor &b) {
  double worst = 0;
  size_t count = 1;
  for (int64_t size : a.view().sizes)
    count *= size;
  for (size_t i = 0; i < count; ++i) {
    float x = a.data<float>()[i], y = b.data<float>()[i];
    if (x != y && !(std::abs(x - y) <= worst))
      worst = std::isnan(x - y) ? INFINITY : std::abs(x - y);
  }
  return worst;
}

struct Inputs {
  Tensor q, k, v, a, b, c;
  int64_t offset, keyOffset;

  Inputs(bool grouped, int64_t queries, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    auto real = [&](size_t) { return normal(random); };
    auto small = [&](size_t) { return static_cast<int>(random() % 90) - 8; };
    int64_t keyHeads = grouped ? 2 : kHeads;
    q = makeTensor<float>(DType::f32, {kBatch, kHeads, queries, kHeadDim},
                          real);
    k = makeTensor<float>(DType::f32, {kBatch, keyHeads, kKeys, kHeadDim},
                          real);
    v = makeTensor<float>(DType::f32, {kBatch, keyHeads, kKeys, kHeadDim},
                          real);
    a = makeTensor<int32_t>(DType::i32, {kKeys}, small);
    b = makeTensor<int8_t>(DType::i8, {4, kKeys}, small);
    c = makeTensor<int64_t>(DType::i64, {2}, small);
    constexpr int64_t kStarts[] = {0, 0, (int64_t(1) << 31) - 40,
                                   -(int64_t(1) << 33)};
    offset = kStarts[random() % 4];
    keyOffset = random() % 2 ? offset : kStarts[random() % 4];
  }

  std::vector<Value> get() const {
    return {q.view(),  k.view(), v.view(), offset,
            keyOffset, a.view(), b.view(), c.view()};
  }
};

Result<std::vector<Tensor>> run(const std::string &text,
                                const EngineOptions &options,
                                const Inputs &inputs) {
  Result<Program> program = Engine(options).compileText(text);
  if (!program)
    return program.error();
  return program->call("main", inputs.get());
}

/// Random regions `seeds` on each target in turn and on the reference.
void compareRegions(uint64_t seeds, bool withFloats) {
  mlir::DialectRegistry registry;
  mlir::attn::registerAttn(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::vector<std::string> targets;
  for (std::string target : {"cpu:generic", "cpu:avx2", "cpu:avx512"}) {
    EngineOptions options;
    options.target = target;
    if (Engine::create(options))
      targets.push_back(target);
  }
  double keptSomething = 0, maskedSomething = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    bool grouped = seed % 2;
    int64_t queries = seed % 3 ? 37 : 5;
    std::string text = buildSource(context, grouped, seed, withFloats);
    Inputs inputs(grouped, queries, seed);
    EngineOptions reference;
    reference.device = "reference";
    auto expected = run(text, reference, inputs);
    ASSERT_TRUE(expected) << expected.error().message << "\n" << text;
    EngineOptions options;
    options.target = targets[seed % targets.size()];
    auto got = run(text, options, inputs);
    ASSERT_TRUE(got) << got.error().message << "\n" << text;
    EXPECT_LE(difference((*got)[0], (*expected)[0]), 2e-5)
        << "seed " << seed << " on " << options.target << "\n"
        << text;
    EXPECT_LE(difference((*got)[1], (*expected)[1]), 1e-5)
        << "seed " << seed << " on " << options.target << "\n"
        << text;
    keptSomething += std::isfinite((*expected)[1].data<float>()[7]);
    maskedSomething += (*expected)[1].data<float>()[7] < 4;
  }
  // Masks that keep nothing, or all, would agree whatever the code did.
  EXPECT_GT(keptSomething, seeds / 4);
  EXPECT_GT(maskedSomething, seeds / 8);
}

TEST(RegionDifferential, VectorCodeAgreesWithThePlainLowering) {
  compareRegions(60, /*withFloats=*/false);
}

// Keep regions run in their own types on every device, so that what is rounded
// once in one is rounded once in the other.
TEST(RegionDifferential, FloatsAgreeWithThePlainLowering) {
  compareRegions(90, /*withFloats=*/true);
}

} // namespace
