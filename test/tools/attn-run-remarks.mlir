// RUN: attn-run %s --target=cpu:generic --remarks --check 2>&1 | FileCheck %s

// Queries in tiles of 8, keys in tiles of 64. Row tile t of 16 sees the keys up
// to 8t + 7: the first 8 row tiles touch one of two key tiles, the others both;
// the tile on the diagonal is masked.

// CHECK: remark: {{.*}}tile-sizes{{.*}}query tile 8, key tile 64
// CHECK: main: remark: key tiles: 8 skipped, 8 plain, 16 masked
func.func @main(%q: tensor<1x1x128x16xf32>, %k: tensor<1x1x128x16xf32>, %v: tensor<1x1x128x16xf32>) -> tensor<1x1x128x16xf32> {
  %o = attn.softmax %q, %k, %v align(top_left) mask(#attn.causal) : (tensor<1x1x128x16xf32>, tensor<1x1x128x16xf32>, tensor<1x1x128x16xf32>) -> tensor<1x1x128x16xf32>
  return %o : tensor<1x1x128x16xf32>
}
