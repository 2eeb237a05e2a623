// --emit prints code instead of running it.

// RUN: attn-run %s --emit=llvm --target=cpu:generic | FileCheck %s --check-prefix=LLVM
// LLVM: define {{.*}}@main.call(ptr
// RUN: attn-run %s --emit=asm --target=cpu:generic | FileCheck %s --check-prefix=ASM
// ASM: main.call:
// An object file to link: its one symbol of its own describes the function, and
// all that it calls is told. The header beside it declares the functions.
// RUN: mkdir -p %t.dir && attn-run %s --emit=obj -o %t.dir/at-tend.o
// RUN: llvm-nm --extern-only %t.dir/at-tend.o | FileCheck %s --check-prefix=OBJ
// OBJ-DAG: U __kmpc_fork_call
// OBJ-DAG: D at_tend_function
// OBJ-DAG: U attn_ahead_malloc
// RUN: llvm-nm --extern-only --defined-only %t.dir/at-tend.o | count 1
// RUN: llvm-nm --undefined-only %t.dir/at-tend.o | not grep -w -e malloc -e free
// RUN: llvm-readelf -r %t.dir/at-tend.o | FileCheck %s --check-prefix=PIC
// PIC-NOT: R_X86_64_32
// RUN: FileCheck %s --check-prefix=HEADER < %t.dir/at-tend.h
// HEADER:      main(q: 1x2x3x4xf32, k: 1x2x5x4xf32, v: 1x2x5x4xf32) -> (o: 1x2x3x4xf32)
// HEADER:      static inline attn_status at_tend_plan(
// HEADER-NEXT:     const attn_tensor *q,
// HEADER-NEXT:     const attn_tensor *k,
// HEADER-NEXT:     const attn_tensor *v,
// HEADER-NEXT:     int64_t o_sizes[4]) {
// HEADER:      static inline attn_status at_tend(
// HEADER:          const attn_tensor *o,
// HEADER-NEXT:     int threads) {

// Code for another machine can be made here, but "host" is one with a name, so
// that the program can tell where it is lacking.
// RUN: attn-run %s --emit=obj --target=cpu:amx -o %t.dir/amx.o && FileCheck %s --check-prefix=AMX < %t.dir/amx.h
// AMX: Compiled by attn for cpu:amx
// RUN: attn-run %s --emit=obj --device=reference -o %t.dir/plain.o

// Names that C does not take.
// RUN: not attn-run %s --emit=obj -o %t.dir/default.o 2>&1 | FileCheck %s --check-prefix=KEYWORD
// KEYWORD: attn-run: prefix: expected a name in C and C++, got 'default'
// RUN: not attn-run %s --emit=obj -o %t.missing/a.o 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: a.o': can't

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
