// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the text of one function. The importer links no LLVM: the text is the
// interface between it and the compiler.

#ifndef ATTN_TOOLS_ATTN_RUN_ONNX_IRTEXT_H
#define ATTN_TOOLS_ATTN_RUN_ONNX_IRTEXT_H

#include "runtime/Tensor.h"

#include <functional>
#include <map>
#include <set>

namespace attn::importer {

/// A tensor in the text; a size that only a call knows is -1.
struct IrValue {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;

  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
};

/// A size: a number, or the name of an index.
struct IrSize {
  int64_t fixed = -1;
  std::string name;

  bool isDynamic() const { return fixed < 0; }
};

/// An operand of a loop nest: for each of its dimensions the letter of a loop.
struct LoopOperand {
  IrValue value;
  std::string loops;
};

class IrText {
public:
  /// A name like `hint` that is still free, with its %.
  std::string freshName(const std::string &hint);

  IrValue addArgument(const std::string &hint, DType dtype,
                      const std::vector<int64_t> &sizes);

  /// Adds a line to the body.
  void addLine(const std::string &text);
  /// Moves the lines that follow to the right by `levels`.
  void indent(int levels) { depth += levels; }

  /// Adds "%name = text" and returns the name.
  std::string addOp(const std::string &hint, const std::string &text);
  /// The same for a tensor.
  IrValue addTensorOp(const std::string &hint, const std::string &text,
                      DType dtype, const std::vector<int64_t> &sizes);

  /// Constants and sizes. Each stands once, where it is needed first: only for
  /// use outside of regions, or inside after a use outside.
  std::string index(int64_t value);
  IrSize size(const IrValue &value, int64_t dim);
  std::vector<IrSize> sizes(const IrValue &value);
  std::string name(const IrSize &size);

  /// A scalar constant at this place.
  std::string constant(DType dtype, double value);
  IrValue constantTensor(const std::string &hint, const Tensor &tensor);

  IrValue empty(DType dtype, const std::vector<IrSize> &sizes);
  /// `value` in every element.
  IrValue filled(DType dtype, const std::vector<IrSize> &sizes, double value);
  /// Splits dimension `dim`, or sets it aside by a 1, into known factors.
  IrValue splitDim(const std::string &hint, const IrValue &value, int64_t dim,
                   const std::vector<int64_t> &factors);
  /// Merges dimension `dim` with the one behind it.
  IrValue mergeDims(const std::string &hint, const IrValue &value, int64_t dim);
  /// Without the dimensions that are not kept, which have size 1.
  IrValue dropUnitDims(const IrValue &value, const std::vector<bool> &isKept);
  IrValue transpose(const std::string &hint, const IrValue &value,
                    const std::vector<int64_t> &permutation);
  IrValue concat(const std::string &hint, int64_t dim, const IrValue &first,
                 const IrValue &second);

  /// A loop nest over the letters of `loops`; those that `out` doesn't have are
  /// summed over. `body` gets the names of the elements, that of `out` last,
  /// adds lines and returns the element to yield.
  using Body =
      std::function<std::string(const std::vector<std::string> &elements)>;
  IrValue generic(const std::string &hint, const std::string &loops,
                  const std::vector<LoopOperand> &inputs,
                  const LoopOperand &out, const Body &body);

  /// The whole function, `main`.
  std::string finish(const std::vector<IrValue> &results) const;

private:
  std::string body;
  int depth = 1;
  std::set<std::string> taken;
  std::map<std::string, int64_t> numbers; ///< of names, by their base
  std::vector<IrValue> arguments;
  std::map<int64_t, std::string> indices;
  std::map<std::pair<std::string, int64_t>, IrSize> knownSizes;
};

/// "tensor<2x?xf32>".
std::string type(const IrValue &value);

/// The spelling of a number of this type; floats that are no numbers by bits.
std::string spell(DType dtype, double value);

/// "a, b, c".
std::string join(const std::vector<std::string> &parts);

} // namespace attn::importer

#endif // ATTN_TOOLS_ATTN_RUN_ONNX_IRTEXT_H
