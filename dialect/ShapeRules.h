// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shape constraints of whole-attention ops as data. The verifier checks
// them on static sizes, the plan function on the sizes of a call. Beside them
// the checks that whole-attention and tile ops share.

#ifndef ATTN_DIALECT_SHAPERULES_H
#define ATTN_DIALECT_SHAPERULES_H

#include "dialect/Attn.h"

namespace mlir::attn {

/// A dimension of an operand, or a number where `operand` is null.
struct DimRef {
  Value operand;
  int64_t dim = 0;
  int64_t number = 1;
};

/// The static size that `ref` names, or nothing.
std::optional<int64_t> getStaticSize(DimRef ref);

/// One constraint between two sizes of an op.
struct ShapeRule {
  enum class Kind {
    Equal,      ///< got == expected
    MultipleOf, ///< got is a multiple of expected; 0 only of anything
    Broadcast,  ///< got == 1 or got == expected
    OneFewer,   ///< got == expected - 1
    AtLeastOne  ///< got >= 1; expected is not used
  };
  Kind kind;
  DimRef expected;
  DimRef got;
  /// The operand and what is expected of it, as in "key: expected head dim" and
  /// "(from query)".
  std::string operand;
  std::string what;
  std::string from;

  /// True if the rule holds for these sizes.
  bool holds(int64_t expectedSize, int64_t gotSize) const;
  /// "'attn.gqa' op key: expected head dim (from query)", for a message that
  /// goes on with the two sizes.
  std::string describe(Operation *op) const;
};

/// The rules of `op` in the order in which they are to be checked.
SmallVector<ShapeRule> getShapeRules(SoftmaxFamilyInterface op);

/// The same of other ops.
SmallVector<ShapeRule> getShapeRules(MergeOp op);
SmallVector<ShapeRule> getShapeRules(LinearOp op);
SmallVector<ShapeRule> getShapeRules(FeatureMapOp op);
SmallVector<ShapeRule> getShapeRules(FavorOp op);

/// One constraint on a number, which is an attribute or an operand of f32.
struct NumberRule {
  enum class Kind {
    Finite,                ///< c13: finite in `type`
    PositiveWithReciprocal ///< c14: > 0 and normal in `type`, as 1 / number is
  };
  Kind kind;
  /// The operand, null where an attribute is meant.
  Value value;
  /// In which the number is computed with.
  FloatType type;
  /// "softcap"
  std::string operand;

  /// True if the rule holds for `number`.
  bool holds(const APFloat &number) const;
  /// "a number that is finite in f32"
  std::string getExpected() const;
  /// "'attn.gqa' op softcap: expected a number ...", for a message that goes on
  /// with the number.
  std::string describe(Operation *op) const;
};

/// The rules of the numbers that are operands of `op`.
SmallVector<NumberRule> getNumberRules(SoftmaxFamilyInterface op);

/// Adds to `rules` one of `kind`: `operand` is "key", `what` "head dim", `from`
/// "from query" or empty.
void addShapeRule(SmallVectorImpl<ShapeRule> &rules, ShapeRule::Kind kind,
                  DimRef expected, DimRef got, StringRef operand,
                  StringRef what, StringRef from);

/// Which heads of query, key and value belong together.
enum class HeadRule {
  Equal,          ///< one of each
  GroupedQueries, ///< query heads share a key head
  GroupedValues   ///< value heads share a key head
};

/// Adds to `rules` that query, key and value fit: c2 to c8 of attn.softmax.
void addOperandRules(SmallVectorImpl<ShapeRule> &rules, Value query, Value key,
                     Value value, HeadRule heads);

/// Checks those of `rules`, of `op`, whose sizes are both static.
LogicalResult verifyShapeRules(Operation *op, ArrayRef<ShapeRule> rules);

/// Checks every rule of `op` whose sizes are both static.
LogicalResult verifyShapeRules(SoftmaxFamilyInterface op);

/// c13: `type`, in which logits are computed, must hold the scale.
LogicalResult verifyScale(Operation *op, const APFloat &scale, FloatType type);

/// f1, v1: `projection` is of f32 or of the type of operand `from`.
LogicalResult verifyProjectionType(Operation *op, Value projection, Type type,
                                   StringRef from);

/// l19, f6: `dim`, which `operand` has as `what`, is a number of entries that
/// `feature` takes: static where it changes it, and no more than its number of
/// features allows.
LogicalResult verifyMappedDim(Operation *op, StringRef operand, StringRef what,
                              FeatureAttrInterface feature, int64_t dim);

/// What is added to features is a number >= 0 that `type` holds.
LogicalResult verifyEps(Operation *op, const APFloat &eps, FloatType type);

/// c14: `type` must hold the softcap and its reciprocal.
LogicalResult verifySoftcap(Operation *op, const APFloat &softcap,
                            FloatType type);

/// Checks that `got`, the type of result `name`, is a tensor of `element` with
/// `sizes`; it may say ? for a size that is known.
LogicalResult verifyResultType(Operation *op, StringRef name, Type got,
                               ArrayRef<int64_t> sizes, Type element);

/// Refuses attributes without the prefix of a dialect that are none of the op:
/// they would have no effect.
LogicalResult verifyDiscardableAttributes(Operation *op);

/// Checks the regions of a whole-attention or tile op, either of which may be
/// empty: arguments, result and the list of allowed operations. Logits are of
/// type `logit`.
LogicalResult verifyScalarRegions(Operation *op, Region &score, Region &keep,
                                  FloatType logit);

/// Checks a region (x) -> y that maps single numbers of `type`; it may be empty
/// and reads no tensors.
LogicalResult verifyMapRegion(Operation *op, Region &map, FloatType type);

/// The tensors that the regions of `op` read from outside, in order of first
/// use.
SmallVector<Value> getCapturedTensors(SoftmaxFamilyInterface op);

} // namespace mlir::attn

#endif // ATTN_DIALECT_SHAPERULES_H
