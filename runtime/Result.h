// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors as values: every runtime function that can fail returns a Result.
// Nothing in the runtime throws or aborts because of what a caller passed.

#ifndef ATTN_RUNTIME_RESULT_H
#define ATTN_RUNTIME_RESULT_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace attn {

/// What kind of thing went wrong; the message says what exactly.
enum class ErrorCode {
  invalidArgument, ///< the caller passed something that does not fit
  unsupported,     ///< well formed, but not available here
  ioFailure,       ///< a file could not be read, written or understood
  compileFailure,  ///< the IR was refused or could not be compiled
  outOfMemory,     ///< an allocation failed or a size is beyond any memory
};

struct Error {
  ErrorCode code = ErrorCode::invalidArgument;
  std::string message;
};

/// Either a T or an Error. Dereference only after asking ok().
template <class T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state.index() == 0; }
  explicit operator bool() const { return ok(); }

  T &operator*() & {
    assert(ok());
    return *std::get_if<0>(&state);
  }
  const T &operator*() const & {
    assert(ok());
    return *std::get_if<0>(&state);
  }
  T &&operator*() && {
    assert(ok());
    return std::move(*std::get_if<0>(&state));
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }

  /// The error; only when not ok().
  const Error &error() const {
    assert(!ok());
    return *std::get_if<1>(&state);
  }

private:
  std::variant<T, Error> state;
};

/// Success, or an Error.
template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : failure(std::move(error)) {}

  bool ok() const { return !failure.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error &error() const {
    assert(!ok());
    return *failure;
  }

private:
  std::optional<Error> failure;
};

} // namespace attn

#endif // ATTN_RUNTIME_RESULT_H
