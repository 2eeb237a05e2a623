// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Spec.h"
#include "runtime/Npy.h"

#include "TemporaryFolder.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace attn;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

OwnedValue valueOf(const std::string &text, uint64_t seed = 0,
                   uint64_t stream = 0) {
  Result<InputSpec> spec = parseInputSpec(text);
  EXPECT_TRUE(spec.ok()) << spec.error().message;
  if (!spec)
    return {int64_t(0)};
  Result<OwnedValue> value = evaluate(*spec, seed, stream);
  EXPECT_TRUE(value.ok()) << value.error().message;
  return value ? std::move(*value) : OwnedValue{int64_t(0)};
}

Tensor tensorOf(const std::string &text, uint64_t seed = 0,
                uint64_t stream = 0) {
  OwnedValue value = valueOf(text, seed, stream);
  Tensor *tensor = std::get_if<Tensor>(&value.held);
  EXPECT_NE(tensor, nullptr) << text;
  return tensor ? std::move(*tensor) : Tensor();
}

std::vector<double> elements(const Tensor &tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    values.push_back(tensor.at(i));
  return values;
}

std::string errorOf(const std::string &text) {
  Result<InputSpec> spec = parseInputSpec(text);
  if (!spec)
    return spec.error().message;
  Result<OwnedValue> value = evaluate(*spec, 0, 0);
  return value ? "" : value.error().message;
}

TEST(Spec, lists_and_splats) {
  Tensor tensor = tensorOf("2x2xf32=1,-2.5, 3e2 ,+4");
  EXPECT_EQ(tensor.dtype(), DType::f32);
  EXPECT_THAT(tensor.sizes(), ElementsAre(2, 2));
  EXPECT_THAT(elements(tensor), ElementsAre(1, -2.5, 300, 4));
  EXPECT_THAT(elements(tensorOf("3xbf16=7")), ElementsAre(7, 7, 7));
  EXPECT_THAT(elements(tensorOf("3xi1=true,0,1")), ElementsAre(1, 0, 1));
  EXPECT_THAT(elements(tensorOf("2xf32=-inf,inf")),
              ElementsAre(-INFINITY, INFINITY));
  EXPECT_TRUE(std::isnan(tensorOf("1xf32=nan").at(0)));
  EXPECT_EQ(tensorOf("0x3xf32=7").numElements(), 0);
}

TEST(Spec, i64_keeps_all_bits) {
  Tensor tensor = tensorOf("2xi64=9223372036854775807,-9223372036854775808");
  EXPECT_EQ(tensor.data<int64_t>()[0], INT64_MAX);
  EXPECT_EQ(tensor.data<int64_t>()[1], INT64_MIN);
}

TEST(Spec, scalars) {
  EXPECT_EQ(std::get<int64_t>(valueOf("index=5").held), 5);
  EXPECT_EQ(std::get<int64_t>(valueOf("i32=-7").held), -7);
  EXPECT_EQ(std::get<double>(valueOf("f32=0.5").held), 0.5);
}

TEST(Spec, names) {
  EXPECT_EQ(parseInputSpec("q=2xf32=1")->name, "q");
  EXPECT_EQ(parseInputSpec("k_2=@a=b.npy")->name, "k_2");
  EXPECT_EQ(parseInputSpec("k_2=@a=b.npy")->path, "a=b.npy");
  EXPECT_EQ(parseInputSpec("0=index=5")->name, "0");
  EXPECT_EQ(parseInputSpec("@a=b.npy")->name, "");
  EXPECT_EQ(parseInputSpec("index=5")->name, "");
  EXPECT_EQ(parseInputSpec("2xf32=1")->name, "");
}

TEST(Spec, iota) {
  EXPECT_THAT(elements(tensorOf("4xi32=iota")), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(elements(tensorOf("3xf32=iota(1,-0.5)")), ElementsAre(1, 0.5, 0));
}

TEST(Spec, random_values) {
  Tensor tensor = tensorOf("10000xf32=normal(3,2)");
  double mean = 0, square = 0;
  for (double value : elements(tensor)) {
    mean += value / 10000;
    square += (value - 3) * (value - 3) / 10000;
  }
  EXPECT_NEAR(mean, 3, 0.1);
  EXPECT_NEAR(square, 4, 0.3);
  for (double value : elements(tensorOf("1000xf64=uniform(-1,2)"))) {
    EXPECT_GE(value, -1);
    EXPECT_LT(value, 2);
  }
  for (double value : elements(tensorOf("1000xi32=uniform(2,5)")))
    EXPECT_TRUE(value == 2 || value == 3 || value == 4);
}

TEST(Spec, seed_and_stream_decide) {
  EXPECT_EQ(elements(tensorOf("9xf32", 1, 2)),
            elements(tensorOf("9xf32=normal(0,1)", 1, 2)));
  EXPECT_NE(elements(tensorOf("9xf32", 1, 2)),
            elements(tensorOf("9xf32", 1, 3)));
  EXPECT_NE(elements(tensorOf("9xf32", 1, 2)),
            elements(tensorOf("9xf32", 2, 2)));
  // A longer tensor starts like a shorter one.
  EXPECT_EQ(tensorOf("9xf32").at(7), tensorOf("99xf32").at(7));
}

TEST(Spec, types_without_values) {
  EXPECT_THAT(elements(tensorOf("2xi32")), ElementsAre(0, 0));
  EXPECT_NE(tensorOf("2xf32").at(0), 0);
}

TEST(Spec, files) {
  TemporaryFolder folder;
  float data[] = {1, 2, 3, 4, 5, 6};
  std::string npy = folder.path("a.npy");
  ASSERT_TRUE(writeNpy(npy, {data, DType::f32, {2, 3}, {}}).ok());
  EXPECT_THAT(elements(tensorOf("@" + npy)), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(elements(tensorOf("2x3xf32=@" + npy)),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(errorOf("3x2xf32=@" + npy),
              HasSubstr("expected 3x2xf32, got 2x3xf32"));
  EXPECT_THAT(errorOf("2x3xbf16=@" + npy), HasSubstr("type bf16, got f32"));

  std::string raw = folder.write(
      "a.bin", std::string(reinterpret_cast<const char *>(data), sizeof data));
  EXPECT_THAT(elements(tensorOf("3x2xf32=@" + raw)),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(errorOf("3x3xf32=@" + raw),
              HasSubstr("expected 36 bytes for 3x3xf32, got 24"));
  EXPECT_THAT(errorOf("4294967296x4294967296xf32=@" + raw),
              HasSubstr("got 24"));
  EXPECT_THAT(errorOf("@/nonexistent.npy"), HasSubstr("can't open"));
  EXPECT_THAT(errorOf("@"), HasSubstr("expected a path"));
}

TEST(Spec, words_are_booleans_only) {
  EXPECT_TRUE(parseInputSpec("2xi1=true,false").ok());
  for (const char *text : {"2xi32=true,false", "index=true", "2xi8=false,1",
                           "2xi64=true", "f32=false"})
    EXPECT_FALSE(parseInputSpec(text).ok()) << text;
}

TEST(Spec, malformed) {
  EXPECT_THAT(errorOf(""), HasSubstr("expected @file.npy or a type"));
  EXPECT_THAT(errorOf("="), HasSubstr("expected @file.npy or a type"));
  EXPECT_THAT(errorOf("q="), HasSubstr("expected @file.npy or a type"));
  EXPECT_THAT(errorOf("5"), HasSubstr("expected @file.npy or a type"));
  EXPECT_THAT(errorOf("4x?xf32=1"),
              HasSubstr("size from 0 to 2^63 - 1, got '?'"));
  EXPECT_THAT(errorOf("4x-1xf32=1"),
              HasSubstr("size from 0 to 2^63 - 1, got '-1'"));
  EXPECT_THAT(errorOf("4xxf32=1"),
              HasSubstr("size from 0 to 2^63 - 1, got ''"));
  EXPECT_THAT(errorOf("4x8xf31=1"), HasSubstr("got 'f31'"));
  EXPECT_THAT(errorOf("99999999999999999999xf32=1"),
              HasSubstr("size from 0 to 2^63 - 1, got '99999999999999999999'"));
  EXPECT_THAT(errorOf("2xf32="), HasSubstr("expected values after '='"));
  EXPECT_THAT(errorOf("2xf32=a,b"), HasSubstr("expected a number, got 'a'"));
  EXPECT_THAT(errorOf("2xf32=1,,"),
              HasSubstr("2 numbers (or one for all), got 3"));
  EXPECT_THAT(errorOf("2xf32=1,"), HasSubstr("expected a number, got ''"));
  EXPECT_THAT(errorOf("2xi32=1.5"),
              HasSubstr("expected an integer of at most 64 bits, got '1.5'"));
  EXPECT_THAT(errorOf("index=9223372036854775808"),
              HasSubstr("expected an integer of at most 64 bits, got "
                        "'9223372036854775808'"));
  EXPECT_THAT(errorOf("2xi8=128"), HasSubstr("fit into i8, got 128"));
  EXPECT_THAT(errorOf("2xi1=2"), HasSubstr("fit into i1, got 2"));
  EXPECT_THAT(errorOf("2xf32=normal(0)"), HasSubstr("two numbers"));
  EXPECT_THAT(errorOf("2xf32=normal"), HasSubstr("two numbers"));
  EXPECT_THAT(errorOf("2xf32=uniform(1,a)"), HasSubstr("two numbers"));
  EXPECT_THAT(errorOf("2xf32=uniform(2,1)"), HasSubstr("low < high"));
  EXPECT_THAT(errorOf("2xi32=normal(0,1)"), HasSubstr("a float type, got i32"));
  EXPECT_THAT(errorOf("2xi32=uniform(0,1e300)"), HasSubstr("2^53"));
  EXPECT_THAT(errorOf("index"), HasSubstr("expected '=' and a number"));
  EXPECT_THAT(errorOf("index=iota"), HasSubstr("expected a number"));
  EXPECT_THAT(errorOf("f32=@a.npy"), HasSubstr("got a file"));
  EXPECT_THAT(errorOf("index=1,2"), HasSubstr("expected 1 numbers"));
  EXPECT_THAT(errorOf("1000000000x1000000000x1000000000xf32=1"),
              HasSubstr("within the address space"));
  EXPECT_THAT(errorOf("1000000000x1000000xf32=1"), HasSubstr("can't allocate"));
}

TEST(Spec, outputs) {
  EXPECT_EQ(parseOutputSpec("-")->path, "");
  EXPECT_EQ(parseOutputSpec("o=-")->name, "o");
  EXPECT_EQ(parseOutputSpec("o=@a.npy")->path, "a.npy");
  EXPECT_EQ(parseOutputSpec("@a.npy")->path, "a.npy");
  for (const char *text : {"", "o", "o=", "@", "o=@", "--"})
    EXPECT_FALSE(parseOutputSpec(text).ok()) << text;
}

TEST(Spec, mutated_text_never_crashes) {
  std::mt19937 random(5);
  const std::string good[] = {"q=4x8xf32=normal(0,1)", "2x2xi8=1,2,3,4",
                              "index=5", "x=3xf64=uniform(-1,1)"};
  for (int i = 0; i < 200000; ++i) {
    std::string text = good[random() % 4];
    for (unsigned edits = random() % 4 + 1; edits > 0 && !text.empty();
         --edits) {
      size_t at = random() % text.size();
      if (random() % 2)
        text[at] = static_cast<char>(random());
      else
        text.insert(at, good[random() % 4], random() % 5, random() % 5);
    }
    (void)parseInputSpec(text).ok();
    (void)parseOutputSpec(text).ok();
  }
}

} // namespace
