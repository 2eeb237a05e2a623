// Without AMX, the target that needs it is refused.

// UNSUPPORTED: amx

// RUN: not attn-run %s --target=cpu:amx 2>&1 | FileCheck %s
// CHECK: option target: 'cpu:amx' {{needs AMX tiles: this CPU lacks amx-tile, amx-bf16|needs features that this CPU lacks: .*avx512.*}}

func.func @main(%q: tensor<1x1x3x4xbf16>) -> tensor<1x1x3x4xbf16> {
  %o = attn.softmax %q, %q, %q
      : (tensor<1x1x3x4xbf16>, tensor<1x1x3x4xbf16>, tensor<1x1x3x4xbf16>)
      -> tensor<1x1x3x4xbf16>
  return %o : tensor<1x1x3x4xbf16>
}
