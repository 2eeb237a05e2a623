// RUN: attn-opt %s --attn-lower-running-max --canonicalize --cse | FileCheck %s

// A row of maxima is that before it and a row of the input, in vectors of
// features and then one by one.
// CHECK-LABEL: func @features_are_lanes
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<1x1x?x20xf32>, %[[M:[a-z0-9]+]]: memref<1x1x?x20xf32>, %[[S:[a-z0-9]+]]: memref<1x1x?x20xf32>
// CHECK:         scf.for %[[T:.*]] = %c0
// CHECK:           %[[FIRST:.*]] = arith.cmpi eq, %[[T]], %{{.*}}
// CHECK:           %[[BEFORE:.*]] = arith.maxsi
// CHECK:             %[[LOADED:.*]] = vector.load %[[M]][%{{.*}}, %{{.*}}, %[[BEFORE]], %{{.*}}] : memref<1x1x?x20xf32>, vector<16xf32>
// CHECK:             %[[LAST:.*]] = arith.select %[[FIRST]], %{{.*}}, %[[LOADED]]
// CHECK:             %[[ROW:.*]] = vector.load %[[X]][%{{.*}}, %{{.*}}, %[[T]], %{{.*}}]
// CHECK:             arith.cmpf ogt, %[[ROW]], %[[LAST]]
// CHECK:             vector.store %{{.*}}, %[[M]][%{{.*}}, %{{.*}}, %[[T]], %{{.*}}]
// CHECK:             vector.store %{{.*}}, %[[S]][%{{.*}}, %{{.*}}, %[[T]], %{{.*}}]
// CHECK:           scf.for %[[R:.*]] = %c16 to %c20
// CHECK:             memref.load %[[X]][%{{.*}}, %{{.*}}, %[[T]], %[[R]]]
module attributes {attn.target = "cpu:avx512"} {
  func.func @features_are_lanes(%x: memref<1x1x?x20xf32>, %m: memref<1x1x?x20xf32>, %s: memref<1x1x?x20xf32>) {
    attn.running_max ins(%x : memref<1x1x?x20xf32>) outs(%m, %s : memref<1x1x?x20xf32>, memref<1x1x?x20xf32>)
    return
  }
}
