// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A keep region, the code that the classifier emits for it, and both executed.

#include "MaskFixture.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace attn::test {

MaskFixture::MaskFixture(MLIRContext &context, const Builder &build,
                         ArrayRef<Type> tensorTypes,
                         ArrayRef<IntTensor> tensorValues, int64_t blockSize) {
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  Type index = builder.getIndexType();
  module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());

  // The tile's coordinates, then what is captured.
  SmallVector<Type> types(7, index);
  types.append(tensorTypes.begin(), tensorTypes.end());
  auto function = func::FuncOp::create(builder, loc, "classify",
                                       builder.getFunctionType(types, {}));
  code = function.addEntryBlock();
  for (const IntTensor &tensor : tensorValues)
    tensors.push_back({0, false, std::make_shared<IntTensor>(tensor)});

  keep = builder.createBlock(&region, {}, {index, index, index, index},
                             {loc, loc, loc, loc});
  builder.setInsertionPointToStart(keep);
  auto arguments = code->getArguments();
  build(builder, arguments.drop_front(7), *keep);

  builder.setInsertionPointToStart(code);
  mlir::attn::MaskClassifier classifier(*keep);
  if (blockSize != 0)
    classifier.emitTables(builder, loc, blockSize);
  mlir::attn::TileRanges ranges{arguments[0], arguments[1], arguments[2],
                                arguments[3], arguments[4], arguments[5],
                                arguments[6]};
  tileClass = classifier.classify(builder, loc, ranges);
  fits = mlir::attn::emitFitsInt32(builder, loc, *keep, ranges);
  unknownCause = classifier.getUnknownCause();
  func::ReturnOp::create(builder, loc);
}

// The code goes before the mask, whose captured values are its arguments.
MaskFixture::~MaskFixture() { region.getBlocks().clear(); }

std::optional<bool> MaskFixture::keeps(int64_t b, int64_t h, int64_t i,
                                       int64_t j, unsigned wideWidth) {
  Interpreter interpreter({wideWidth, /*strict=*/false});
  for (auto [argument, value] :
       llvm::zip(keep->getArguments(), std::array{b, h, i, j}))
    interpreter.set(argument, RuntimeValue::of(value));
  for (auto [argument, tensor] :
       llvm::zip(code->getArguments().drop_front(7), tensors))
    interpreter.set(argument, tensor);
  EXPECT_TRUE(interpreter.run(*keep)) << interpreter.getError();
  RuntimeValue result =
      interpreter.get(cast<mlir::attn::YieldOp>(keep->back()).getValue());
  if (result.poison)
    return std::nullopt;
  return result.integer != 0;
}

bool MaskFixture::execute(const TileBox &box, Value result) {
  Interpreter interpreter({64, /*strict=*/true});
  for (auto [argument, value] :
       llvm::zip(code->getArguments().take_front(7),
                 std::array{box.b, box.h[0], box.h[1], box.i[0], box.i[1],
                            box.j[0], box.j[1]}))
    interpreter.set(argument, RuntimeValue::of(value));
  for (auto [argument, tensor] :
       llvm::zip(code->getArguments().drop_front(7), tensors))
    interpreter.set(argument, tensor);
  EXPECT_TRUE(interpreter.run(*code)) << interpreter.getError();
  RuntimeValue value = interpreter.get(result);
  EXPECT_FALSE(value.poison) << "the class has no defined value";
  return value.integer != 0;
}

ClassValue MaskFixture::classify(const TileBox &box) {
  return {execute(box, tileClass.canBeTrue),
          execute(box, tileClass.canBeFalse)};
}

bool MaskFixture::fitsInt32(const TileBox &box) { return execute(box, fits); }

ClassValue MaskFixture::enumerate(const TileBox &box) {
  ClassValue result{false, false};
  // Counted, as positions may wrap.
  auto forEach = [](std::array<int64_t, 2> range,
                    function_ref<void(int64_t)> body) {
    uint64_t first = range[0], count = range[1] - first;
    for (uint64_t n = 0; n <= count; ++n)
      body(static_cast<int64_t>(first + n));
  };
  forEach(box.h, [&](int64_t h) {
    forEach(box.i, [&](int64_t i) {
      forEach(box.j, [&](int64_t j) {
        if (std::optional<bool> kept = keeps(box.b, h, i, j))
          (*kept ? result.canBeTrue : result.canBeFalse) = true;
      });
    });
  });
  return result;
}

std::string MaskFixture::print() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Operation &op : *keep)
    stream << op << "\n";
  stream << *module;
  return text;
}

} // namespace attn::test
