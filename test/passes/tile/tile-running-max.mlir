// RUN: attn-opt %s --attn-tile-running-max | FileCheck %s

// Batch entries, heads and features are parallel, positions are in order.
// CHECK-LABEL: func @tiles_of_features
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3x?x300xf32>, %[[N:[a-z0-9]+]]: tensor<2xi32>
// CHECK:         scf.forall (%[[B:.*]], %[[H:.*]], %[[R:.*]]) = (0, 0, 0) to (2, 3, 300) step (1, 1, 256)
// CHECK:           %[[COUNT:.*]] = arith.minsi
// CHECK:           %[[LENGTH:.*]] = tensor.extract_slice %[[N]][%[[B]]] [1] [1]
// CHECK:           %[[TILE:.*]] = tensor.extract_slice %[[X]][%[[B]], %[[H]], 0, %[[R]]] [1, 1, %{{.*}}, %[[COUNT]]]
// CHECK:           attn.running_max ins(%[[TILE]] : tensor<1x1x?x?xf32>) lengths(%[[LENGTH]] : tensor<1xi32>)
func.func @tiles_of_features(%x: tensor<2x3x?x300xf32>, %n: tensor<2xi32>, %m: tensor<2x3x?x300xf32>, %s: tensor<2x3x?x300xf32>)
    -> (tensor<2x3x?x300xf32>, tensor<2x3x?x300xf32>) {
  %r:2 = attn.running_max ins(%x : tensor<2x3x?x300xf32>) lengths(%n : tensor<2xi32>)
      outs(%m, %s : tensor<2x3x?x300xf32>, tensor<2x3x?x300xf32>) -> tensor<2x3x?x300xf32>, tensor<2x3x?x300xf32>
  return %r#0, %r#1 : tensor<2x3x?x300xf32>, tensor<2x3x?x300xf32>
}
