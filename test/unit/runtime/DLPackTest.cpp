// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DLPack in and out: types, layouts, who frees what, and what is refused.

#include "runtime/DLPack.h"

#include "runtime/DLPackVersioned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// A tensor of another library, as both structs, that counts how often it is
/// deleted.
struct Foreign {
  Foreign() {
    managed.dl_tensor = {data.data(),       {kDLCPU, 0},  2,
                         {kDLFloat, 32, 1}, sizes.data(), nullptr,
                         /*byte_offset=*/0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor *self) {
      ++static_cast<Foreign *>(self->manager_ctx)->deleted;
    };
  }

  DLManagedTensorVersioned *asVersioned() {
    versioned.version.major = 1;
    versioned.version.minor = 1;
    versioned.manager_ctx = this;
    versioned.deleter = [](DLManagedTensorVersioned *self) {
      ++static_cast<Foreign *>(self->manager_ctx)->deleted;
    };
    versioned.dl_tensor = managed.dl_tensor;
    return &versioned;
  }

  std::vector<float> data = {0, 1, 2, 3, 4, 5};
  std::vector<int64_t> sizes = {2, 3}, strides = {1, 2};
  DLManagedTensor managed = {};
  DLManagedTensorVersioned versioned = {};
  int deleted = 0;
};

class ImportError : public testing::Test {
protected:
  /// The error of importing the tensor, which stays the caller's.
  std::string error() {
    Result<ImportedTensor> imported = importDLPack(&foreign.managed);
    EXPECT_FALSE(imported.ok());
    EXPECT_EQ(foreign.deleted, 0);
    return imported ? "" : imported.error().message;
  }

  Foreign foreign;
  DLTensor &tensor = foreign.managed.dl_tensor;
};

TEST(ImportDLPack, shares_memory_and_deletes_once) {
  Foreign foreign;
  {
    Result<ImportedTensor> imported = importDLPack(&foreign.managed);
    ASSERT_TRUE(imported.ok()) << imported.error().message;
    EXPECT_EQ(imported->view().data, foreign.data.data());
    EXPECT_EQ(imported->view().dtype, DType::f32);
    EXPECT_THAT(imported->view().sizes, ElementsAre(2, 3));
    EXPECT_THAT(imported->view().strides, IsEmpty());
    EXPECT_FALSE(imported->isReadOnly());
    ImportedTensor moved = std::move(*imported);
    EXPECT_EQ(foreign.deleted, 0);
    EXPECT_EQ(moved.view().data, foreign.data.data());
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(ImportDLPack, takes_versioned_tensors) {
  Foreign foreign;
  for (uint64_t flags : {uint64_t(0), dlpackReadOnly}) {
    foreign.asVersioned()->flags = flags;
    Result<ImportedTensor> imported = importDLPack(&foreign.versioned);
    ASSERT_TRUE(imported.ok()) << imported.error().message;
    EXPECT_EQ(imported->view().data, foreign.data.data());
    EXPECT_EQ(imported->isReadOnly(), flags != 0);
  }
  EXPECT_EQ(foreign.deleted, 2);
}

TEST(ImportDLPack, strides_count_elements_and_the_offset_bytes) {
  Foreign foreign;
  foreign.managed.dl_tensor.strides = foreign.strides.data();
  foreign.managed.dl_tensor.byte_offset = 4;
  foreign.sizes = {2, 2};
  Result<ImportedTensor> imported = importDLPack(&foreign.managed);
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_THAT(imported->view().strides, ElementsAre(1, 2));
  Result<Tensor> copy = Tensor::copyOf(imported->view());
  ASSERT_TRUE(copy.ok());
  EXPECT_THAT(std::vector<float>(copy->data<float>(), copy->data<float>() + 4),
              ElementsAre(1, 3, 2, 4));
}

TEST(ImportDLPack, needs_no_deleter) {
  Foreign foreign;
  foreign.managed.deleter = nullptr;
  EXPECT_TRUE(importDLPack(&foreign.managed).ok());
}

TEST(ImportDLPack, knows_every_element_type) {
  struct Case {
    uint8_t code, bits;
    DType dtype;
  };
  for (const Case &each : {Case{kDLFloat, 64, DType::f64},
                           {kDLFloat, 32, DType::f32},
                           {kDLFloat, 16, DType::f16},
                           {kDLBfloat, 16, DType::bf16},
                           {kDLInt, 8, DType::i8},
                           {kDLInt, 32, DType::i32},
                           {kDLInt, 64, DType::i64},
                           {kDLUInt, 8, DType::u8},
                           {/*kDLBool*/ 6, 8, DType::i1}}) {
    Foreign foreign;
    foreign.sizes = {1, 3};
    foreign.managed.dl_tensor.dtype = {each.code, each.bits, 1};
    Result<ImportedTensor> imported = importDLPack(&foreign.managed);
    ASSERT_TRUE(imported.ok()) << imported.error().message;
    EXPECT_EQ(imported->view().dtype, each.dtype);

    // The same type goes out again.
    Result<Tensor> tensor = Tensor::empty(each.dtype, {5});
    ASSERT_TRUE(tensor.ok());
    DLManagedTensor *out = exportDLPack(std::move(*tensor));
    EXPECT_EQ(out->dl_tensor.dtype.code, each.code);
    EXPECT_EQ(out->dl_tensor.dtype.bits, each.bits);
    EXPECT_EQ(out->dl_tensor.dtype.lanes, 1);
    out->deleter(out);
  }
}

TEST(ImportDLPack, empty_tensors_and_scalars) {
  Foreign foreign;
  foreign.sizes = {0, 3};
  foreign.managed.dl_tensor.data = nullptr;
  EXPECT_TRUE(importDLPack(&foreign.managed).ok());
  Foreign scalar;
  scalar.managed.dl_tensor.ndim = 0;
  scalar.managed.dl_tensor.shape = nullptr;
  Result<ImportedTensor> imported = importDLPack(&scalar.managed);
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_THAT(imported->view().sizes, IsEmpty());
}

TEST(ImportDLPack, null_is_refused) {
  EXPECT_EQ(
      importDLPack(static_cast<DLManagedTensor *>(nullptr)).error().message,
      "DLPack tensor: expected a tensor, got a null pointer");
  EXPECT_FALSE(importDLPack(static_cast<DLManagedTensorVersioned *>(nullptr)));
}

TEST(ImportDLPack, other_versions_are_refused) {
  Foreign foreign;
  foreign.asVersioned()->version.major = 2;
  EXPECT_EQ(importDLPack(&foreign.versioned).error().message,
            "DLPack tensor: expected version 1 of DLPack, got version 2.1");
  EXPECT_EQ(foreign.deleted, 0);
}

TEST_F(ImportError, device) {
  tensor.device.device_type = kDLCUDA;
  EXPECT_EQ(error(), "DLPack tensor: expected memory of the CPU (device type "
                     "1), got device type 2");
}

TEST_F(ImportError, element_type) {
  const std::string expected =
      "DLPack tensor: expected elements of type f16, bf16, f32, f64, i8, u8, "
      "i32, i64 or bool, of one lane, got ";
  tensor.dtype = {kDLComplex, 64, 1};
  EXPECT_EQ(error(), expected + "type code 5 of 64 bits and 1 lanes");
  tensor.dtype = {kDLFloat, 32, 4};
  EXPECT_EQ(error(), expected + "type code 2 of 32 bits and 4 lanes");
  tensor.dtype = {kDLInt, 16, 1};
  EXPECT_EQ(error(), expected + "type code 0 of 16 bits and 1 lanes");
}

TEST_F(ImportError, shape) {
  tensor.ndim = -1;
  EXPECT_EQ(error(),
            "DLPack tensor: expected a rank that is not negative, got -1");
  tensor.ndim = 2;
  tensor.shape = nullptr;
  EXPECT_EQ(error(), "DLPack tensor: expected 2 sizes, got a null pointer");
  tensor.shape = foreign.sizes.data();
  foreign.sizes = {2, -3};
  EXPECT_EQ(error(),
            "DLPack tensor: expected sizes that are not negative, got -3");
  foreign.sizes = {int64_t(1) << 40, int64_t(1) << 40};
  EXPECT_EQ(error(), "DLPack tensor: expected sizes and strides within the "
                     "address space, got 1099511627776x1099511627776xf32");
  foreign.sizes = {2, 3};
  foreign.strides = {INT64_MAX, 1};
  tensor.strides = foreign.strides.data();
  EXPECT_EQ(error(), "DLPack tensor: expected sizes and strides within the "
                     "address space, got 2x3xf32");
}

TEST_F(ImportError, memory) {
  tensor.byte_offset = UINT64_MAX;
  EXPECT_EQ(error(), "DLPack tensor: expected a byte offset within the address "
                     "space, got 18446744073709551615");
  tensor.data = nullptr;
  tensor.byte_offset = 0;
  EXPECT_EQ(error(), "DLPack tensor: expected memory for 2x3xf32, got a null "
                     "pointer");
}

TEST(ExportDLPack, memory_lives_until_it_is_deleted) {
  Result<Tensor> tensor = Tensor::empty(DType::f32, {2, 3});
  ASSERT_TRUE(tensor.ok());
  for (int i = 0; i < 6; ++i)
    tensor->set(i, i);
  const void *memory = tensor->raw();
  DLManagedTensor *out = exportDLPack(std::move(*tensor));
  EXPECT_EQ(out->dl_tensor.data, memory);
  EXPECT_EQ(out->dl_tensor.device.device_type, kDLCPU);
  EXPECT_EQ(out->dl_tensor.ndim, 2);
  EXPECT_EQ(out->dl_tensor.byte_offset, 0u);
  EXPECT_THAT(
      std::vector<int64_t>(out->dl_tensor.shape, out->dl_tensor.shape + 2),
      ElementsAre(2, 3));
  EXPECT_THAT(
      std::vector<int64_t>(out->dl_tensor.strides, out->dl_tensor.strides + 2),
      ElementsAre(3, 1));
  EXPECT_EQ(static_cast<float *>(out->dl_tensor.data)[5], 5);
  out->deleter(out);
}

TEST(ExportDLPack, comes_back_through_import) {
  Result<Tensor> tensor = Tensor::empty(DType::bf16, {4, 1, 2});
  ASSERT_TRUE(tensor.ok());
  const void *memory = tensor->raw();
  DLManagedTensorVersioned *out = exportDLPackVersioned(std::move(*tensor));
  EXPECT_EQ(out->version.major, 1u);
  EXPECT_EQ(out->flags, 0u);
  Result<ImportedTensor> imported = importDLPack(out);
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(imported->view().data, memory);
  EXPECT_THAT(imported->view().sizes, ElementsAre(4, 1, 2));
}

} // namespace
