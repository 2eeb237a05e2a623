// RUN: attn-opt %s --split-input-file --attn-lower-elementwise --canonicalize --cse | FileCheck %s
// RUN: attn-opt %s --split-input-file --attn-lower-elementwise --remarks-filter='attn.*' \
// RUN:   --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Rows are vectors, and what is the same in a row is loaded in front of it.
// What is left of a row goes element by element.
// CHECK-LABEL: func @rows_are_vectors
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x36xbf16>, %[[A:[a-z0-9]+]]: memref<?xf32>, %[[Y:[a-z0-9]+]]: memref<?x36xf32>
// CHECK:         scf.for %[[I:.*]] = %c0
// CHECK:           %[[ROW:.*]] = memref.load %[[A]][%[[I]]]
// CHECK:           scf.for %[[J:.*]] = %c0 to %c32 step %c16
// CHECK:             %[[V:.*]] = vector.load %[[X]][%[[I]], %[[J]]] : memref<?x36xbf16>, vector<16xbf16>
// CHECK:             %[[WIDE:.*]] = arith.extf %[[V]] : vector<16xbf16> to vector<16xf32>
// CHECK:             %[[LANES:.*]] = vector.broadcast %[[ROW]] : f32 to vector<16xf32>
// CHECK:             %[[SUM:.*]] = arith.addf %[[WIDE]], %[[LANES]]
// CHECK:             vector.store %[[SUM]], %[[Y]][%[[I]], %[[J]]]
// CHECK:           scf.for %[[K:.*]] = %c32 to %c36 step %c1
// CHECK:             memref.load %[[X]][%[[I]], %[[K]]]
// CHECK:             memref.store %{{.*}}, %[[Y]][%[[I]], %[[K]]]
module attributes {attn.target = "cpu:avx512"} {
  func.func @rows_are_vectors(%x: memref<?x36xbf16>, %a: memref<?xf32>, %y: memref<?x36xf32>) {
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x, %a : memref<?x36xbf16>, memref<?xf32>) outs(%y : memref<?x36xf32>) {
      ^bb0(%e: bf16, %f: f32, %g: f32):
        %w = arith.extf %e : bf16 to f32
        %s = arith.addf %w, %f : f32
        linalg.yield %s : f32
    }
    return
  }
}

// -----

// A maximum of a row is one of vectors first, then by halves.
// CHECK-LABEL: func @maximum_of_rows
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<4x32xf64>, %[[Y:[a-z0-9]+]]: memref<4xf64>
// CHECK:         %[[FIRST:.*]] = memref.load %[[Y]]
// CHECK:         %[[MAX:.*]] = scf.for %{{.*}} = %c0 to %c32 step %c4 iter_args(%[[SO_FAR:.*]] = %cst)
// CHECK:           %[[V:.*]] = vector.load %[[X]]
// CHECK:           arith.maximumf %[[SO_FAR]], %[[V]] : vector<4xf64>
// CHECK:         %[[L2:.*]] = vector.shuffle %[[MAX]], %[[MAX]] [0, 1]
// CHECK:         %[[H2:.*]] = vector.shuffle %[[MAX]], %[[MAX]] [2, 3]
// CHECK:         %[[HALF:.*]] = arith.maximumf %[[L2]], %[[H2]] : vector<2xf64>
// CHECK:         %[[ONE:.*]] = vector.extract
// CHECK:         %[[RESULT:.*]] = arith.maximumf %[[FIRST]], %[[ONE]]
// CHECK:         memref.store %[[RESULT]], %[[Y]]
module attributes {attn.target = "cpu:avx2"} {
  func.func @maximum_of_rows(%x: memref<4x32xf64>, %y: memref<4xf64>) {
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<4x32xf64>) outs(%y : memref<4xf64>) {
      ^bb0(%e: f64, %f: f64):
        %m = arith.maximumf %f, %e : f64
        linalg.yield %m : f64
    }
    return
  }
}

// -----

// The position in a row is a vector, and a read at it is one of a row. Short
// rows take short vectors.
// CHECK-LABEL: func @positions
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<3x4xf32>, %[[T:[a-z0-9]+]]: memref<5x4xf32>
// CHECK-DAG:     arith.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]> : vector<4xf32>
// CHECK:         %[[READ:.*]] = vector.load %[[T]][%{{.*}}, %{{.*}}] : memref<5x4xf32>, vector<4xf32>
module attributes {attn.target = "cpu:avx2"} {
  func.func @positions(%x: memref<3x4xf32>, %t: memref<5x4xf32>) {
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        outs(%x : memref<3x4xf32>) {
      ^bb0(%f: f32):
        %i = linalg.index 0 : index
        %j = linalg.index 1 : index
        %e = memref.load %t[%i, %j] : memref<5x4xf32>
        %n = arith.index_cast %j : index to i32
        %p = arith.sitofp %n : i32 to f32
        %s = arith.addf %e, %p : f32
        linalg.yield %s : f32
    }
    return
  }
}

// -----

// What has no vector form stays, with the reason.

// REMARK: remark: {{.*}}elementwise{{.*}}'linalg.generic' runs as plain loops: expected operands whose rows are along the last loop
// REMARK: remark: {{.*}}elementwise{{.*}}'linalg.generic' runs as plain loops: expected reads along the last loop, got a gather
// REMARK: remark: {{.*}}elementwise{{.*}}'linalg.generic' runs as plain loops: expected a sum, product, maximum or minimum of rows
// REMARK: remark: {{.*}}elementwise{{.*}}'linalg.generic' runs as plain loops: expected each dimension to have a loop of its own

// CHECK-LABEL: func @stays
// CHECK-NOT:     vector
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT:     vector
module attributes {attn.target = "cpu:avx2"} {
  func.func @stays(%x: memref<8x8xf32>, %y: memref<8x8xf32>, %z: memref<8xf32>, %n: memref<8x8xi32>, %w: memref<15x8xf32>) {
    // A column at a time.
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : memref<8x8xf32>) outs(%y : memref<8x8xf32>) {
      ^bb0(%e: f32, %f: f32):
        linalg.yield %e : f32
    }
    // Elements at places of the data.
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%n : memref<8x8xi32>) outs(%y : memref<8x8xf32>) {
      ^bb0(%e: i32, %f: f32):
        %i = arith.index_cast %e : i32 to index
        %g = memref.load %z[%i] : memref<8xf32>
        linalg.yield %g : f32
    }
    // Each step needs the one before.
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<8x8xf32>) outs(%z : memref<8xf32>) {
      ^bb0(%e: f32, %f: f32):
        %p = arith.mulf %f, %f : f32
        %s = arith.addf %p, %e : f32
        linalg.yield %s : f32
    }
    // Diagonals.
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%w : memref<15x8xf32>) outs(%y : memref<8x8xf32>) {
      ^bb0(%e: f32, %f: f32):
        linalg.yield %e : f32
    }
    return
  }
}
