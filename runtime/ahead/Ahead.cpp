// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of functions that a program was linked with. They are checked and run
// by what checks and runs functions that were compiled just in time; only where
// threads and memory come from differs, as the linker has found both.

#include "runtime/Ahead.h"

#include "runtime/Call.h"
#include "runtime/KernelMemory.h"
#include "runtime/StartThreads.h"
#include "runtime/ahead/CpuFeatures.h"
#include "runtime/ahead/Description.h"
#include "runtime/code/CompilerInterface.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>

using namespace attn;

extern "C" {
// Of libomp.
int omp_in_parallel(void);
int omp_get_max_threads(void);
void omp_set_num_threads(int);
int omp_get_thread_limit(void);
size_t kmp_get_stacksize_s(void);

// What compiled code allocates with.
void *attn_ahead_malloc(size_t bytes) { return kernelAllocate(bytes); }
void *attn_ahead_aligned_alloc(size_t alignment, size_t bytes) {
  return kernelAllocateAligned(alignment, bytes);
}
void attn_ahead_free(void *memory) { kernelFree(memory); }
}

static_assert(static_cast<int>(DType::f64) == ATTN_F64 &&
              static_cast<int>(DType::f32) == ATTN_F32 &&
              static_cast<int>(DType::f16) == ATTN_F16 &&
              static_cast<int>(DType::bf16) == ATTN_BF16 &&
              static_cast<int>(DType::i1) == ATTN_I1 &&
              static_cast<int>(DType::i8) == ATTN_I8 &&
              static_cast<int>(DType::u8) == ATTN_U8 &&
              static_cast<int>(DType::i32) == ATTN_I32 &&
              static_cast<int>(DType::i64) == ATTN_I64);

static constexpr int maxThreads = 1024;

namespace {
/// A function with its description read, or why it can't be called here.
using Loaded = Result<CompiledFunction>;

/// Threads of parallel regions that this thread starts, for a scope.
class ThreadScope {
public:
  explicit ThreadScope(int threads) : previous(omp_get_max_threads()) {
    if (threads > 0)
      omp_set_num_threads(threads);
  }
  ~ThreadScope() { omp_set_num_threads(previous); }

private:
  int previous;
};
} // namespace

static std::string &message() {
  static thread_local std::string text;
  return text;
}

static Loaded load(const attn_function &function) {
  if (function.version != attnInterfaceVersion)
    return Error{ErrorCode::unsupported,
                 "function: expected code of version " +
                     std::to_string(attnInterfaceVersion) + ", got " +
                     std::to_string(function.version)};
  Result<Description> description =
      decodeDescription({function.description, function.size});
  if (!description)
    return description.error();
  CompiledFunction result = std::move(description->image.functions.front());
  std::string reason = whyNotFeatures(description->features);
  if (!reason.empty())
    return Error{ErrorCode::unsupported,
                 "function '" + result.signature.function + "': compiled for " +
                     description->image.target + ", but " + reason};
  result.plan = function.plan;
  result.kernel = function.kernel;
  setParallelProbe(omp_in_parallel);
  return result;
}

namespace {
/// What was at the address of a function when it was loaded.
struct Known {
  explicit Known(const attn_function &function)
      : function(function), loaded(load(function)) {
    if (function.version == attnInterfaceVersion)
      description.assign(function.description, function.size);
  }

  /// Whether it is there still: a plug-in may be closed, and another be mapped
  /// to the same addresses.
  bool is(const attn_function &other) const {
    return other.version == function.version && other.size == function.size &&
           other.description == function.description &&
           other.plan == function.plan && other.kernel == function.kernel &&
           std::memcmp(other.description, description.data(),
                       description.size()) == 0;
  }

  attn_function function;
  std::string description; ///< empty where it is of another version
  Loaded loaded;
};
} // namespace

/// Reads each description once. Calls that run keep what they found.
static std::shared_ptr<const Known> find(const attn_function &function) {
  static std::mutex mutex;
  static std::unordered_map<const attn_function *, std::shared_ptr<const Known>>
      all;
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<const Known> &known = all[&function];
  if (!known || !known->is(function))
    known = std::make_shared<const Known>(function);
  return known;
}

/// The tensor, or why its struct can't be read.
static Result<TensorView> viewOf(const attn_tensor *tensor,
                                 const std::string &what) {
  auto error = [&](const std::string &expected, const std::string &got) {
    return Error{ErrorCode::invalidArgument,
                 what + "expected " + expected + ", got " + got};
  };
  if (!tensor)
    return error("a tensor", "a null pointer");
  if (tensor->rank < 0)
    return error("a rank that is not negative", std::to_string(tensor->rank));
  if (tensor->rank > 0 && !tensor->sizes)
    return error(std::to_string(tensor->rank) + " sizes", "a null pointer");
  TensorView view;
  view.data = tensor->data;
  view.dtype = static_cast<DType>(tensor->dtype);
  view.sizes.assign(tensor->sizes, tensor->sizes + tensor->rank);
  if (tensor->strides)
    view.strides.assign(tensor->strides, tensor->strides + tensor->rank);
  return view;
}

static Result<std::vector<Value>> valuesOf(const Signature &signature,
                                           const attn_argument *arguments,
                                           size_t count) {
  std::vector<Value> values;
  for (size_t i = 0; i < count; ++i) {
    if (arguments[i].kind == ATTN_INTEGER) {
      values.push_back(arguments[i].integer);
    } else if (arguments[i].kind == ATTN_NUMBER) {
      values.push_back(arguments[i].number);
    } else {
      Result<TensorView> view = viewOf(
          arguments[i].tensor, "function '" + signature.function +
                                   "' argument " + std::to_string(i) + ": ");
      if (!view)
        return view.error();
      values.push_back(std::move(*view));
    }
  }
  return values;
}

static attn_status report(const Error &error) {
  message() = error.message;
  switch (error.code) {
  case ErrorCode::outOfMemory:
    return ATTN_OUT_OF_MEMORY;
  case ErrorCode::unsupported:
    return ATTN_UNSUPPORTED;
  default:
    return ATTN_INVALID_ARGUMENT;
  }
}

/// Runs `body` on the function and the values of its arguments.
template <class Body>
static attn_status serve(const attn_function *function,
                         const attn_argument *arguments, size_t count,
                         Body body) try {
  message().clear();
  std::shared_ptr<const Known> known = find(*function);
  const Loaded &loaded = known->loaded;
  if (!loaded)
    return report(loaded.error());
  auto values = valuesOf(loaded->signature, arguments, count);
  if (!values)
    return report(values.error());
  Result<void> done = body(*loaded, *values);
  return done ? ATTN_OK : report(done.error());
} catch (const std::bad_alloc &) {
  // Short enough to need no memory.
  message() = "out of memory";
  return ATTN_OUT_OF_MEMORY;
}

const char *attn_message(void) { return message().c_str(); }

attn_status attn_plan(const attn_function *function,
                      const attn_argument *arguments, size_t numArguments,
                      int64_t *const *sizes, size_t numResults) {
  return serve(
      function, arguments, numArguments,
      [&](const CompiledFunction &compiled,
          const std::vector<Value> &values) -> Result<void> {
        auto planned = planFunction(compiled, values);
        if (!planned)
          return planned.error();
        if (numResults != planned->size())
          return Error{ErrorCode::invalidArgument,
                       "function '" + compiled.signature.function +
                           "': expected sizes of " +
                           std::to_string(planned->size()) + " results, got " +
                           std::to_string(numResults)};
        for (size_t i = 0; i < numResults; ++i)
          std::copy((*planned)[i].begin(), (*planned)[i].end(), sizes[i]);
        return {};
      });
}

attn_status attn_call(const attn_function *function,
                      const attn_argument *arguments, size_t numArguments,
                      const attn_tensor *const *results, size_t numResults,
                      int threads) {
  return serve(
      function, arguments, numArguments,
      [&](const CompiledFunction &compiled,
          const std::vector<Value> &values) -> Result<void> {
        if (threads < 0 || threads > maxThreads)
          return Error{ErrorCode::invalidArgument,
                       "threads: expected 0 to " + std::to_string(maxThreads) +
                           ", got " + std::to_string(threads)};
        std::vector<TensorView> outputs;
        for (size_t i = 0; i < numResults; ++i) {
          Result<TensorView> view =
              viewOf(results[i], "function '" + compiled.signature.function +
                                     "' result " + std::to_string(i) + ": ");
          if (!view)
            return view.error();
          outputs.push_back(std::move(*view));
        }
        int wanted = threads > 0 ? threads : omp_get_max_threads();
        if (Result<void> done =
                startThreads(std::min(wanted, omp_get_thread_limit()),
                             kmp_get_stacksize_s());
            !done)
          return done.error();
        ThreadScope scope(threads);
        return callFunctionInto(compiled, values, outputs);
      });
}
