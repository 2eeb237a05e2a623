// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From specifications on the command line to arguments and results of a
// function, by name or in order.

#ifndef ATTN_TOOLS_ATTN_RUN_BIND_H
#define ATTN_TOOLS_ATTN_RUN_BIND_H

#include "runtime/Spec.h"

namespace attn::run {

/// For each specification the parameter that it stands for. A name goes to the
/// parameter of that name, the others in order to those that are left.
Result<std::vector<size_t>> bindNames(const std::vector<std::string> &names,
                                      const std::vector<Parameter> &parameters,
                                      const char *option);

template <class Spec>
Result<std::vector<size_t>> bindSpecs(const std::vector<Spec> &specs,
                                      const std::vector<Parameter> &parameters,
                                      const char *option) {
  std::vector<std::string> names;
  for (const Spec &spec : specs)
    names.push_back(spec.name);
  return bindNames(names, parameters, option);
}

/// The arguments of a call. Those without a specification are filled from the
/// seed; dynamic shapes and numbers can't be.
Result<std::vector<OwnedValue>> makeInputs(const Signature &signature,
                                           const std::vector<InputSpec> &specs,
                                           uint64_t seed);

/// "o" or "result 0".
std::string resultName(const Signature &signature, size_t index);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_BIND_H
