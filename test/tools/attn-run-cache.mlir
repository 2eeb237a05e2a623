// Compiled code is kept for the next process, which opens neither the compiler
// nor LLVM.

// RUN: rm -rf %t && mkdir %t
// RUN: env ATTN_CACHE_DIR=%t/a attn-run %s --output=@%t/first.npy --remarks 2>&1 | FileCheck %s --check-prefix=MISS
// MISS: attn-run: remark: cache: miss{{$}}
// RUN: env ATTN_CACHE_DIR=%t/a attn-run %s --output=@%t/second.npy --remarks 2>&1 | FileCheck %s --check-prefix=HIT
// HIT: attn-run: remark: cache: hit{{$}}
// RUN: cmp %t/first.npy %t/second.npy

// Remarks name the file, so that without them it is another entry.
// RUN: env ATTN_CACHE_DIR=%t/a attn-run %s --benchmark=1 | FileCheck %s --check-prefix=JSON-MISS
// JSON-MISS: "compile_ms": {{[0-9.]+}}, "cache": "miss",
// RUN: env ATTN_CACHE_DIR=%t/a attn-run %s --benchmark=1 | FileCheck %s --check-prefix=JSON-HIT
// JSON-HIT: "cache": "hit",
// RUN: attn-run %s --benchmark=1 --cache-dir=%t/a | FileCheck %s --check-prefix=JSON-HIT
// RUN: env ATTN_CACHE_DIR=%t/a attn-run %s --benchmark=1 --no-cache | FileCheck %s --check-prefix=JSON-OFF
// RUN: attn-run %s --benchmark=1 | FileCheck %s --check-prefix=JSON-OFF
// JSON-OFF: "cache": "off",

// The places that XDG names.
// RUN: env -u ATTN_CACHE_DIR XDG_CACHE_HOME=%t/xdg attn-run %s --benchmark=1 | FileCheck %s --check-prefix=JSON-MISS
// RUN: ls %t/xdg/attn | FileCheck %s --check-prefix=FILE
// RUN: mkdir -p %t/home
// RUN: env -u ATTN_CACHE_DIR -u XDG_CACHE_HOME HOME=%t/home attn-run %s --benchmark=1 | FileCheck %s --check-prefix=JSON-MISS
// RUN: ls %t/home/.cache/attn | FileCheck %s --check-prefix=FILE
// FILE: {{^[0-9a-f]+}}.attn
// RUN: env -u ATTN_CACHE_DIR -u XDG_CACHE_HOME -u HOME attn-run %s --remarks 2>&1 | FileCheck %s --check-prefix=HOMELESS
// HOMELESS: attn-run: remark: cache: off: expected one of ATTN_CACHE_DIR, XDG_CACHE_HOME and HOME, got none

// A hit needs no LLVM. What --check compares with is kept too.
// RUN: attn-run %s --cache-dir=%t/a --check
// RUN: env LD_DEBUG=files LD_DEBUG_OUTPUT=%t/opened attn-run %s --cache-dir=%t/a --check
// RUN: cat %t/opened.* | FileCheck %s --check-prefix=OPENED --implicit-check-not=libLLVM --implicit-check-not=libMLIR --implicit-check-not=libattn-compiler
// OPENED: libomp

// Who names a folder hears if it can't be used; others only if they ask.
// RUN: mkdir %t/open && chmod 777 %t/open
// RUN: attn-run %s --cache-dir=%t/open 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: attn-run: remark: cache: off: folder '{{.*}}open': expected one that belongs to this user and that no others may write
// RUN: env ATTN_CACHE_DIR=%t/open attn-run %s 2>&1 | FileCheck %s --implicit-check-not=cache --check-prefix=QUIET
// RUN: attn-run %s --cache-dir=%t/a 2>&1 | FileCheck %s --implicit-check-not=cache --check-prefix=QUIET
// QUIET: o: 1x2x40x16xf32

// Processes that start at the same time.
// RUN: sh -c 'for i in 1 2 3 4; do attn-run %s --cache-dir=%t/together --output=@%t/o$i.npy & done; wait'
// RUN: cmp %t/o1.npy %t/first.npy
// RUN: cmp %t/o2.npy %t/first.npy
// RUN: cmp %t/o3.npy %t/first.npy
// RUN: cmp %t/o4.npy %t/first.npy
// RUN: ls %t/together | count 1

func.func @main(%q: tensor<1x2x40x16xf32>, %k: tensor<1x2x70x16xf32>,
                %v: tensor<1x2x70x16xf32>) -> tensor<1x2x40x16xf32> {
  %o = attn.softmax %q, %k, %v
      : (tensor<1x2x40x16xf32>, tensor<1x2x70x16xf32>, tensor<1x2x70x16xf32>)
      -> tensor<1x2x40x16xf32>
  return %o : tensor<1x2x40x16xf32>
}
