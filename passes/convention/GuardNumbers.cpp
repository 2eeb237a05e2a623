// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes numbers that break a rule NaN where no plan can refuse them, as they
// are elements of tensors: an attention then has NaN where it has any key, and
// not what else a device makes of such a number. Runs on the source.

#include "passes/Passes.h"
#include "passes/convention/NumberChecks.h"
#include "passes/convention/SizeResolver.h"

#include "llvm/ADT/TypeSwitch.h"

namespace mlir::attn {
#define GEN_PASS_DEF_GUARDNUMBERS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// %o = attn.softmax ... softcap(%c)
///   ->  %holds = 0 < %c < inf and 1 / %c < inf
///       %o = attn.softmax ... softcap(arith.select %holds, %c, NaN)
static void guard(SoftmaxFamilyInterface op, const NumberRule &rule) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = cast<FloatType>(rule.value.getType());
  Value nan = arith::ConstantOp::create(
      builder, loc,
      builder.getFloatAttr(type, APFloat::getNaN(type.getFloatSemantics())));
  Value holds = buildHolds(builder, loc, rule, rule.value);
  Value guarded = arith::SelectOp::create(builder, loc, holds, rule.value, nan);
  bool isScale = rule.kind == NumberRule::Kind::Finite;
  llvm::TypeSwitch<Operation *>(op.getOperation())
      .Case<SoftmaxOp, GqaOp>([&](auto attention) {
        (isScale ? attention.getScaleValueMutable()
                 : attention.getSoftcapValueMutable())
            .assign(guarded);
      });
}

namespace {

struct GuardNumbersPass
    : public attn::impl::GuardNumbersBase<GuardNumbersPass> {
  void runOnOperation() override {
    getOperation().walk([](SoftmaxFamilyInterface op) {
      for (const NumberRule &rule : getNumberRules(op))
        if (!followsFromCall(rule.value))
          guard(op, rule);
    });
  }
};

} // namespace
