// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands of a product of matrices in the form that register blocks take:
// elements of A that are broadcast, and panels of B whose rows are lane
// vectors. Where the target multiplies pairs of bf16, an element is a pair of
// neighbouring k.

#ifndef ATTN_PASSES_CPU_MATMULOPERANDS_H
#define ATTN_PASSES_CPU_MATMULOPERANDS_H

#include "dialect/Attn.h"
#include "passes/cpu/KernelBuilder.h"

namespace mlir::attn {

/// How a tile is multiplied.
struct MatmulForm {
  MatmulForm(MatmulTileOp op, const TargetInfo &target);

  bool isPairs;         ///< elements are pairs of bf16
  int64_t rows;         ///< of A that a block holds, whole register blocks
  int64_t panel;        ///< columns of B in a panel
  int64_t depth;        ///< most k that a block holds
  int64_t shallowDepth; ///< k that a block holds where A has few rows

  int64_t perElement() const { return isPairs ? 2 : 1; }
  /// Elements that `count` k are.
  Value countElements(const KernelBuilder &kb, Value count) const;
};

/// A block of A.
class LeftBlock {
public:
  LeftBlock(const KernelBuilder &kb, MatmulTileOp op, const MatmulForm &form);

  /// Emits what makes the block of `count` k from `k` on readable.
  void emitPrepare(Value k, Value count);
  /// Element `element` of row `row` in every lane.
  Value emitBroadcast(Value element, Value row);

private:
  Value emitRows(Value k, Value count);
  Value emitColumns(Value k, Value count);

  const KernelBuilder &kb;
  MatmulTileOp op;
  const MatmulForm &form;
  Value block;
};

/// Where a panel of B lies: `columns` columns from `column` on of the `count` k
/// from `k` on. Panels are made for the same columns of every `step` k.
struct PanelPlace {
  Value k, count, step;
  Value column, columns;
};

/// A panel of B, with a row for each element of k. Columns beyond those in use
/// hold anything. Making one fetches the next of the same columns.
class RightPanel {
public:
  RightPanel(const KernelBuilder &kb, MatmulTileOp op, const MatmulForm &form)
      : kb(kb), op(op), form(form) {}

  /// Whether B has the form of a panel.
  bool canBeDirect();
  /// The panel where it lies, if `isDirect` and it has all of its columns, or
  /// packed.
  Value emitPanel(const PanelPlace &place, Value isDirect);

private:
  Value useInPlace(const PanelPlace &place);
  Value pack(const PanelPlace &place);
  void packRows(const PanelPlace &place, Value buffer);
  void packPairs(const PanelPlace &place, Value buffer);
  void packTransposed(const PanelPlace &place, Value buffer);
  void packTransposedCopy(const PanelPlace &place, Value depth, Value buffer);
  Value castToPanel(Value memref);
  Value isWhole(const PanelPlace &place) {
    return kb.cmp(arith::CmpIPredicate::eq, place.columns,
                  kb.index(form.panel));
  }

  const KernelBuilder &kb;
  MatmulTileOp op;
  const MatmulForm &form;
};

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_MATMULOPERANDS_H
