// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Harness.h.

#include "test/e2e/Harness.h"

#include "test/e2e/PoisonedCall.h"
#include "test/e2e/TileEmulator.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <sstream>

using namespace attn;
using namespace attn::test;

std::vector<Target> attn::test::targetsFor(DType dtype) {
  std::vector<Target> targets;
  for (const Target &target : allTargets())
    if (dtype == DType::bf16 ||
        (target.name != "avx512bf16" && target.name != "amx"))
      targets.push_back(target);
  return targets;
}

const std::vector<Target> &attn::test::allTargets() {
  static const std::vector<Target> targets = {
      {"reference", "reference", "cpu:generic"},
      {"generic", "cpu", "cpu:generic"},
      {"avx2", "cpu", "cpu:avx2"},
      {"avx512", "cpu", "cpu:avx512"},
      {"avx512bf16", "cpu", "cpu:avx512bf16"},
      {"amx", "cpu", "cpu:amx"},
  };
  static const bool emulatesTiles = emulateMissingTiles();
  (void)emulatesTiles;
  return targets;
}

std::string attn::test::whyNotHere(const Target &target) {
#if defined(__x86_64__)
  if (target.target == "cpu:avx2" &&
      !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
    return "this CPU has no AVX2 with FMA";
  bool needsDot =
      target.target == "cpu:avx512bf16" || target.target == "cpu:amx";
  bool needsAvx512 = target.target == "cpu:avx512" || needsDot;
  if (needsAvx512 && !(__builtin_cpu_supports("avx512f") &&
                       __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512vl")))
    return "this CPU has no AVX-512 (F, BW, DQ, VL)";
  if (needsDot && !__builtin_cpu_supports("avx512bf16"))
    return "this CPU has no AVX512_BF16";
  return {};
#else
  if (target.target != "cpu:generic")
    return "this CPU is no x86-64";
  return {};
#endif
}

/// Engines live as long as the process, and so do their compiled programs.
static Engine &engineOf(const Target &target) {
  static std::map<std::string, std::unique_ptr<Engine>> engines;
  std::unique_ptr<Engine> &engine = engines[target.name];
  if (!engine) {
    EngineOptions options;
    options.device = target.device;
    options.target = target.target;
    if (target.configure)
      target.configure(options);
    engine = std::make_unique<Engine>(options);
  }
  return *engine;
}

static double readElement(DType dtype, const char *p) {
  switch (dtype) {
  case DType::f64: {
    double x;
    std::memcpy(&x, p, sizeof x);
    return x;
  }
  case DType::f32: {
    float x;
    std::memcpy(&x, p, sizeof x);
    return x;
  }
  case DType::f16:
  case DType::bf16: {
    uint16_t x;
    std::memcpy(&x, p, sizeof x);
    return dtype == DType::f16 ? oracle::fromF16(x) : oracle::fromBf16(x);
  }
  case DType::i64: {
    int64_t x;
    std::memcpy(&x, p, sizeof x);
    return double(x);
  }
  case DType::i32: {
    int32_t x;
    std::memcpy(&x, p, sizeof x);
    return x;
  }
  default:
    return int8_t(*p);
  }
}

static void writeElement(DType dtype, double value, char *p) {
  switch (dtype) {
  case DType::f64:
    std::memcpy(p, &value, sizeof value);
    return;
  case DType::f32: {
    float x = float(value);
    std::memcpy(p, &x, sizeof x);
    return;
  }
  case DType::f16:
  case DType::bf16: {
    uint16_t x = dtype == DType::f16 ? oracle::toF16(value)
                                     : oracle::toBf16(float(value));
    std::memcpy(p, &x, sizeof x);
    return;
  }
  case DType::i64: {
    int64_t x = int64_t(value);
    std::memcpy(p, &x, sizeof x);
    return;
  }
  case DType::i32: {
    int32_t x = int32_t(value);
    std::memcpy(p, &x, sizeof x);
    return;
  }
  default:
    *p = char(int8_t(value));
  }
}

double attn::test::roundTo(DType dtype, double value) {
  char bytes[8];
  writeElement(dtype, value, bytes);
  return readElement(dtype, bytes);
}

std::shared_ptr<Tensor>
attn::test::makeTensor(DType dtype, std::vector<int64_t> sizes,
                       const std::vector<double> &values) {
  Result<Tensor> tensor = Tensor::empty(dtype, sizes);
  if (!tensor) {
    ADD_FAILURE() << tensor.error().message;
    return nullptr;
  }
  auto *data = static_cast<char *>(tensor->view().data);
  for (size_t n = 0; n < values.size(); ++n)
    writeElement(dtype, values[n], data + n * byteSize(dtype));
  return std::make_shared<Tensor>(std::move(*tensor));
}

/// Calls `visit` with the address of each element in row-major order.
template <class Visit>
static void forEachElement(const TensorView &view, Visit visit) {
  std::vector<int64_t> index(view.sizes.size(), 0);
  std::vector<int64_t> strides =
      view.strides.empty() ? contiguousStrides(view.sizes) : view.strides;
  for (int64_t size : view.sizes)
    if (size == 0)
      return;
  while (true) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d)
      offset += index[d] * strides[d];
    visit(static_cast<const char *>(view.data) +
          offset * int64_t(byteSize(view.dtype)));
    size_t d = index.size();
    while (d > 0 && ++index[d - 1] == view.sizes[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

std::vector<double> attn::test::toDoubles(const TensorView &view) {
  std::vector<double> values;
  forEachElement(view, [&](const char *p) {
    values.push_back(readElement(view.dtype, p));
  });
  return values;
}

std::vector<uint8_t> attn::test::toBytes(const TensorView &view) {
  std::vector<uint8_t> bytes;
  forEachElement(view, [&](const char *p) {
    bytes.insert(bytes.end(), p, p + byteSize(view.dtype));
  });
  return bytes;
}

std::vector<double> attn::test::randomValues(size_t count, uint64_t seed) {
  // Not std::uniform_real_distribution, whose values differ between libraries.
  std::mt19937_64 random(seed);
  std::vector<double> values(count);
  for (double &value : values)
    value = double(random() >> 11) * 0x1p-52 - 1.0;
  return values;
}

std::ostream &attn::test::operator<<(std::ostream &os, const Sizes &s) {
  return os << "B " << s.b << " Hq " << s.hq << " Hkv " << s.hkv << " Sq "
            << s.sq << " Skv " << s.skv << " Dk " << s.dk << " Dv " << s.dv;
}

void Arguments::add(DType dtype, std::vector<int64_t> sizes,
                    const std::vector<double> &elements) {
  owned.push_back(makeTensor(dtype, std::move(sizes), elements));
  values.push_back(owned.back()->view());
}

DType attn::test::logitType(DType dtype) {
  return dtype == DType::f64 ? DType::f64 : DType::f32;
}

/// `text` with the type of logits in place of f32.
static std::string withLogits(std::string text, DType dtype) {
  if (logitType(dtype) == DType::f64)
    for (size_t at; (at = text.find("f32")) != std::string::npos;)
      text.replace(at, 3, "f64");
  return text;
}

std::string attn::test::irFor(const std::string &op, DType dtype,
                              const Variant &variant, const Sizes &known) {
  auto type = [](std::vector<int64_t> sizes, DType dtype) {
    std::string text = "tensor<";
    for (int64_t size : sizes)
      text += (size < 0 ? "?" : std::to_string(size)) + "x";
    return text + name(dtype) + ">";
  };
  const Sizes &s = known;
  std::string q = type({s.b, s.hq, s.sq, s.dk}, dtype);
  std::string k = type({s.b, s.hkv, s.skv, s.dk}, dtype);
  std::string v = type({s.b, s.hkv, s.skv, s.dv}, dtype);
  std::string o = type({s.b, s.hq, s.sq, s.dv}, dtype);
  std::string lse = type({s.b, s.hq, s.sq}, logitType(dtype));
  std::string results = "(" + o + ", " + lse + ")";
  return "func.func @main(%q: " + q + ", %k: " + k + ", %v: " + v +
         withLogits(variant.arguments, dtype) + ") -> " + results + " {\n" +
         withLogits(variant.prelude, dtype) + "  %o, %lse = attn." + op +
         " %q, %k, %v " + withLogits(variant.clauses, dtype) + "\n      : (" +
         q + ", " + k + ", " + v + ") -> " + results +
         "\n  return %o, %lse : " + o + ", " + lse + "\n}\n";
}

Problem attn::test::makeProblem(const Sizes &s, DType dtype,
                                const Variant &variant, uint64_t seed) {
  Problem problem;
  problem.sizes = s;
  problem.dtype = dtype;
  problem.q = oracle::Array(s.b, s.hq, s.sq, s.dk);
  problem.k = oracle::Array(s.b, s.hkv, s.skv, s.dk);
  problem.v = oracle::Array(s.b, s.hkv, s.skv, s.dv);
  for (oracle::Array *array : {&problem.q, &problem.k, &problem.v}) {
    array->data = randomValues(array->data.size(), ++seed * 1000003);
    for (double &value : array->data)
      value = roundTo(dtype, 2.0 * value);
  }
  variant.bind(problem);
  return problem;
}

std::shared_ptr<Program> attn::test::compile(const Target &target,
                                             const std::string &ir) {
  Result<Program> program = engineOf(target).compileText(ir);
  if (!program) {
    ADD_FAILURE() << target.name << ": " << program.error().message << "\nin:\n"
                  << ir;
    return nullptr;
  }
  return std::make_shared<Program>(*program);
}

std::vector<Tensor> attn::test::run(const Target &target, const std::string &ir,
                                    const std::vector<Value> &inputs,
                                    int threads) {
  std::shared_ptr<Program> program = compile(target, ir);
  if (!program)
    return {};
  CallOptions options;
  options.threads = threads;
  Result<std::vector<Tensor>> results =
      callPoisoned(*program, "main", inputs, options);
  if (!results) {
    ADD_FAILURE() << target.name << ": " << results.error().message << "\nin:\n"
                  << ir;
    return {};
  }
  return std::move(*results);
}

std::vector<Tensor> attn::test::run(const Target &target, const std::string &ir,
                                    const Problem &p, int threads) {
  Arguments operands;
  for (const oracle::Array *a : {&p.q, &p.k, &p.v})
    operands.add(p.dtype, {a->b, a->h, a->s, a->d}, a->data);
  std::vector<Value> inputs = operands.values;
  inputs.insert(inputs.end(), p.captured.values.begin(),
                p.captured.values.end());
  return run(target, ir, inputs, threads);
}

std::string attn::test::errorOf(const Target &target, const std::string &ir,
                                const std::vector<Value> &inputs) {
  Result<Program> program = engineOf(target).compileText(ir);
  if (!program)
    return program.error().message;
  Result<std::vector<Tensor>> results = callPoisoned(*program, "main", inputs);
  return results ? std::string() : results.error().message;
}

oracle::Tolerance attn::test::toleranceOf(DType dtype) {
  switch (dtype) {
  case DType::f16:
    return oracle::f16Tolerance;
  case DType::bf16:
    return oracle::bf16Tolerance;
  case DType::f64:
    return oracle::f64Tolerance;
  default:
    return oracle::f32Tolerance;
  }
}

std::string attn::test::checkAgainst(const oracle::Result &want, DType dtype,
                                     const std::vector<Tensor> &got) {
  if (got.size() != 2)
    return "expected O and LSE, got " + std::to_string(got.size()) + " results";
  const oracle::Array &o = want.o;
  if (got[0].view().sizes != std::vector<int64_t>{o.b, o.h, o.s, o.d})
    return "O has the wrong shape";
  if (got[1].view().sizes != std::vector<int64_t>{o.b, o.h, o.s})
    return "LSE has the wrong shape";

  std::vector<double> gotO = toDoubles(got[0].view());
  std::string error = oracle::checkOutput(gotO, o.data, toleranceOf(dtype));
  if (!error.empty())
    return "O: " + error;
  error = oracle::checkLse(toDoubles(got[1].view()), want.lse.data,
                           toleranceOf(dtype));
  if (!error.empty())
    return "LSE: " + error;

  for (size_t row = 0; row < want.lse.data.size(); ++row)
    if (want.lse.data[row] == -HUGE_VAL)
      for (int64_t c = 0; c < o.d; ++c)
        if (gotO[row * size_t(o.d) + size_t(c)] != 0.0)
          return "O: row " + std::to_string(row) + " has no key and is not 0";
  return {};
}
