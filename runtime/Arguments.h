// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs and outputs of one call in the form that machine code takes. Internal
// to Call.cpp; no LLVM.

#ifndef ATTN_RUNTIME_ARGUMENTS_H
#define ATTN_RUNTIME_ARGUMENTS_H

#include "runtime/CompiledFunction.h"

#include <deque>

namespace attn {

/// "function 'attend' argument 1 (k): ", or "... result 0 (o): ".
std::string describeParameter(const Signature &signature, bool isResult,
                              size_t index);

/// Arguments of one call, checked and packed. Owns what the pointers in
/// pointers() point to, except for the caller's tensors.
class Arguments {
public:
  /// Appends an input that must fit `parameter`; `what` starts messages.
  Result<void> addInput(const Parameter &parameter, const Value &value,
                        const std::string &what);

  /// Appends an output of planned sizes in the caller's memory.
  Result<void> addOutput(const Parameter &parameter,
                         const std::vector<int64_t> &sizes,
                         const TensorView &view, const std::string &what);

  /// Appends an output that is known to fit.
  void addTrusted(const TensorView &view);

  /// Sizes and values for the plan function.
  std::vector<int64_t> &planInput() { return planned; }
  std::vector<void *> &pointers() { return slots; }

private:
  /// An address range that belongs to an input or output.
  struct Range {
    uintptr_t begin, end;
    std::string what;
  };

  Result<void> addTensor(const Parameter &parameter, const TensorView &view,
                         const std::string &what);
  Result<void> addScalar(const Parameter &parameter, const Value &value,
                         const std::string &what);

  std::vector<int64_t> planned;
  std::vector<void *> slots;
  // Deques keep addresses while they grow.
  std::deque<std::vector<int64_t>> descriptors;
  std::deque<int64_t> scalars;
  std::deque<Tensor> packed;
  std::vector<Range> ranges;
};

} // namespace attn

#endif // ATTN_RUNTIME_ARGUMENTS_H
