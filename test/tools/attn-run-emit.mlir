// --emit prints code instead of running it.

// RUN: attn-run %s --emit=llvm --target=cpu:generic | FileCheck %s --check-prefix=LLVM
// LLVM: define {{.*}}@main.call(ptr
// RUN: attn-run %s --emit=asm --target=cpu:generic | FileCheck %s --check-prefix=ASM
// ASM: main.call:
// RUN: attn-run %s --emit=obj -o %t.o && llvm-nm %t.o | FileCheck %s --check-prefix=OBJ
// OBJ: T main.call
// OBJ: T main.plan
// RUN: attn-run %s --emit=asm -o %t.s && FileCheck %s --check-prefix=ASM < %t.s

// The IR after every stage, in order.
// RUN: rm -rf %t.dir && attn-run %s --dump=%t.dir > /dev/null && ls %t.dir | FileCheck %s --check-prefix=DUMP
// DUMP: rewrite
// DUMP: tile

func.func @main(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>,
                %v: tensor<1x2x5x4xf32>) -> tensor<1x2x3x4xf32> {
  %o = attn.softmax %q, %k, %v
      : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>)
      -> tensor<1x2x3x4xf32>
  return %o : tensor<1x2x3x4xf32>
}
