/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What code compiled ahead of time says to a C program that passes it wrong
 * arguments: a status and a message, and nothing is written.
 */

#include "attention.h"
#include "capped.h"
#include "tiles.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static float numbers[8 * 4 * 64], output[8 * 4 * 64], lse_output[8 * 4];
static int failures = 0;

static const int64_t q_sizes[] = {1, 8, 4, 64}, k_sizes[] = {1, 2, 4, 64};
static attn_tensor q = {numbers, ATTN_F32, 4, q_sizes, 0};
static attn_tensor k = {numbers, ATTN_F32, 4, k_sizes, 0};
static attn_tensor v = {numbers, ATTN_F32, 4, k_sizes, 0};
static attn_tensor o = {output, ATTN_F32, 4, q_sizes, 0};
static attn_tensor lse = {lse_output, ATTN_F32, 3, q_sizes, 0};

static void expect(const char *what, attn_status got, attn_status status,
                   const char *message) {
  if (got == status && strcmp(attn_message(), message) == 0)
    return;
  printf("%s: expected %d '%s', got %d '%s'\n", what, (int)status, message,
         (int)got, attn_message());
  ++failures;
}

static attn_status plan(const attn_tensor *query, const attn_tensor *value) {
  int64_t o_sizes[4], lse_sizes[3];
  return attention_plan(query, &k, value, o_sizes, lse_sizes);
}

static void check_arguments(void) {
  attn_tensor wrong = q;
  wrong.dtype = ATTN_BF16;
  expect("type", plan(&wrong, &v), ATTN_INVALID_ARGUMENT,
         "function 'main' argument 0 (q): expected elements of type f32, got "
         "bf16");
  wrong.dtype = (attn_dtype)77;
  expect(
      "no type", plan(&wrong, &v), ATTN_INVALID_ARGUMENT,
      "function 'main' argument 0 (q): expected elements of type f32, got no "
      "element type");
  wrong = q;
  wrong.rank = 3;
  expect("rank", plan(&wrong, &v), ATTN_INVALID_ARGUMENT,
         "function 'main' argument 0 (q): expected rank 4, got rank 3");
  wrong.rank = -1;
  expect(
      "negative rank", plan(&wrong, &v), ATTN_INVALID_ARGUMENT,
      "function 'main' argument 0: expected a rank that is not negative, got "
      "-1");
  wrong = q;
  wrong.sizes = 0;
  expect("no sizes", plan(&wrong, &v), ATTN_INVALID_ARGUMENT,
         "function 'main' argument 0: expected 4 sizes, got a null pointer");
  expect("no tensor", plan(0, &v), ATTN_INVALID_ARGUMENT,
         "function 'main' argument 0: expected a tensor, got a null pointer");
  wrong = q;
  wrong.data = 0;
  expect(
      "no data", plan(&wrong, &v), ATTN_INVALID_ARGUMENT,
      "function 'main' argument 0 (q): expected memory for 1x8x4x64xf32, got "
      "a null pointer");
  const int64_t short_sizes[] = {1, 2, 3, 64};
  wrong = v;
  wrong.sizes = short_sizes;
  expect("rule", plan(&q, &wrong), ATTN_INVALID_ARGUMENT,
         "'attn.gqa' op value: expected length (from key) 4, got 3");
}

static void check_results(void) {
  attn_tensor wrong = o;
  wrong.sizes = k_sizes;
  expect("sizes", attention(&q, &k, &v, &wrong, &lse, 1), ATTN_INVALID_ARGUMENT,
         "function 'main' result 0 (o): expected dimension 1 of size 8, got 2");
  wrong = o;
  wrong.data = numbers;
  expect("overlap", attention(&q, &k, &v, &wrong, &lse, 1),
         ATTN_INVALID_ARGUMENT,
         "function 'main' result 0 (o): expected memory of its own, got an "
         "overlap with function 'main' argument 0 (q)");
  expect("no result", attention(&q, &k, &v, &o, 0, 1), ATTN_INVALID_ARGUMENT,
         "function 'main' result 1: expected a tensor, got a null pointer");
  expect("threads", attention(&q, &k, &v, &o, &lse, -1), ATTN_INVALID_ARGUMENT,
         "threads: expected 0 to 1024, got -1");
  for (size_t i = 0; i < sizeof output / sizeof *output; ++i)
    if (output[i] != 0) {
      printf("a refused call wrote to its result\n");
      ++failures;
      return;
    }
}

/* Numbers that a rule refuses are refused by the plan and by the call. */
static void check_numbers(void) {
  int64_t o_sizes[4];
  expect("softcap of 0", capped_plan(&q, 0.0f, o_sizes), ATTN_INVALID_ARGUMENT,
         "'attn.softmax' op softcap: expected a number > 0 that is normal in "
         "f32 with its reciprocal, got 0");
  expect("softcap of -2.5", capped(&q, -2.5f, &o, 1), ATTN_INVALID_ARGUMENT,
         "'attn.softmax' op softcap: expected a number > 0 that is normal in "
         "f32 with its reciprocal, got -2.5");
  expect("softcap of 50", capped_plan(&q, 50.0f, o_sizes), ATTN_OK, "");
}

/* Sizes that no memory holds, of tensors that repeat one row. */
static void check_size(void) {
  const int64_t many = (int64_t)1 << 40, row_strides[] = {0, 0, 0, 1};
  const int64_t many_q[] = {1, 8, many, 64}, many_k[] = {1, 2, many, 64};
  attn_tensor large_q = {numbers, ATTN_F32, 4, many_q, row_strides};
  attn_tensor large_k = {numbers, ATTN_F32, 4, many_k, row_strides};
  int64_t o_sizes[4], lse_sizes[3];
  expect("scores",
         attention_plan(&large_q, &large_k, &large_k, o_sizes, lse_sizes),
         ATTN_OUT_OF_MEMORY,
         "function 'main': expected at most 2^56 scores (batch x query heads x "
         "queries x keys), got more");
}

static void check_cpu(void) {
  attn_status status = tiles(&q, &k, &v, &o, &lse, 1);
  /* It may also be the kernel that does not permit tiles. */
  if (status == ATTN_OK && __builtin_cpu_supports("amx-tile"))
    return;
  const char *start = "function 'main': compiled for cpu:amx, but ";
  if (status != ATTN_UNSUPPORTED ||
      strncmp(attn_message(), start, strlen(start)) != 0) {
    printf("CPU: got %d '%s'\n", (int)status, attn_message());
    ++failures;
  }
}

/* Threads of this process: OpenMP keeps those of the largest call so far. */
static int count_threads(void) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *entry; tasks && (entry = readdir(tasks));)
    count += entry->d_name[0] != '.';
  if (tasks)
    closedir(tasks);
  return count;
}

int main(void) {
  check_arguments();
  check_numbers();
  check_results();
  check_size();
  check_cpu();

  /* All numbers are equal, so every row of the result is that number. */
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
    numbers[i] = 0.5f;
  int64_t o_sizes[4], lse_sizes[3];
  expect("plan", attention_plan(&q, &k, &v, o_sizes, lse_sizes), ATTN_OK, "");
  if (memcmp(o_sizes, q_sizes, sizeof o_sizes) != 0 ||
      memcmp(lse_sizes, q_sizes, sizeof lse_sizes) != 0) {
    printf("plan: other sizes\n");
    ++failures;
  }
  expect("call", attention(&q, &k, &v, &o, &lse, 2), ATTN_OK, "");
  for (size_t i = 0; i < sizeof output / sizeof *output; ++i)
    if (!(output[i] > 0.49999f && output[i] < 0.50001f)) {
      printf("output %d: expected 0.5, got %g\n", (int)i, output[i]);
      ++failures;
      break;
    }
  expect("default", attention(&q, &k, &v, &o, &lse, 0), ATTN_OK, "");
  printf("%d threads\n", count_threads());
  printf("%d failures\n", failures);
  return failures != 0;
}
