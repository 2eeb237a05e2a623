// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A variable of the environment that is set or removed for a scope.

#ifndef ATTN_TEST_UNIT_RUNTIME_ENVIRONMENTVARIABLE_H
#define ATTN_TEST_UNIT_RUNTIME_ENVIRONMENTVARIABLE_H

#include <cstdlib>
#include <optional>
#include <string>

class EnvironmentVariable {
public:
  /// A null value removes it.
  EnvironmentVariable(const char *name, const char *value) : name(name) {
    if (const char *old = std::getenv(name))
      previous = old;
    set(value);
  }
  ~EnvironmentVariable() { set(previous ? previous->c_str() : nullptr); }
  EnvironmentVariable(const EnvironmentVariable &) = delete;
  EnvironmentVariable &operator=(const EnvironmentVariable &) = delete;

private:
  void set(const char *value) {
    if (value)
      setenv(name, value, 1);
    else
      unsetenv(name);
  }

  const char *name;
  std::optional<std::string> previous;
};

#endif // ATTN_TEST_UNIT_RUNTIME_ENVIRONMENTVARIABLE_H
