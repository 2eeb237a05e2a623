/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Calls attention that was compiled ahead of time from C. All queries are 0, so
 * that a row of the result is the mean of the values that it sees: of keys 0 to
 * j, where value j is j, that is j / 2. attention.h comes from
 * examples/ahead/attention.mlir.
 */

#include "attention.h"

#include <stdio.h>

enum { query_heads = 8, key_heads = 2, queries = 3, keys = 10, dim = 64 };

static float q_data[query_heads * queries * dim];
static float k_data[key_heads * keys * dim], v_data[key_heads * keys * dim];
static float o_data[query_heads * queries * dim],
    lse_data[query_heads * queries];

static int fail(void) {
  fprintf(stderr, "error: %s\n", attn_message());
  return 1;
}

int main(void) {
  for (int i = 0; i < key_heads * keys * dim; ++i) {
    k_data[i] = (float)(i % 7) - 3;
    v_data[i] = (float)(i / dim % keys);
  }
  const int64_t q_sizes[] = {1, query_heads, queries, dim};
  const int64_t k_sizes[] = {1, key_heads, keys, dim};
  attn_tensor q = {q_data, ATTN_F32, 4, q_sizes, NULL};
  attn_tensor k = {k_data, ATTN_F32, 4, k_sizes, NULL};
  attn_tensor v = {v_data, ATTN_F32, 4, k_sizes, NULL};

  /* The sizes of the results are those of the queries here. */
  int64_t o_sizes[4], lse_sizes[3];
  if (attention_plan(&q, &k, &v, o_sizes, lse_sizes) != ATTN_OK)
    return fail();
  attn_tensor o = {o_data, ATTN_F32, 4, o_sizes, NULL};
  attn_tensor lse = {lse_data, ATTN_F32, 3, lse_sizes, NULL};
  if (attention(&q, &k, &v, &o, &lse, /*threads=*/0) != ATTN_OK)
    return fail();

  for (int row = 0; row < query_heads * queries; ++row) {
    /* Queries are the last tokens; they see what is before them. */
    float expected = (float)(keys - queries + row % queries) / 2;
    for (int d = 0; d < dim; ++d) {
      float got = o_data[row * dim + d];
      if (!(got > expected - 1e-5f && got < expected + 1e-5f)) {
        fprintf(stderr, "row %d: expected %g, got %g\n", row, expected, got);
        return 1;
      }
    }
  }
  printf("ok: %d rows of %d numbers\n", query_heads * queries, dim);
  return 0;
}
