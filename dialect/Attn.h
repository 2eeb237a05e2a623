// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one include for users of the attn dialect.

#ifndef ATTN_DIALECT_ATTN_H
#define ATTN_DIALECT_ATTN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/AttnDialect.h.inc"
#include "dialect/AttnEnums.h.inc"

namespace mlir::attn {
/// What a mask is asked about, values of type index.
struct MaskCoordinates {
  Value b, h, i, j;
  /// Length of the prefix of this batch entry; null without the clause.
  Value prefix;
  /// The tensor of the random_blocks clause; null without it.
  Value randomBlocks;
};
} // namespace mlir::attn

#include "dialect/AttnAttrInterfaces.h.inc"
#include "dialect/AttnOpInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/AttnAttrs.h.inc"

namespace mlir::attn {
// Parents of attn.yield.
class FeatureMapOp;
class OnlineSoftmaxOp;

/// What logits, weights and sums over elements of type `element` are computed
/// in: f64 for f64, else f32.
FloatType getComputeType(Type element);
} // namespace mlir::attn

#define GET_OP_CLASSES
#include "dialect/AttnOps.h.inc"

#define GET_OP_CLASSES
#include "dialect/AttnLinearOps.h.inc"

#define GET_OP_CLASSES
#include "dialect/AttnTileOps.h.inc"

namespace mlir::attn {

/// Registers how tile ops bufferize.
void registerBufferizationModels(DialectRegistry &registry);

/// The same for the operands of `op`.
FloatType getComputeType(SoftmaxFamilyInterface op);

/// True if a mask attribute or a region of `op` reads query positions, so that
/// the op has to say where its query rows stand.
bool dependsOnPosition(SoftmaxFamilyInterface op);

/// True if any key may be masked for other reasons than its length.
bool hasMask(SoftmaxFamilyInterface op);

/// The scale of `op` as a number: the attribute, or 1/sqrt(Dk) for a static Dk.
/// Nothing if it is a value, or the default and Dk is dynamic.
std::optional<double> getStaticScale(SoftmaxFamilyInterface op);

/// `values`, which are what `op` gives, in the types of its results: those may
/// leave sizes open that are known.
SmallVector<Value> castToResults(OpBuilder &builder, Operation *op,
                                 ValueRange values);

/// Clones the one block of `region` at the insertion point with `args` for its
/// arguments and returns what it yields.
Value inlineRegion(Region &region, OpBuilder &builder, ValueRange args);

/// The entry of batch entry `b` of an operand that is an index or a tensor of
/// integers per batch, as an index.
Value buildPerBatch(OpBuilder &builder, Location loc, Value operand, Value b);

/// The keys in use of batch entry `b`, which has `keyRows`: its length, clamped
/// to them, or all.
Value buildKeyLength(SoftmaxFamilyInterface op, OpBuilder &builder,
                     Location loc, Value b, Value keyRows);

/// Builds the conjunction of the mask attributes and the keep region of `op` at
/// the insertion point, the region by `inlineKeep`. Returns null if the op
/// masks nothing. The select clause and the lengths are not in it.
using RegionInliner = function_ref<Value(Region &, OpBuilder &, ValueRange)>;
Value buildKeep(SoftmaxFamilyInterface op, OpBuilder &builder, Location loc,
                Value b, Value h, Value i, Value j,
                RegionInliner inlineKeep = inlineRegion);

} // namespace mlir::attn

#endif // ATTN_DIALECT_ATTN_H
