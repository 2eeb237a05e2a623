// Code for AMX, which needs no CPU that has it: 48 queries by 64 keys in tiles.

// RUN: attn-run %s --emit=asm --target=cpu:amx | FileCheck %s
// RUN: attn-run %s --emit=asm --target=cpu:amx | FileCheck %s --check-prefix=ALL

// One configuration for all tiles.
// CHECK:      ldtilecfg

// The scores of 16 keys.
// CHECK-COUNT-3: tilezero
// CHECK:      [[LOOP:.LBB[0-9_]+]]:
// CHECK-NOT:  {{call|rsp.*tmm|tmm.*rsp}}
// CHECK:      tileloadd
// CHECK:      tileloadd
// CHECK:      tileloadd
// CHECK:      tileloadd
// CHECK-NEXT: tdpbf16ps
// CHECK-NEXT: tdpbf16ps
// CHECK-NEXT: tdpbf16ps
// CHECK-NOT:  {{call|tileload|tilestore}}
// CHECK:      jl [[LOOP]]
// CHECK-COUNT-3: tilestored

// The same for the keys that fill no tile, from a copy.
// CHECK-COUNT-3: tilezero
// CHECK-COUNT-4: tileloadd
// CHECK-COUNT-3: tdpbf16ps

// V is transposed by pairs of keys, then comes the weighted sum of 16 of its
// columns.
// CHECK-COUNT-16: vpermt2w
// CHECK-COUNT-3: tileloadd
// CHECK:      [[SUM:.LBB[0-9_]+]]:
// CHECK-NOT:  call
// CHECK-COUNT-4: tileloadd
// CHECK-NEXT: tdpbf16ps
// CHECK-NEXT: tdpbf16ps
// CHECK-NEXT: tdpbf16ps
// CHECK-NOT:  {{call|tileload|tilestore}}
// CHECK:      jl [[SUM]]

// No tile goes to the stack, and there is no other configuration.
// ALL-NOT:   ldtilecfg
// ALL:       ldtilecfg
// ALL-NOT:   {{ldtilecfg|rsp.*%tmm|%tmm.*rsp}}
// ALL:       tilerelease
// ALL-NOT:   {{ldtilecfg|tmm}}

func.func @main(%q: tensor<1x8x480x64xbf16>, %k: tensor<1x2x512x64xbf16>,
                %v: tensor<1x2x512x64xbf16>) -> tensor<1x8x480x64xbf16> {
  %o = attn.gqa %q, %k, %v
      : (tensor<1x8x480x64xbf16>, tensor<1x2x512x64xbf16>,
         tensor<1x2x512x64xbf16>) -> tensor<1x8x480x64xbf16>
  return %o : tensor<1x8x480x64xbf16>
}
