// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/NpyHeader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace attn;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

std::string errorOf(std::string_view text) {
  Result<NpyHeader> header = parseNpyHeader(text);
  return header ? "" : header.error().message;
}

TEST(NpyHeader, as_numpy_writes_it) {
  Result<NpyHeader> header = parseNpyHeader(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n");
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->descr, "<f4");
  EXPECT_FALSE(header->isFortranOrder);
  EXPECT_THAT(header->shape, ElementsAre(3, 4));
}

TEST(NpyHeader, any_order_and_spacing) {
  Result<NpyHeader> header =
      parseNpyHeader("{\"shape\":(5,),\n'fortran_order' :True,'descr':'>i8'}");
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->descr, ">i8");
  EXPECT_TRUE(header->isFortranOrder);
  EXPECT_THAT(header->shape, ElementsAre(5));
}

TEST(NpyHeader, python_2_and_rank_0) {
  Result<NpyHeader> header = parseNpyHeader(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3L, 0L)}");
  ASSERT_TRUE(header.ok());
  EXPECT_THAT(header->shape, ElementsAre(3, 0));
  header =
      parseNpyHeader("{'descr': '<f4', 'fortran_order': False, 'shape': ()}");
  ASSERT_TRUE(header.ok());
  EXPECT_THAT(header->shape, IsEmpty());
}

TEST(NpyHeader, broken_text_says_where) {
  EXPECT_EQ(errorOf(""), "header position 0: expected '{', got the end");
  EXPECT_THAT(errorOf("{'descr': '<f4"), HasSubstr("expected a closing quote"));
  EXPECT_THAT(errorOf("{'descr': '<f4',"),
              HasSubstr("expected a quoted string, got the end"));
  EXPECT_THAT(errorOf("{'descr' '<f4'}"), HasSubstr("':' after 'descr'"));
  EXPECT_THAT(errorOf("{'descr': '\xff'}"), HasSubstr("got byte 255"));
  EXPECT_THAT(errorOf("{'descr': [('a', '<f4')]}"),
              HasSubstr("no structured types"));
  EXPECT_THAT(errorOf("{'fortran_order': 0}"), HasSubstr("True or False"));
  EXPECT_THAT(errorOf("{'descr': '<f4', 'descr': '<f4'}"), HasSubstr("once"));
  EXPECT_THAT(errorOf("{'color': 'red'}"),
              HasSubstr("header position 1: expected each of"));
  EXPECT_THAT(errorOf("{'descr': '<f4', 'fortran_order': False}"),
              HasSubstr("a key 'shape'"));
  EXPECT_THAT(
      errorOf("{'descr': '<f4', 'fortran_order': False, 'shape': ()} x"),
      HasSubstr("nothing after '}', got 'x'"));
}

TEST(NpyHeader, broken_shapes) {
  auto shapeError = [](const std::string &shape) {
    return errorOf(
        "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}");
  };
  EXPECT_THAT(shapeError("3"), HasSubstr("'(' of the shape"));
  EXPECT_THAT(shapeError("(3)"), HasSubstr("',' after a size"));
  EXPECT_THAT(shapeError("(3 4)"), HasSubstr("',' after a size"));
  EXPECT_THAT(shapeError("(3,,4)"), HasSubstr("a non-negative size, got ','"));
  EXPECT_THAT(shapeError("(,)"), HasSubstr("a non-negative size"));
  EXPECT_THAT(shapeError("(-3,)"), HasSubstr("a non-negative size, got '-'"));
  EXPECT_THAT(shapeError("(3, 4"), HasSubstr("',' after a size"));
  EXPECT_THAT(shapeError("((3,),)"), HasSubstr("a non-negative size, got '('"));
  EXPECT_THAT(shapeError("(9223372036854775808,)"), HasSubstr("below 2^63"));
  EXPECT_EQ(shapeError("(9223372036854775807,)"), "");
  std::string many = "(";
  for (int i = 0; i < 65; ++i)
    many += "1,";
  EXPECT_THAT(shapeError(many + ")"), HasSubstr("at most 64 dimensions"));
}

TEST(NpyHeader, element_types) {
  struct Case {
    const char *descr;
    DType dtype;
    bool isBigEndian;
  };
  for (const Case &c :
       {Case{"<f8", DType::f64, false}, Case{">f4", DType::f32, true},
        Case{"=f2", DType::f16, false}, Case{"|b1", DType::i1, false},
        Case{"|i1", DType::i8, false}, Case{"|u1", DType::u8, false},
        Case{">i4", DType::i32, true}, Case{"<i8", DType::i64, false},
        Case{"<V2", DType::bf16, false}, Case{"|V2", DType::bf16, false},
        Case{">V2", DType::bf16, true}, Case{">f8", DType::f64, true},
        Case{"bfloat16", DType::bf16, false}}) {
    Result<NpyElement> element = parseNpyDescr(c.descr, {});
    ASSERT_TRUE(element.ok()) << c.descr;
    EXPECT_EQ(element->dtype, c.dtype) << c.descr;
    EXPECT_EQ(element->isBigEndian, c.isBigEndian) << c.descr;
  }
  for (const char *descr : {"<i2", "<u2", "<u4", "<u8", "<c8", "<f16", "|O",
                            "<U4", "|f4", "f4", "", "<", "<V3"}) {
    Result<NpyElement> element = parseNpyDescr(descr, {});
    ASSERT_FALSE(element.ok()) << descr;
    EXPECT_THAT(element.error().message,
                HasSubstr(std::string("got '") + descr + "'"));
  }
}

TEST(NpyHeader, sixteen_bits_are_bf16_on_request) {
  for (auto [descr, isBigEndian] :
       {std::pair("<u2", false), {"=u2", false}, {">u2", true}}) {
    Result<NpyElement> element = parseNpyDescr(descr, DType::bf16);
    ASSERT_TRUE(element.ok()) << descr;
    EXPECT_EQ(element->dtype, DType::bf16) << descr;
    EXPECT_EQ(element->isBigEndian, isBigEndian) << descr;
    EXPECT_FALSE(parseNpyDescr(descr, DType::f16).ok()) << descr;
  }
}

TEST(NpyHeader, what_is_formatted_parses_back) {
  for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16,
                      DType::i1, DType::i8, DType::u8, DType::i32, DType::i64})
    for (const std::vector<int64_t> &shape :
         {std::vector<int64_t>{}, {7}, {2, 0, 3}}) {
      Result<NpyHeader> header = parseNpyHeader(formatNpyHeader(dtype, shape));
      ASSERT_TRUE(header.ok()) << header.error().message;
      EXPECT_EQ(header->shape, shape);
      Result<NpyElement> element = parseNpyDescr(header->descr, {});
      ASSERT_TRUE(element.ok()) << header->descr;
      EXPECT_EQ(element->dtype, dtype);
      EXPECT_FALSE(element->isBigEndian);
    }
}

TEST(NpyHeader, mutated_text_never_crashes) {
  std::mt19937 random(11);
  const std::string good =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n";
  int accepted = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string text = good;
    for (unsigned edits = random() % 4 + 1; edits > 0 && !text.empty();
         --edits) {
      size_t at = random() % text.size();
      switch (random() % 3) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, random() % 8);
        break;
      default:
        text.insert(at, good, random() % good.size(), random() % 8);
      }
    }
    accepted += parseNpyHeader(text).ok();
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 200000);
}

} // namespace
