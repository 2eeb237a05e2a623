/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Opens one plug-in after the other and closes it again, so that each may be
 * mapped to the addresses of the one before. All queries are 0: a row of the
 * result is the mean of the values that it sees, where value j is j.
 */

#include <attn/runtime/Ahead.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { tokens = 5, dim = 8, rounds = 4 };

typedef attn_status (*plug_in)(const attn_tensor *, const attn_tensor *,
                               const attn_tensor *, const attn_tensor *);

/* Whether the results are those of the first or of the second plug-in. */
static int is_right(const float *results, int is_causal) {
  for (int row = 0; row < tokens; ++row)
    for (int d = 0; d < dim; ++d) {
      float expected = (float)(is_causal ? row : tokens - 1) / 2;
      float got = results[row * dim + d];
      if (!(got > expected - 1e-5f && got < expected + 1e-5f)) {
        fprintf(stderr, "row %d: expected %g, got %g\n", row, expected, got);
        return 0;
      }
    }
  return 1;
}

static int run(const char *path, int is_causal, void **address) {
  static float zeros[tokens * dim], values[tokens * dim];
  float results[tokens * dim];
  for (int i = 0; i < tokens * dim; ++i) {
    values[i] = (float)(i / dim);
    results[i] = -1;
  }
  const int64_t sizes[] = {1, 1, tokens, dim};
  attn_tensor q = {zeros, ATTN_F32, 4, sizes, NULL};
  attn_tensor v = {values, ATTN_F32, 4, sizes, NULL};
  attn_tensor o = {results, ATTN_F32, 4, sizes, NULL};
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, "plug_in_run") : NULL;
  if (!symbol) {
    fprintf(stderr, "error: %s\n", dlerror());
    return 0;
  }
  if (symbol == *address)
    printf("at the address of the one before\n");
  *address = symbol;
  plug_in function;
  memcpy(&function, &symbol, sizeof(function));
  /* Twice: the second call finds what the first one read. */
  for (int call = 0; call < 2; ++call)
    if (function(&q, &q, &v, &o) != ATTN_OK) {
      fprintf(stderr, "error: %s\n", attn_message());
      return 0;
    }
  return is_right(results, is_causal) && dlclose(library) == 0;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  void *address = NULL;
  for (int round = 0; round < rounds; ++round)
    for (int which = 0; which < 2; ++which)
      if (!run(argv[1 + which], /*is_causal=*/which, &address))
        return 1;
  printf("ok: %d plug-ins\n", 2 * rounds);
  return 0;
}
