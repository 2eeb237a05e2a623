// What --remarks prints: tile sizes always, and why a mask is applied to every
// tile only where it is.

// RUN: attn-run %s --function=unclassified --remarks 2>&1 >/dev/null \
// RUN:   | FileCheck %s
// RUN: attn-run %s --function=causal 2>&1 >/dev/null | count 0

// CHECK: remarks.mlir:[[#@LINE+7]]:{{.*}} remark: {{.*}}tile-sizes{{.*}}'attn.softmax' query tile {{[0-9]+}}, key tile {{[0-9]+}}
// CHECK: remarks.mlir:[[#@LINE+6]]:{{.*}} remark: {{.*}}mask-classification{{.*}}'attn.softmax' every tile runs with its mask, for 'tensor.extract' cannot be classified
// CHECK: remarks.mlir:[[#@LINE+17]]:{{.*}} remark: {{.*}}tile-sizes
// CHECK-NOT: mask-classification

func.func @unclassified(%q: tensor<1x1x100x16xf32>, %m: tensor<100x100xi1>)
    -> tensor<1x1x100x16xf32> {
  %o = attn.softmax %q, %q, %q align(top_left)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %p = tensor.extract %m[%i, %j] : tensor<100x100xi1>
        attn.yield %p : i1
      }
      : (tensor<1x1x100x16xf32>, tensor<1x1x100x16xf32>, tensor<1x1x100x16xf32>)
      -> tensor<1x1x100x16xf32>
  return %o : tensor<1x1x100x16xf32>
}

func.func @causal(%q: tensor<1x1x100x16xf32>) -> tensor<1x1x100x16xf32> {
  %o = attn.softmax %q, %q, %q align(top_left) mask(#attn.causal)
      : (tensor<1x1x100x16xf32>, tensor<1x1x100x16xf32>, tensor<1x1x100x16xf32>)
      -> tensor<1x1x100x16xf32>
  return %o : tensor<1x1x100x16xf32>
}
