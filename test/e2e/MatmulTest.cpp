// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices in every form against their definition in f64, and a
// function that has them around attention.

#include "test/e2e/GuardedMemory.h"
#include "test/e2e/Harness.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace attn;
using namespace attn::test;

namespace {
/// C[b, i, j] += sum_k op(A)[b, i, k] op(B)[b, k, j], by the definition.
struct Form {
  std::string name;
  bool isBatch = false, isLeftTransposed = false, isRightTransposed = false;
  bool isRightShared = false; ///< B has no batch
  bool isFilled = false;      ///< C is not an operand but 0
};

struct Types {
  std::string name;
  DType in, out;
};

struct Extents {
  int64_t b, m, n, k;
};
std::ostream &operator<<(std::ostream &os, const Extents &e) {
  return os << "b " << e.b << " m " << e.m << " n " << e.n << " k " << e.k;
}
constexpr Extents unknown{-1, -1, -1, -1};

std::vector<Form> allForms() {
  std::vector<Form> forms;
  for (bool isBatch : {false, true})
    for (bool left : {false, true})
      for (bool right : {false, true})
        forms.push_back({std::string(isBatch ? "batch" : "plain") +
                             (left ? "_left" : "") + (right ? "_right" : ""),
                         isBatch, left, right});
  forms.push_back({"shared_weights", true, false, false, true});
  forms.push_back({"shared_weights_right", true, false, true, true});
  forms.push_back({"filled", false, false, false, false, true});
  forms.push_back({"filled_batch_left_right", true, true, true, false, true});
  return forms;
}

const std::vector<Types> &allTypes() {
  static const std::vector<Types> types = {
      {"f32", DType::f32, DType::f32},
      {"bf16_to_f32", DType::bf16, DType::f32},
      {"bf16", DType::bf16, DType::bf16},
      {"f16_to_f32", DType::f16, DType::f32},
      {"f16", DType::f16, DType::f16},
      {"f64", DType::f64, DType::f64},
      {"bf16_to_f64", DType::bf16, DType::f64},
  };
  return types;
}

/// Whether a form is one for the types that differ from f32 and bf16 in casts
/// and vectors only: each way of packing an operand, and one that is filled.
bool isForEveryType(const Form &form) {
  return form.name == "plain" || form.name == "plain_left_right" ||
         form.name == "batch_right" || form.name == "filled";
}
bool isBaseType(const Types &types) {
  return types.name.find("64") == std::string::npos && types.in != DType::f16;
}

using Dims = std::vector<int64_t>;

/// `batch` in front of `rows` and `columns`, which change places if transposed.
Dims matrixOf(bool isBatch, int64_t batch, int64_t rows, int64_t columns,
              bool isTransposed) {
  Dims dims{rows, columns};
  if (isTransposed)
    std::swap(dims[0], dims[1]);
  if (isBatch)
    dims.insert(dims.begin(), batch);
  return dims;
}
Dims leftDims(const Form &f, const Extents &e) {
  return matrixOf(f.isBatch, e.b, e.m, e.k, f.isLeftTransposed);
}
Dims rightDims(const Form &f, const Extents &e) {
  return matrixOf(f.isBatch && !f.isRightShared, e.b, e.k, e.n,
                  f.isRightTransposed);
}
Dims outDims(const Form &f, const Extents &e) {
  return matrixOf(f.isBatch, e.b, e.m, e.n, false);
}

std::string typeOf(const Dims &dims, DType dtype) {
  std::string text = "tensor<";
  for (int64_t size : dims)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + name(dtype) + ">";
}

std::string mapOf(const Form &f, bool isBatch, const char *first,
                  const char *second, bool isTransposed) {
  std::string loops = f.isBatch ? "b, m, n, k" : "m, n, k";
  return "affine_map<(" + loops + ") -> (" + (isBatch ? "b, " : "") +
         (isTransposed ? second : first) + ", " +
         (isTransposed ? first : second) + ")>";
}

std::string irFor(const Form &f, const Types &types,
                  const Extents &known = unknown) {
  std::string a = typeOf(leftDims(f, known), types.in);
  std::string b = typeOf(rightDims(f, known), types.in);
  std::string c = typeOf(outDims(f, known), types.out);
  std::string maps =
      " indexing_maps = [" + mapOf(f, f.isBatch, "m", "k", f.isLeftTransposed) +
      ", " +
      mapOf(f, f.isBatch && !f.isRightShared, "k", "n", f.isRightTransposed) +
      ", " + mapOf(f, f.isBatch, "m", "n", false) + "]";
  // A form without transposition is what the plain assembly says.
  if (!f.isLeftTransposed && !f.isRightTransposed && !f.isRightShared)
    maps.clear();
  std::string op = f.isRightShared ? "contract"
                   : f.isBatch     ? "batch_matmul"
                                   : "matmul";
  std::string out = "%c";
  std::string fill;
  if (f.isFilled) {
    out = "%filled";
    fill = "  %zero = arith.constant 0.0 : " + std::string(name(types.out)) +
           "\n  %filled = linalg.fill ins(%zero : " + name(types.out) +
           ") outs(%c : " + c + ") -> " + c + "\n";
  }
  return "func.func @main(%a: " + a + ", %b: " + b + ", %c: " + c + ") -> " +
         c + " {\n" + fill + "  %r = linalg." + op + maps +
         " ins(%a, %b : " + a + ", " + b + ") outs(" + out + " : " + c +
         ") -> " + c + "\n  return %r : " + c + "\n}\n";
}

int64_t count(const Dims &dims) {
  int64_t product = 1;
  for (int64_t size : dims)
    product *= size;
  return product;
}

/// Signed operands that `dtype` has.
struct Operand {
  Operand(DType dtype, Dims dims, uint64_t seed)
      : dtype(dtype), dims(dims), values(randomValues(count(dims), seed)) {
    for (double &value : values)
      value = roundTo(dtype, value);
    tensor = makeTensor(dtype, dims, values);
  }
  DType dtype;
  Dims dims;
  std::vector<double> values;
  std::shared_ptr<Tensor> tensor;
};

struct Multiplication {
  Multiplication(const Form &form, const Types &types, const Extents &e)
      : form(form), e(e), a(types.in, leftDims(form, e), 1),
        b(types.in, rightDims(form, e), 2), c(types.out, outDims(form, e), 3) {}

  std::vector<Value> inputs() const {
    return {a.tensor->view(), b.tensor->view(), c.tensor->view()};
  }
  std::vector<double> expected() const {
    std::vector<double> result(c.values.size());
    int64_t batches = form.isBatch ? e.b : 1;
    for (int64_t s = 0; s < batches; ++s)
      for (int64_t i = 0; i < e.m; ++i)
        for (int64_t j = 0; j < e.n; ++j) {
          int64_t at = (s * e.m + i) * e.n + j;
          double sum = form.isFilled ? 0.0 : c.values[size_t(at)];
          for (int64_t k = 0; k < e.k; ++k)
            sum += left(s, i, k) * right(form.isRightShared ? 0 : s, k, j);
          result[size_t(at)] = sum;
        }
    return result;
  }
  double left(int64_t s, int64_t i, int64_t k) const {
    int64_t base = s * e.m * e.k;
    return a.values[size_t(
        base + (form.isLeftTransposed ? k * e.m + i : i * e.k + k))];
  }
  double right(int64_t s, int64_t k, int64_t j) const {
    int64_t base = s * e.k * e.n;
    return b.values[size_t(
        base + (form.isRightTransposed ? j * e.k + k : k * e.n + j))];
  }

  Form form;
  Extents e;
  Operand a, b, c;
};

struct Cell {
  Form form;
  Types types;
  Target target;
};
std::string nameOf(const Cell &c) {
  return c.form.name + "_" + c.types.name + "_" + c.target.name;
}
void PrintTo(const Cell &c, std::ostream *os) { *os << nameOf(c); }

std::vector<Cell> cells(const std::vector<Form> &forms) {
  std::vector<Cell> all;
  for (const Form &form : forms)
    for (const Types &types : allTypes())
      for (const Target &target : allTargets())
        if (isBaseType(types) || isForEveryType(form))
          all.push_back({form, types, target});
  return all;
}

/// What is wrong with `ir` on `p`.
std::string check(const Target &target, const std::string &ir,
                  const Multiplication &p, DType out) {
  std::vector<Tensor> got = run(target, ir, p.inputs());
  if (got.size() != 1)
    return "expected one result";
  return oracle::checkOutput(toDoubles(got[0].view()), p.expected(),
                             toleranceOf(out));
}

const Extents sizes[] = {
    {1, 1, 1, 1},     {2, 3, 5, 7},       {1, 1, 130, 67},   {2, 9, 50, 33},
    {3, 37, 53, 41},  {1, 129, 97, 1},    {1, 17, 1, 65},    {2, 64, 96, 128},
    {1, 8, 48, 16},   {1, 130, 131, 127}, {2, 2, 191, 257},  {1, 5, 24, 513},
    {1, 33, 193, 80}, {1, 257, 385, 40},  {1, 300, 7, 1030},
};
const Extents empty[] = {
    {1, 0, 5, 7}, {1, 4, 0, 7}, {2, 4, 5, 0}, {0, 4, 5, 6}, {1, 0, 0, 0}};

class Matmul : public testing::TestWithParam<Cell> {};
class MatmulOfKnownSizes : public testing::TestWithParam<Cell> {};

/// A batch is a loop around either.
std::vector<Form> formsOfKnownSizes() {
  std::vector<Form> forms = allForms();
  forms.erase(std::remove_if(forms.begin(), forms.end(),
                             [](const Form &f) { return f.isBatch; }),
              forms.end());
  return forms;
}

TEST_P(Matmul, MatchesTheDefinition) {
  const auto &[form, types, target] = GetParam();
  ATTN_SKIP_UNLESS_HERE(target);
  std::string ir = irFor(form, types);
  for (const Extents &e : sizes)
    EXPECT_EQ(check(target, ir, Multiplication(form, types, e), types.out), "")
        << e << "\n"
        << ir;
  for (const Extents &e : empty)
    EXPECT_EQ(check(target, ir, Multiplication(form, types, e), types.out), "")
        << e << "\n"
        << ir;
}

/// Sizes that the compiler knows take other loops.
TEST_P(MatmulOfKnownSizes, MatchesTheDefinition) {
  const auto &[form, types, target] = GetParam();
  ATTN_SKIP_UNLESS_HERE(target);
  for (const Extents &e : {Extents{2, 1, 130, 67},
                           {2, 5, 16, 8},
                           {2, 16, 64, 32},
                           {1, 7, 33, 3},
                           {1, 260, 192, 260}})
    EXPECT_EQ(check(target, irFor(form, types, e),
                    Multiplication(form, types, e), types.out),
              "")
        << e;
}

TEST_P(Matmul, ThreadsChangeNoBit) {
  const auto &[form, types, target] = GetParam();
  ATTN_SKIP_UNLESS_HERE(target);
  Multiplication p(form, types, {2, 270, 400, 300});
  std::string ir = irFor(form, types);
  std::vector<uint8_t> bits;
  for (int threads : {1, 2, 5, 16}) {
    std::vector<Tensor> got = run(target, ir, p.inputs(), threads);
    ASSERT_EQ(got.size(), 1u);
    if (threads == 1)
      bits = toBytes(got[0].view());
    EXPECT_TRUE(toBytes(got[0].view()) == bits) << threads << " threads";
  }
}

TEST_P(Matmul, StridesOfRowsAndNothingOutside) {
  const auto &[form, types, target] = GetParam();
  ATTN_SKIP_UNLESS_HERE(target);
  std::string ir = irFor(form, types);
  std::shared_ptr<Program> program = compile(target, ir);
  ASSERT_TRUE(program);
  for (Side side : {Side::EndsAtGuard, Side::StartsAfterGuard})
    for (const Extents &e : {Extents{2, 9, 50, 33},
                             {1, 1, 130, 67},
                             {1, 17, 49, 16},
                             {1, 1, 1, 1},
                             {1, 40, 3, 259}})
      for (int64_t gap : {0, 3}) {
        Multiplication p(form, types, e);
        std::vector<std::unique_ptr<Guarded>> memory;
        // Rows with a gap behind all but the last.
        auto place = [&](const TensorView &from) {
          TensorView view = from;
          Dims pitched = from.sizes;
          pitched.back() += gap;
          view.strides = contiguousStrides(pitched);
          int64_t elements = count(pitched) - (count(pitched) ? gap : 0);
          memory.push_back(std::make_unique<Guarded>(
              size_t(elements) * byteSize(from.dtype), side));
          view.data = memory.back()->data;
          copyElements(from, view);
          return view;
        };
        std::vector<Value> inputs;
        for (const Operand *operand : {&p.a, &p.b, &p.c})
          inputs.push_back(place(operand->tensor->view()));
        TensorView out = place(p.c.tensor->view());
        auto bytesOf = [&](size_t number) {
          const Guarded &block = *memory[number];
          return std::string(block.data, block.bytes);
        };
        std::vector<std::string> before;
        for (size_t number = 0; number < inputs.size(); ++number)
          before.push_back(bytesOf(number));
        Result<void> result = program->callInto("main", inputs, {out});
        ASSERT_TRUE(result.ok()) << result.error().message;
        EXPECT_EQ(oracle::checkOutput(toDoubles(out), p.expected(),
                                      toleranceOf(types.out)),
                  "")
            << e << ", gap " << gap;
        for (size_t number = 0; number < inputs.size(); ++number)
          ASSERT_TRUE(bytesOf(number) == before[number])
              << "input " << number << " or a gap of it was written";
        std::string after = bytesOf(3);
        for (size_t byte = 0; byte < after.size(); ++byte)
          if (byte / byteSize(out.dtype) % size_t(e.n + gap) >= size_t(e.n))
            ASSERT_EQ(after[byte], '\xff') << "a gap of the result was written";
      }
}

std::string cellName(const testing::TestParamInfo<Cell> &info) {
  return nameOf(info.param);
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Forms, Matmul, testing::ValuesIn(cells(allForms())),
                         cellName);
INSTANTIATE_TEST_SUITE_P(Forms, MatmulOfKnownSizes,
                         testing::ValuesIn(cells(formsOfKnownSizes())),
                         cellName);

/// A row of a product has the same bits where it is the only one.
TEST(MatmulBits, DoNotDependOnTiles) {
  const Form form{"plain"};
  for (const Target &target : allTargets())
    for (const Types &types : allTypes()) {
      if (!whyNotHere(target).empty())
        continue;
      Multiplication p(form, types, {1, 300, 260, 270});
      auto takeLastRow = [](TensorView view) {
        view.strides = contiguousStrides(view.sizes);
        view.data = static_cast<char *>(view.data) +
                    299 * view.strides[0] * int64_t(byteSize(view.dtype));
        view.sizes[0] = 1;
        return view;
      };
      std::string ir = irFor(form, types);
      std::vector<Tensor> whole = run(target, ir, p.inputs());
      std::vector<Tensor> one =
          run(target, ir,
              {takeLastRow(p.a.tensor->view()), p.b.tensor->view(),
               takeLastRow(p.c.tensor->view())});
      ASSERT_EQ(whole.size(), 1u);
      ASSERT_EQ(one.size(), 1u);
      EXPECT_TRUE(toBytes(one[0].view()) ==
                  toBytes(takeLastRow(whole[0].view())))
          << types.name << " on " << target.name;
    }
}

/// What the tests above would say if the device did something else.
static std::string checkAgainstWrong(const Types &types,
                                     void (*spoil)(Multiplication &)) {
  const Form form{"plain"};
  Multiplication p(form, types, {1, 37, 53, 53});
  std::string ir = irFor(form, types);
  EXPECT_EQ(check(allTargets()[1], ir, p, types.out), "");
  std::vector<Tensor> got = run(allTargets()[1], ir, p.inputs());
  spoil(p);
  return oracle::checkOutput(toDoubles(got[0].view()), p.expected(),
                             toleranceOf(types.out));
}

TEST(MatmulMustFail, OnATransposedOperand) {
  for (const Types &types : allTypes())
    EXPECT_NE(
        checkAgainstWrong(
            types, [](Multiplication &p) { p.form.isRightTransposed = true; }),
        "");
}

TEST(MatmulMustFail, OnAForgottenC) {
  for (const Types &types : allTypes())
    EXPECT_NE(checkAgainstWrong(
                  types, [](Multiplication &p) { p.form.isFilled = true; }),
              "");
}

TEST(MatmulMustFail, OnAMissingLastK) {
  for (const Types &types : allTypes())
    EXPECT_NE(checkAgainstWrong(types,
                                [](Multiplication &p) {
                                  for (size_t i = 52; i < p.a.values.size();
                                       i += 53)
                                    p.a.values[i] = 0.0;
                                }),
              "");
}

TEST(MatmulMustFail, OnOneSwappedColumn) {
  for (const Types &types : allTypes())
    EXPECT_NE(checkAgainstWrong(types,
                                [](Multiplication &p) {
                                  for (size_t k = 0; k < 53; ++k)
                                    std::swap(p.b.values[k * 53 + 51],
                                              p.b.values[k * 53 + 52]);
                                }),
              "");
}
