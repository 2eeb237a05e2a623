// "host" stands for a target without tiles where there are none, and says why.

// REQUIRES: avx512bf16
// UNSUPPORTED: amx

// RUN: attn-run %s --remarks 2>&1 | FileCheck %s
// RUN: attn-run %s --remarks --target=cpu:avx512bf16 2>&1 | FileCheck %s --check-prefix=NAMED
// CHECK: remark: target: cpu:avx512bf16, not cpu:amx: this CPU lacks amx-tile, amx-bf16
// NAMED-NOT: cpu:amx

func.func @main(%q: tensor<1x1x3x4xbf16>) -> tensor<1x1x3x4xbf16> {
  %o = attn.softmax %q, %q, %q
      : (tensor<1x1x3x4xbf16>, tensor<1x1x3x4xbf16>, tensor<1x1x3x4xbf16>)
      -> tensor<1x1x3x4xbf16>
  return %o : tensor<1x1x3x4xbf16>
}
