// RUN: split-file %s %t
// RUN: not attn-opt %t/call.mlir --attn-check-stage=stage=source 2>&1 | FileCheck %s --check-prefix=CALL
// RUN: not attn-opt %t/extract.mlir --attn-check-stage=stage=source 2>&1 | FileCheck %s --check-prefix=EXTRACT
// RUN: not attn-opt %t/affine.mlir --attn-check-stage=stage=source 2>&1 | FileCheck %s --check-prefix=AFFINE
// RUN: not attn-opt %t/dim.mlir --attn-check-stage=stage=source 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: not attn-opt %t/split.mlir --attn-check-stage=stage=source 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: not attn-opt %t/concat.mlir --attn-check-stage=stage=source 2>&1 | FileCheck %s --check-prefix=CONCAT
// RUN: not attn-opt %t/later.mlir --attn-check-stage=stage=source 2>&1 | FileCheck %s --check-prefix=LATER
// RUN: not attn-opt %t/power.mlir --attn-check-stage=stage=source 2>&1 | FileCheck %s --check-prefix=POWER
// RUN: not attn-opt %t/attend.mlir --attn-check-stage=stage=tile 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not attn-opt %t/attend.mlir --attn-check-stage=stage=decompose 2>&1 | FileCheck %s --check-prefix=DECOMPOSE
// RUN: not attn-opt %t/attend.mlir --attn-check-stage=stage=llvm 2>&1 | FileCheck %s --check-prefix=LLVM
// RUN: not attn-opt %t/twice.mlir --attn-check-stage=stage=tile 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not attn-opt %t/never.mlir --attn-check-stage=stage=tile 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: not attn-opt %t/crossed.mlir --attn-check-stage=stage=tile 2>&1 | FileCheck %s --check-prefix=CROSSED
// RUN: not attn-opt %t/attend.mlir --attn-check-stage=stage=late 2>&1 | FileCheck %s --check-prefix=OPTION

// CALL: error: 'func.call' op not supported in a source module
// EXTRACT: error: 'tensor.extract' op not supported in a source module
// AFFINE: error: 'affine.apply' op not supported in a source module
// POWER: power.mlir:2:8: error: 'math.ipowi' op not supported in a source module
// DIM: error: 'tensor.dim' op not supported in a source module
// SPLIT: error: 'tensor.expand_shape' op not supported in a source module
// CONCAT: error: 'tensor.concat' op not supported in a source module
// LATER: error: 'scf.for' op not supported in a source module; this one has been through stage source, as it has plans
// TILE: error: 'attn.softmax' op not supported after stage tile
// DECOMPOSE: error: 'attn.softmax' op not supported after stage decompose
// LLVM: error: 'func.func' op not supported after stage llvm
// TWICE: error: 'scf.forall' op result 1: expected one insertion, got 2
// NEVER: error: 'scf.forall' op result 1: expected one insertion, got 0
// CROSSED: error: 'scf.forall' op result 0: expected the insertion number 0, got another one
// OPTION: attn-check-stage: stage: expected source, rewrite, tile, decompose or llvm, got 'late'

//--- call.mlir
func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = func.call @f(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

//--- extract.mlir
// The index is the caller's, and nothing checks it.
func.func @f(%x: tensor<4xf32>, %i: index) -> tensor<f32> {
  %e = tensor.extract %x[%i] : tensor<4xf32>
  %init = tensor.empty() : tensor<f32>
  %y = linalg.fill ins(%e : f32) outs(%init : tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

//--- affine.mlir
// A division by what may be zero.
func.func @f(%n: index) -> tensor<?xf32> {
  %m = affine.apply affine_map<()[s0] -> (7 floordiv s0)>()[%n]
  %y = tensor.empty(%m) : tensor<?xf32>
  return %y : tensor<?xf32>
}

//--- dim.mlir
// A dimension that the tensor doesn't have.
func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c5 = arith.constant 5 : index
  %n = tensor.dim %x, %c5 : tensor<?xf32>
  %y = tensor.empty(%n) : tensor<?xf32>
  return %y : tensor<?xf32>
}

//--- split.mlir
// The size of a call that 4 may not divide.
func.func @f(%x: tensor<?xf32>, %n: index) -> tensor<?x4xf32> {
  %y = tensor.expand_shape %x [[0, 1]] output_shape [%n, 4]
      : tensor<?xf32> into tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

//--- concat.mlir
// A sum of sizes that only a call knows.
func.func @f(%x: tensor<?xf32>) -> tensor<8xf32> {
  %y = tensor.concat dim(0) %x, %x
      : (tensor<?xf32>, tensor<?xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

//--- power.mlir
func.func @f(%x: i32) -> i32 {
  %y = math.ipowi %x, %x : i32
  return %y : i32
}

//--- attend.mlir
func.func @f(%q: tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> {
  %o = attn.softmax %q, %q, %q
      : (tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>)
      -> tensor<1x1x2x4xf32>
  return %o : tensor<1x1x2x4xf32>
}

//--- twice.mlir
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %part: tensor<2xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %r:2 = scf.forall (%i) in (%n) shared_outs(%a = %x, %b = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %a[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
      tensor.parallel_insert_slice %part into %b[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
      tensor.parallel_insert_slice %part into %b[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
    }
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

//--- never.mlir
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %part: tensor<2xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %r:2 = scf.forall (%i) in (%n) shared_outs(%a = %x, %b = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %a[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
    }
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

//--- crossed.mlir
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %part: tensor<2xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %r:2 = scf.forall (%i) in (%n) shared_outs(%a = %x, %b = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %b[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
      tensor.parallel_insert_slice %part into %a[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
    }
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

//--- later.mlir
// What a later stage leaves has plans.
func.func @f.plan(%in: !llvm.ptr, %out: !llvm.ptr) -> i64
    attributes {attn.rules = []} {
  %c0 = arith.constant 0 : i64
  return %c0 : i64
}
func.func @f(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<4xf32> {
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
