// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors and models in files, and what is no tensor or model.

#include "tools/attn-run/onnx/Proto.h"
#include "test/onnx/ModelBuilder.h"

#include "runtime/Files.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace attn;
using namespace attn::importer;
using namespace attn::onnxtest;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

std::string errorOf(const onnx::TensorProto &proto) {
  Result<Tensor> tensor = toTensor(proto);
  return tensor ? "" : tensor.error().message;
}

std::vector<double> elements(const onnx::TensorProto &proto) {
  Result<Tensor> tensor = toTensor(proto);
  EXPECT_TRUE(tensor.ok()) << tensor.error().message;
  return tensor ? elementsOf(*tensor) : std::vector<double>{};
}

TEST(Proto, bytes_of_every_type) {
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16,
                      DType::i8, DType::i32, DType::i64})
    EXPECT_THAT(
        elements(makeTensor("x", typeNumber(dtype), {2, 2}, {1, -2, 0, 3})),
        ElementsAre(1, -2, 0, 3));
  EXPECT_THAT(elements(makeTensor("x", typeNumber(DType::i1), {2}, {1, 0})),
              ElementsAre(1, 0));
  EXPECT_THAT(elements(makeTensor("x", typeNumber(DType::f32), {}, {4})),
              ElementsAre(4));
  EXPECT_THAT(elements(makeTensor("x", typeNumber(DType::f32), {0, 3}, {})),
              ElementsAre());
}

TEST(Proto, fields_of_every_type) {
  onnx::TensorProto proto;
  proto.add_dims(2);
  proto.set_data_type(onnx::TensorProto::FLOAT);
  proto.add_float_data(1.5);
  proto.add_float_data(-2);
  EXPECT_THAT(elements(proto), ElementsAre(1.5, -2));
  proto.set_data_type(onnx::TensorProto::DOUBLE);
  proto.add_double_data(0.1);
  proto.add_double_data(3);
  EXPECT_THAT(elements(proto), ElementsAre(0.1, 3));
  proto.set_data_type(onnx::TensorProto::INT64);
  proto.add_int64_data(-5);
  proto.add_int64_data(7);
  EXPECT_THAT(elements(proto), ElementsAre(-5, 7));
  // Bits of 1 and 2 in f16, numbers elsewhere.
  proto.add_int32_data(0x3c00);
  proto.add_int32_data(0x4000);
  proto.set_data_type(onnx::TensorProto::FLOAT16);
  EXPECT_THAT(elements(proto), ElementsAre(1, 2));
  proto.set_data_type(onnx::TensorProto::INT32);
  EXPECT_THAT(elements(proto), ElementsAre(0x3c00, 0x4000));
}

TEST(Proto, booleans_are_0_or_1) {
  onnx::TensorProto proto;
  proto.add_dims(3);
  proto.set_data_type(onnx::TensorProto::BOOL);
  proto.set_raw_data(std::string("\0\1\7", 3));
  EXPECT_THAT(elements(proto), ElementsAre(0, 1, 1));
}

TEST(Proto, data_of_another_size) {
  onnx::TensorProto proto =
      makeTensor("x", onnx::TensorProto::FLOAT, {2, 3}, {1, 2, 3, 4, 5});
  EXPECT_THAT(errorOf(proto),
              HasSubstr("expected 24 bytes of raw_data, got 20"));
  proto.set_raw_data(std::string(25, '\0'));
  EXPECT_THAT(errorOf(proto),
              HasSubstr("expected 24 bytes of raw_data, got 25"));
  proto.set_raw_data("");
  EXPECT_THAT(errorOf(proto), HasSubstr("expected 6 elements (2x3xf32), got 0 "
                                        "bytes"));
  proto.clear_raw_data();
  for (int i = 0; i < 7; ++i)
    proto.add_float_data(1);
  EXPECT_THAT(errorOf(proto),
              HasSubstr("expected 6 elements in float_data, got 7"));
}

TEST(Proto, sizes_that_nothing_stands_behind) {
  onnx::TensorProto proto =
      makeTensor("x", onnx::TensorProto::FLOAT, {1 << 30, 1 << 20}, {1});
  EXPECT_THAT(errorOf(proto), HasSubstr("elements"));
  EXPECT_THAT(errorOf(makeTensor("x", onnx::TensorProto::FLOAT,
                                 {int64_t(1) << 62, 8}, {})),
              HasSubstr("expected sizes that fit into memory"));
  EXPECT_THAT(errorOf(makeTensor("x", onnx::TensorProto::FLOAT, {-1}, {})),
              HasSubstr("expected sizes that fit into memory"));
}

TEST(Proto, what_is_not_supported_is_named) {
  onnx::TensorProto proto = makeTensor("x", onnx::TensorProto::FLOAT, {1}, {1});
  proto.set_data_type(onnx::TensorProto::STRING);
  EXPECT_THAT(errorOf(proto), HasSubstr("got STRING"));
  proto.set_data_type(99);
  EXPECT_THAT(errorOf(proto), HasSubstr("got type 99"));
  proto.set_data_type(onnx::TensorProto::FLOAT);
  proto.set_data_location(onnx::TensorProto::EXTERNAL);
  EXPECT_THAT(errorOf(proto), HasSubstr("external data"));
  proto.clear_data_location();
  proto.mutable_segment()->set_begin(0);
  EXPECT_THAT(errorOf(proto), HasSubstr("segment"));
}

class ProtoFile : public testing::Test {
protected:
  ProtoFile()
      : folder(std::filesystem::temp_directory_path() /
               ("attn-proto-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder);
  }
  ~ProtoFile() override { std::filesystem::remove_all(folder); }
  std::string write(const std::string &bytes) {
    std::string path = folder / "x.pb";
    EXPECT_TRUE(writeFile(path, {bytes}).ok());
    return path;
  }
  std::filesystem::path folder;
};

TEST_F(ProtoFile, a_tensor_has_its_name) {
  Result<NamedTensor> named = readTensor(
      write(makeTensor("past_key", onnx::TensorProto::FLOAT, {2}, {1, 2})
                .SerializeAsString()));
  ASSERT_TRUE(named.ok()) << named.error().message;
  EXPECT_EQ(named->name, "past_key");
  EXPECT_THAT(elementsOf(named->tensor), ElementsAre(1, 2));
}

TEST_F(ProtoFile, no_message_is_an_error) {
  std::string path = write("\x0a\xff\xff\xff\xff\x0fnothing");
  Result<onnx::ModelProto> model = readModel(path);
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.error().message,
              HasSubstr("x.pb: expected a model of ONNX, got 13 bytes that are "
                        "none"));
  Result<NamedTensor> tensor = readTensor(path);
  ASSERT_FALSE(tensor.ok());
  EXPECT_THAT(tensor.error().message, HasSubstr("expected a tensor of ONNX"));
  // Nothing at all is a message of protobuf.
  Result<onnx::ModelProto> empty = readModel(write(""));
  ASSERT_FALSE(empty.ok());
  EXPECT_THAT(empty.error().message, HasSubstr("got no graph"));
}

TEST_F(ProtoFile, no_file_is_an_error) {
  EXPECT_FALSE(readModel(folder / "none.onnx").ok());
  EXPECT_FALSE(readModel(folder).ok());
  EXPECT_FALSE(readTensor("/dev/zero").ok());
}

} // namespace
