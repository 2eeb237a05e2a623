// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads that a call really has. OpenMP reads its variables once, and
// keeps the threads of a call for the next one: a process of its own, and one
// test.

#include "runtime/Engine.h"
#include "runtime/Tensor.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

using namespace attn;

namespace {

int64_t countThreads() {
  std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(ThreadCount, omp_num_threads_is_the_default_and_a_number_overrides_it) {
  ASSERT_EQ(setenv("OMP_NUM_THREADS", "4", /*replace=*/1), 0);
  // 24 tiles of queries and more, so that there is work for all.
  auto program = Engine().compileText(R"(
    func.func @main(%q: tensor<1x8x200x16xf32>) -> tensor<1x8x200x16xf32> {
      %o = attn.softmax %q, %q, %q
          : (tensor<1x8x200x16xf32>, tensor<1x8x200x16xf32>,
             tensor<1x8x200x16xf32>) -> tensor<1x8x200x16xf32>
      return %o : tensor<1x8x200x16xf32>
    })");
  ASSERT_TRUE(program.ok()) << program.error().message;
  Result<Tensor> q = Tensor::empty(DType::f32, {1, 8, 200, 16});
  ASSERT_TRUE(q.ok());
  std::fill_n(q->data<float>(), q->numElements(), 0.5f);
  auto call = [&](int threads) {
    CallOptions options;
    options.threads = threads;
    auto results = program->call("main", {q->view()}, options);
    ASSERT_TRUE(results.ok()) << results.error().message;
  };
  call(1);
  int64_t alone = countThreads();
  call(2);
  EXPECT_EQ(countThreads() - alone, 1);
  call(0);
  EXPECT_EQ(countThreads() - alone, 3);
  call(6);
  EXPECT_EQ(countThreads() - alone, 5);
}

} // namespace
