/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What programs include that link code compiled ahead of time, in C or C++. The
 * header that comes with an object file declares two functions for each one of
 * the source, NAME_plan() and NAME(); here are their types.
 *
 * Nothing aborts: what is passed is checked as attn::Program::call() checks it,
 * a status says what kind of thing is wrong, and attn_message() what exactly.
 * Calls are safe from several threads.
 */

#ifndef ATTN_RUNTIME_AHEAD_H
#define ATTN_RUNTIME_AHEAD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types. i1 is a byte of value 0 or 1. */
typedef enum attn_dtype {
  ATTN_F64,
  ATTN_F32,
  ATTN_F16,
  ATTN_BF16,
  ATTN_I1,
  ATTN_I8,
  ATTN_U8,
  ATTN_I32,
  ATTN_I64
} attn_dtype;

typedef enum attn_status {
  ATTN_OK,
  /* An argument does not fit the function, or the others. */
  ATTN_INVALID_ARGUMENT,
  /* The code needs something that this machine lacks. */
  ATTN_UNSUPPORTED,
  /* Memory ran out; results are not complete. */
  ATTN_OUT_OF_MEMORY
} attn_status;

/* Memory of the caller. Strides count elements; null stands for row major
 * without gaps. What is passed as an argument is not written to; an innermost
 * stride other than 1 or data that is not aligned to its elements costs a copy
 * there, and is refused for results, which must not overlap anything either. */
typedef struct attn_tensor {
  void *data;
  attn_dtype dtype;
  int32_t rank;
  const int64_t *sizes;
  const int64_t *strides;
} attn_tensor;

/* Why the last call on this thread failed; empty if it did not. Valid until the
 * next call. */
const char *attn_message(void);

/* What the generated functions are made of. */

typedef enum attn_kind { ATTN_TENSOR, ATTN_INTEGER, ATTN_NUMBER } attn_kind;

typedef struct attn_argument {
  attn_kind kind;
  const attn_tensor *tensor;
  int64_t integer;
  double number;
} attn_argument;

/* A function in an object file. */
typedef struct attn_function {
  uint64_t version;
  const char *description;
  uint64_t size;
  int64_t (*plan)(int64_t *in, int64_t *out);
  void (*kernel)(void **arguments);
} attn_function;

/* Writes the sizes of each result to where `sizes` points for it, as many as
 * its rank. */
attn_status attn_plan(const attn_function *function,
                      const attn_argument *arguments, size_t num_arguments,
                      int64_t *const *sizes, size_t num_results);

/* `threads` 0 leaves them to OpenMP: OMP_NUM_THREADS, or one per CPU that the
 * process may run on. */
attn_status attn_call(const attn_function *function,
                      const attn_argument *arguments, size_t num_arguments,
                      const attn_tensor *const *results, size_t num_results,
                      int threads);

#ifdef __cplusplus
}
#endif

#endif /* ATTN_RUNTIME_AHEAD_H */
