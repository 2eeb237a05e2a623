// Which function runs.

// RUN: attn-run %s --function=first | FileCheck %s --check-prefix=FIRST
// FIRST: x: 2xf32
// RUN: not attn-run %s 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: option --function: expected one of first, second, got none
// RUN: not attn-run %s --function=hidden 2>&1 | FileCheck %s --check-prefix=HIDDEN
// HIDDEN: function: expected one of first, second, got 'hidden'

// Floats without a value are random, integers 0.
// RUN: attn-run %s --function=second --output=i=- | FileCheck %s --check-prefix=SECOND
// SECOND: i: 2xi32 = [0, 0]

func.func @first(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @second(%i: tensor<2xi32>) -> tensor<2xi32> {
  return %i : tensor<2xi32>
}
func.func private @hidden(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
