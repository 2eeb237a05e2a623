// REQUIRES: plugin

// The dialect, the passes and the pipelines in a stock mlir-opt: it reads and
// writes attention without a pass, and a pipeline makes of it what attn-opt does.

// RUN: %mlir-opt --load-dialect-plugin=%plugin %s | FileCheck %s
// RUN: %mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s \
// RUN:   --pass-pipeline='builtin.module(attn-to-tile{target=cpu:avx2})' > %t.mlir
// RUN: attn-opt %s --attn-to-tile=target=cpu:avx2 | diff - %t.mlir
// RUN: %mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   %t.mlir --pass-pipeline='builtin.module(attn-cpu)' > %t-cpu.mlir
// RUN: attn-opt %s --attn-to-cpu=target=cpu:avx2 | diff - %t-cpu.mlir

// A single pass, and an error of the dialect's verifier.
// RUN: %mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s \
// RUN:   --pass-pipeline='builtin.module(attn-set-target{target=cpu:avx2},func.func(attn-tile-attention))' \
// RUN:   | FileCheck %s --check-prefix=TILED
// RUN: sed 's/2x8x16xf32/2x8x32xf32/2' %s \
// RUN:   | not %mlir-opt --load-dialect-plugin=%plugin 2>&1 | FileCheck %s --check-prefix=ERROR

// One copy of MLIR: whoever loads the plugin has the same.
// RUN: llvm-readelf --needed-libs %plugin | FileCheck %s --check-prefix=LIBRARIES
// RUN: llvm-nm -D --defined-only %plugin | FileCheck %s --check-prefix=SYMBOLS

// CHECK: attn.softmax %{{.*}} mask(#attn.causal)
// TILED: attn.online_softmax
// ERROR: error: 'attn.softmax' op key: expected head dim 16 (from query), got 32
// LIBRARIES-DAG: libLLVM.so
// LIBRARIES-DAG: libMLIR.so
// SYMBOLS-NOT: {{ [TVBD] _ZN4mlir11MLIRContext}}
// SYMBOLS: mlirGetDialectPluginInfo
// SYMBOLS-NOT: {{ [TVBD] _ZN4mlir11MLIRContext}}

func.func @main(%q: tensor<1x2x8x16xf32>, %k: tensor<1x2x8x16xf32>) -> tensor<1x2x8x16xf32> {
  %o = attn.softmax %q, %k, %q align(top_left) mask(#attn.causal)
      : (tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>) -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}
