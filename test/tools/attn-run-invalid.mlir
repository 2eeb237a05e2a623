// Usage and load errors: exit status 2, and a message that names what was
// expected. `not --crash`-like statuses are told apart by the shell.

// RUN: sh -c 'attn-run; test $? = 2' 2>&1 | FileCheck %s --check-prefix=NOFILE
// NOFILE: attn-run: expected a file, got none (--help lists the options)
// RUN: sh -c 'attn-run --speed %s; test $? = 2' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: unknown option '--speed': expected one of --function, --device
// RUN: not attn-run %s --device=tpu 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: option device: expected cpu or reference, got 'tpu'
// RUN: not attn-run %s --target=cpu:z80 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: option target: expected host, cpu:generic, cpu:avx2, cpu:avx512, cpu:avx512bf16, cpu:amx, got 'cpu:z80'
// RUN: not attn-run %s.missing 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: attn-run-invalid.mlir.missing': can't open: No such file or directory
// RUN: not attn-run %S 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: expected a regular file, got a directory

// RUN: not attn-run %s 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// DYNAMIC: function 'main' argument 0 (q): ?x2x3x4xf32: expected an --input, as its shape is dynamic
// RUN: not attn-run %s --input=q=1x2x3x4xf32 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: function 'main' argument 3 (n): index: expected an --input
// RUN: not attn-run %s --input=x=1x2x3x4xf32 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: option --input: expected one of q, k, v, n, got 'x'
// RUN: not attn-run %s --input=1x2x3x4xbf16 --input=n=index=0 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: function 'main' argument 0 (q): expected elements of type f32, got bf16
// No memory is filled for what does not fit.
// RUN: not attn-run %s --input=1099511627776xf32=70 --input=n=index=0 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: function 'main' argument 0 (q): expected rank 4, got rank 1
// RUN: not attn-run %s --input=q=1x2x3x4xf32 --input=n=1099511627776xf32 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: function 'main' argument 3 (n): expected index, got a tensor
// RUN: not attn-run %s --input=1x2x3x4xf32=1,2 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: option --input: value '1x2x3x4xf32=1,2': expected 24 numbers (or one for all), got 2
// RUN: not attn-run %s --input=@%S/absent.npy --input=n=index=0 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: absent.npy': can't open
// RUN: not attn-run %s --input=@%s --input=n=index=0 2>&1 | FileCheck %s --check-prefix=NOTNPY
// NOTNPY: expected the npy magic 93 4e 55 4d 50 59, got 2f 2f 20

// A rule that is broken at the call: the batch sizes differ.
// RUN: not attn-run %s --input=3x2x3x4xf32 --input=n=index=0 2>&1 | FileCheck %s --check-prefix=RULE
// RULE: 'attn.softmax' op key: expected batch

// RUN: sh -c 'echo "func.func @f(" > %t.mlir; attn-run %t.mlir; test $? = 2' 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: attn-run: {{.*}}.mlir:1:{{[0-9]+}}: error: expected non-function type

func.func @main(%q: tensor<?x2x3x4xf32>, %k: tensor<1x2x5x4xf32>,
                %v: tensor<1x2x5x4xf32>, %n: index) -> tensor<?x2x3x4xf32> {
  %o = attn.softmax %q, %k, %v offset(%n : index) mask(#attn.causal)
      : (tensor<?x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>)
      -> tensor<?x2x3x4xf32>
  return %o : tensor<?x2x3x4xf32>
}
