// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes integer code of arith, scf.for and tensor ops, one scalar at a time.
// The tests use it twice: on a mask, to say what the mask means, and on the
// code that the classifier emits for it.

#ifndef ATTN_TEST_UNIT_PASSES_INTERPRETER_H
#define ATTN_TEST_UNIT_PASSES_INTERPRETER_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attn::test {

struct IntTensor {
  std::vector<int64_t> shape;
  std::vector<int64_t> data;
};

/// An integer, sign-extended from its type, or a tensor of them. An integer may
/// have no defined value.
struct RuntimeValue {
  int64_t integer = 0;
  bool poison = false;
  std::shared_ptr<IntTensor> tensor;

  static RuntimeValue of(int64_t value) { return {value, false, nullptr}; }
};

class Interpreter {
public:
  struct Options {
    /// Bits of index and i64; 32 shows what narrow lanes compute.
    unsigned wideWidth = 64;
    /// A read out of bounds or a division without a quotient is an error.
    /// Otherwise indices are clamped, and such a quotient has no defined value.
    bool strict = false;
  };

  explicit Interpreter(Options options) : options(options) {}

  void set(mlir::Value value, RuntimeValue to) {
    values[value] = std::move(to);
  }
  RuntimeValue get(mlir::Value value) const { return values.lookup(value); }

  /// Executes `block` up to its terminator. Returns false after an error.
  bool run(mlir::Block &block);
  const std::string &getError() const { return error; }

private:
  RuntimeValue execute(mlir::Operation *op);
  RuntimeValue executeBinary(mlir::Operation *op, int64_t a, int64_t b,
                             unsigned width);
  RuntimeValue executeDivision(mlir::Operation *op, int64_t a, int64_t b,
                               unsigned width);
  RuntimeValue executeCast(mlir::Operation *op, int64_t value);
  RuntimeValue executeTensorOp(mlir::Operation *op);
  bool executeLoop(mlir::Operation *op);
  bool executeMulExtended(mlir::Operation *op);
  std::optional<size_t> getOffset(mlir::Operation *op, const IntTensor &tensor,
                                  mlir::ValueRange indices);

  unsigned getWidth(mlir::Type type) const;
  void fail(mlir::Operation *op, const char *what);

  Options options;
  llvm::DenseMap<mlir::Value, RuntimeValue> values;
  std::string error;
};

} // namespace attn::test

#endif // ATTN_TEST_UNIT_PASSES_INTERPRETER_H
