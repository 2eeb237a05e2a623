// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A host program: compiles attention IR just in time, calls it on its own
// buffers in their own layout, and compares the result with the reference
// device. It includes nothing of LLVM.
//
//   jit-host [FILE.mlir]

#include "attn/runtime/Engine.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

static constexpr int64_t heads = 4, length = 1000, dim = 64;

static int fail(const attn::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  return 1;
}

static std::vector<float> randomTokens(unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> data(length * heads * dim);
  std::generate(data.begin(), data.end(), [&] { return normal(generator); });
  return data;
}

/// The buffers hold one row of all heads per token, as a projection writes
/// them. Strides make that the 1 x heads x length x dim of the IR; nothing is
/// transposed.
static attn::TensorView viewTokens(std::vector<float> &data) {
  return {data.data(),
          attn::DType::f32,
          {1, heads, length, dim},
          {length * heads * dim, dim, heads * dim, 1}};
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "examples/ir/sliding-window.mlir";
  std::vector<float> q = randomTokens(1), k = randomTokens(2),
                     v = randomTokens(3);

  attn::Engine engine;
  attn::Result<attn::Program> program = engine.compileFile(path);
  if (!program)
    return fail(program.error());
  auto out =
      program->call("main", {viewTokens(q), viewTokens(k), viewTokens(v)});
  if (!out)
    return fail(out.error());
  const attn::Tensor &output = out->front();
  std::printf("compiled in %.0f ms, output %s\n", program->compileMillis(),
              attn::formatType(output.dtype(), output.sizes()).c_str());

  attn::EngineOptions options;
  options.device = "reference";
  auto reference = attn::Engine(options).compileFile(path);
  if (!reference)
    return fail(reference.error());
  auto expected =
      reference->call("main", {viewTokens(q), viewTokens(k), viewTokens(v)});
  if (!expected)
    return fail(expected.error());

  double worst = 0;
  bool good = true;
  for (int64_t i = 0; i < output.numElements(); ++i) {
    double error = std::abs(output.at(i) - expected->front().at(i));
    worst = std::max(worst, error);
    // A comparison with NaN is false.
    good &= error <= 1e-5;
  }
  std::printf("%s: largest difference from the reference device %.1e, "
              "tolerance 1.0e-05\n",
              good ? "ok" : "wrong", worst);
  return good ? 0 : 1;
}
