// RUN: attn-opt %s --pass-pipeline='builtin.module(func.func(attn-expand-merge))' | FileCheck %s
// RUN: attn-opt %s --pass-pipeline='builtin.module(func.func(attn-expand-merge{wide=true}))' | FileCheck %s --check-prefix=WIDE

// CHECK-LABEL: func @merge
// CHECK-SAME: %[[O1:[^:]*]]: tensor<2x3x?x8xbf16>, %[[L1:[^:]*]]: tensor<2x3x?xf32>, %[[O2:[^:]*]]: tensor<2x3x?x8xbf16>, %[[L2:[^:]*]]: tensor<2x3x?xf32>
// CHECK: %[[S:.*]]:3 = linalg.generic {{.*}} ins(%[[L1]], %[[L2]] :
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK: %[[MAX:.*]] = arith.maximumf %[[A]], %[[B]]
// CHECK: arith.subf %[[A]], %[[MAX]]
// CHECK: math.exp
// CHECK: arith.subf %[[B]], %[[MAX]]
// CHECK: math.exp
// CHECK: %[[O:.*]] = linalg.generic {{.*}} ins(%[[O1]], %[[S]]#0, %[[O2]], %[[S]]#1 :
// CHECK-NEXT: ^bb0(%[[X:.*]]: bf16, %[[SHARE:.*]]: f32, %{{.*}}: bf16, %{{.*}}: f32, %{{.*}}: bf16):
// CHECK: %[[WIDENED:.*]] = arith.extf %[[X]] : bf16 to f32
// CHECK: arith.mulf %[[WIDENED]], %[[SHARE]]
// CHECK: return %[[O]], %[[S]]#2
// WIDE-LABEL: func @merge
// WIDE: math.exp %{{.*}} : f64
// WIDE: arith.truncf %{{.*}} : f64 to f32
func.func @merge(%o1: tensor<2x3x?x8xbf16>, %l1: tensor<2x3x?xf32>,
                 %o2: tensor<2x3x?x8xbf16>, %l2: tensor<2x3x?xf32>)
    -> (tensor<2x3x?x8xbf16>, tensor<2x3x?xf32>) {
  %o, %l = attn.merge %o1, %l1, %o2, %l2
      : (tensor<2x3x?x8xbf16>, tensor<2x3x?xf32>, tensor<2x3x?x8xbf16>,
         tensor<2x3x?xf32>) -> (tensor<2x3x?x8xbf16>, tensor<2x3x?xf32>)
  return %o, %l : tensor<2x3x?x8xbf16>, tensor<2x3x?xf32>
}
