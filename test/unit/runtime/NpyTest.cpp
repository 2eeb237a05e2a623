// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files are put together byte by byte, so that nothing of the writer is needed
// to test the reader.

#include "runtime/Npy.h"

#include "TemporaryFolder.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

std::string dictionary(const std::string &descr, const std::string &shape,
                       bool isFortran = false) {
  return "{'descr': '" + descr +
         "', 'fortran_order': " + (isFortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

/// A file of version `major`.0; `headerSize` overrides the true size.
std::string npy(int major, const std::string &header, const std::string &data,
                int64_t headerSize = -1) {
  if (headerSize < 0)
    headerSize = header.size();
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(major);
  bytes += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(headerSize >> (8 * i));
  return bytes + header + data;
}

template <class T> std::string bytesOf(std::initializer_list<T> values) {
  std::string bytes;
  for (T value : values)
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
  return bytes;
}

std::vector<double> valuesOf(const Tensor &tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    values.push_back(tensor.at(i));
  return values;
}

class Npy : public testing::Test {
protected:
  Result<Tensor> read(const std::string &bytes,
                      std::optional<DType> expected = {}) {
    return readNpy(folder.write("f.npy", bytes), expected);
  }
  std::string errorOf(const std::string &bytes,
                      std::optional<DType> expected = {}) {
    Result<Tensor> tensor = read(bytes, expected);
    if (tensor)
      return "";
    EXPECT_THAT(tensor.error().message,
                StartsWith("file '" + folder.path("f.npy") + "': "));
    return tensor.error().message;
  }
  TemporaryFolder folder;
};

/// 1.0 and -2.0 are 0x3f80 and 0xc000, in the order that the file says.
TEST_F(Npy, bf16_in_both_orders) {
  const std::string little("\x80\x3f\x00\xc0", 4);
  const std::string big("\x3f\x80\xc0\x00", 4);
  for (auto [descr, bytes] : {std::pair("<u2", little),
                              {">u2", big},
                              {"<V2", little},
                              {">V2", big}}) {
    Result<Tensor> tensor =
        read(npy(1, dictionary(descr, "(2,)"), bytes), DType::bf16);
    ASSERT_TRUE(tensor.ok()) << descr << ": " << tensor.error().message;
    EXPECT_EQ(tensor->dtype(), DType::bf16) << descr;
    EXPECT_THAT(valuesOf(*tensor), ElementsAre(1, -2)) << descr;
  }
}

TEST_F(Npy, three_versions) {
  for (int major : {1, 2, 3}) {
    Result<Tensor> tensor = read(npy(major, dictionary("<f4", "(2, 2)"),
                                     bytesOf<float>({1, -2, 3.5, 4})));
    ASSERT_TRUE(tensor.ok()) << tensor.error().message;
    EXPECT_EQ(tensor->dtype(), DType::f32);
    EXPECT_THAT(tensor->sizes(), ElementsAre(2, 2));
    EXPECT_THAT(valuesOf(*tensor), ElementsAre(1, -2, 3.5, 4));
  }
}

TEST_F(Npy, big_endian) {
  Result<Tensor> tensor =
      read(npy(1, dictionary(">i4", "(2,)"),
               std::string("\x00\x00\x01\x02\xff\xff\xff\xfe", 8)));
  ASSERT_TRUE(tensor.ok());
  EXPECT_THAT(valuesOf(*tensor), ElementsAre(258, -2));
}

TEST_F(Npy, fortran_order_becomes_row_major) {
  // [[1, 2, 3], [4, 5, 6]] stored column by column.
  Result<Tensor> tensor = read(npy(1, dictionary("<f8", "(2, 3)", true),
                                   bytesOf<double>({1, 4, 2, 5, 3, 6})));
  ASSERT_TRUE(tensor.ok());
  EXPECT_THAT(tensor->sizes(), ElementsAre(2, 3));
  EXPECT_THAT(valuesOf(*tensor), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(Npy, fortran_order_in_three_dimensions) {
  std::string data;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i)
        data += bytesOf<int64_t>({100 * i + 10 * j + k});
  Result<Tensor> tensor =
      read(npy(1, dictionary("<i8", "(2, 3, 4)", true), data));
  ASSERT_TRUE(tensor.ok());
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k)
        EXPECT_EQ(tensor->at((i * 3 + j) * 4 + k), 100 * i + 10 * j + k);
}

TEST_F(Npy, bf16_and_bool) {
  Result<Tensor> tensor = read(
      npy(1, dictionary("<V2", "(2,)"), bytesOf<uint16_t>({0x3f80, 0xc020})));
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->dtype(), DType::bf16);
  EXPECT_THAT(valuesOf(*tensor), ElementsAre(1, -2.5));
  tensor = read(npy(1, dictionary("<u2", "(1,)"), bytesOf<uint16_t>({0x3f80})),
                DType::bf16);
  ASSERT_TRUE(tensor.ok());
  EXPECT_THAT(valuesOf(*tensor), ElementsAre(1));
  tensor = read(npy(1, dictionary("|b1", "(3,)"), std::string("\0\1\7", 3)));
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->data<uint8_t>()[2], 1);
}

TEST_F(Npy, empty_and_rank_zero) {
  Result<Tensor> tensor = read(npy(1, dictionary("<f4", "(3, 0)"), ""));
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->numElements(), 0);
  tensor = read(npy(1, dictionary("<f4", "()"), bytesOf<float>({7})));
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->at(0), 7);
}

TEST_F(Npy, another_type_than_expected) {
  EXPECT_THAT(errorOf(npy(1, dictionary("<f4", "(1,)"), bytesOf<float>({7})),
                      DType::bf16),
              HasSubstr("expected elements of type bf16, got f32"));
}

TEST_F(Npy, not_an_npy_file) {
  EXPECT_THAT(errorOf(""),
              HasSubstr("npy magic 93 4e 55 4d 50 59, got nothing"));
  EXPECT_THAT(errorOf("PK\x03\x04zip"), HasSubstr("got 50 4b 03 04 7a 69"));
  EXPECT_THAT(errorOf("\x93NUMPY"), HasSubstr("got the end of the file"));
  EXPECT_THAT(errorOf(npy(4, dictionary("<f4", "()"), "abcd")),
              HasSubstr("version 1.0, 2.0 or 3.0, got 4.0"));
}

TEST_F(Npy, header_sizes_that_lie) {
  std::string header = dictionary("<f4", "(1,)");
  EXPECT_THAT(errorOf(npy(1, header, "abcd", 60000)),
              HasSubstr("expected a header of 60000 bytes, got a file of"));
  EXPECT_THAT(errorOf(npy(2, header, "abcd", 0xffffffff)),
              HasSubstr("at most 65536 bytes, got 4294967295"));
  EXPECT_THAT(errorOf(npy(1, header, "abcd", 10)),
              HasSubstr("header position"));
  EXPECT_THAT(errorOf(npy(1, header, "abcd", header.size() + 4)),
              HasSubstr("nothing after '}'"));
  EXPECT_THAT(errorOf(std::string("\x93NUMPY\x01\x00\x05", 9)),
              HasSubstr("expected a header of 5 bytes"));
}

TEST_F(Npy, sizes_against_the_file) {
  EXPECT_THAT(
      errorOf(npy(1, dictionary("<f4", "(3,)"), bytesOf<float>({1, 2}))),
      HasSubstr("expected 12 bytes of data for 3xf32, got 8"));
  EXPECT_THAT(
      errorOf(npy(1, dictionary("<f4", "(1,)"), bytesOf<float>({1, 2}))),
      HasSubstr("expected 4 bytes of data for 1xf32, got 8"));
  EXPECT_THAT(errorOf(npy(1, dictionary("<f4", "(1152921504606846976,)"), "")),
              HasSubstr("got 0"));
  EXPECT_THAT(
      errorOf(npy(1, dictionary("<f4", "(4294967296, 4294967296)"), "")),
      HasSubstr("bytes fit into 63 bits, got shape 4294967296x4294967296"));
}

TEST_F(Npy, every_truncation_is_an_error) {
  std::string whole = npy(1, dictionary("<f4", "(2,)"), bytesOf<float>({1, 2}));
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(errorOf(whole.substr(0, size)), "") << size;
}

TEST_F(Npy, what_is_written_is_read) {
  for (DType dtype :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i1, DType::i8,
        DType::u8, DType::i32, DType::i64}) {
    Result<Tensor> tensor = Tensor::empty(dtype, {2, 3});
    ASSERT_TRUE(tensor.ok());
    for (int i = 0; i < 6; ++i)
      tensor->set(i, i % 2);
    std::string path = folder.path("w.npy");
    ASSERT_TRUE(writeNpy(path, tensor->view()).ok());
    Result<Tensor> back = readNpy(path, dtype);
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(back->sizes(), tensor->sizes());
    EXPECT_EQ(std::memcmp(back->raw(), tensor->raw(), tensor->numBytes()), 0);
  }
}

TEST_F(Npy, strided_views_are_packed) {
  int32_t data[] = {0, 1, 2, 3, 4, 5};
  std::string path = folder.path("w.npy");
  ASSERT_TRUE(writeNpy(path, {data, DType::i32, {3, 2}, {1, 3}}).ok());
  Result<Tensor> back = readNpy(path);
  ASSERT_TRUE(back.ok());
  EXPECT_THAT(valuesOf(*back), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST_F(Npy, the_header_is_the_one_numpy_writes) {
  float data[] = {1, 2};
  std::string path = folder.path("w.npy");
  ASSERT_TRUE(writeNpy(path, {data, DType::f32, {2}, {}}).ok());
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  ASSERT_EQ(bytes.size(), 128u + 8u);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(bytes.substr(10, 59),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }  ");
  EXPECT_EQ(bytes[127], '\n');
}

} // namespace
