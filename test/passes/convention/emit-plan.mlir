// RUN: attn-opt %s --attn-emit-plan --canonicalize --cse | FileCheck %s

// The result has the batch and length of the query and the columns of the
// value; rule 1 compares the batches, and what the types say has no rule.
// CHECK-LABEL: func.func @attend(
// CHECK-LABEL: func.func @attend.plan(
// CHECK-SAME:    %[[IN:[^:]*]]: !llvm.ptr, %[[OUT:[^:]*]]: !llvm.ptr) -> i64
// CHECK-SAME:    attn.rules = ["'attn.softmax' op key: expected batch (from query)", "'attn.softmax' op value: expected batch (from query)", "'attn.softmax' op value: expected length (from key)"]
// CHECK-DAG:     %[[B:.*]] = llvm.load %[[IN]]
// CHECK-DAG:     %[[KEY_AT:.*]] = llvm.getelementptr %[[IN]][4]
// CHECK-DAG:     %[[KEY:.*]] = llvm.load %[[KEY_AT]]
// CHECK-DAG:     %[[B_INDEX:.*]] = arith.index_cast %[[B]]
// CHECK-DAG:     %[[KEY_INDEX:.*]] = arith.index_cast %[[KEY]]
// CHECK:         %[[BROKEN:.*]] = arith.cmpi ne, %[[KEY_INDEX]], %[[B_INDEX]]
// CHECK:         %[[STATUS:.*]] = arith.select %[[BROKEN]], %c1_i64
// CHECK:         %[[FIRST:.*]] = arith.select %[[BROKEN]], %[[B]]
// CHECK:         %[[SECOND:.*]] = arith.select %[[BROKEN]], %[[KEY]]
// CHECK:         llvm.store %[[FIRST]], %[[OUT]]
// CHECK:         llvm.store %[[SECOND]]
// CHECK-NOT:     attn.softmax
// CHECK:         return %[[STATUS]]
func.func @attend(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>,
                  %v: tensor<?x8x?x32xf32>) -> tensor<?x8x?x32xf32> {
  %o = attn.softmax %q, %k, %v
      : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x32xf32>)
      -> tensor<?x8x?x32xf32>
  return %o : tensor<?x8x?x32xf32>
}

// Sizes go through what stands between arguments and results.
// CHECK-LABEL: func.func @scaled.plan(
// CHECK-SAME:    attn.rules = ["'linalg.generic' op operand 1: expected size of dimension 0"]
// CHECK-NOT:     linalg
func.func @scaled(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %init = tensor.empty(%n) : tensor<?xf32>
  %z = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
                       affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xf32>, tensor<?xf32>)
      outs(%init : tensor<?xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %p = arith.mulf %a, %b : f32
        linalg.yield %p : f32
      } -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// A region reads %doc[j] clamped to its bounds, which needs one element, but not
// in a call without keys.
// CHECK-LABEL: func.func @captured.plan(
// CHECK-SAME:    attn.rules = ["'attn.softmax' op captured tensor 0: expected size of dimension 0 of at least"]
// CHECK-DAG:     %[[SKV:.*]] = llvm.load %{{.*}}
// CHECK-DAG:     %[[HAS_KEYS:.*]] = arith.cmpi ne, %{{.*}}, %c0
// CHECK-DAG:     %[[IS_EMPTY:.*]] = arith.cmpi slt, %{{.*}}, %c1
// CHECK:         arith.andi %[[HAS_KEYS]], %[[IS_EMPTY]]
func.func @captured(%q: tensor<1x1x1x4xf32>, %k: tensor<1x1x?x4xf32>,
                    %doc: tensor<?xi32>) -> tensor<1x1x1x4xf32> {
  %o = attn.softmax %q, %k, %k
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %d = tensor.extract %doc[%j] : tensor<?xi32>
        %c7 = arith.constant 7 : i32
        %kept = arith.cmpi slt, %d, %c7 : i32
        attn.yield %kept : i1
      }
      : (tensor<1x1x1x4xf32>, tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>)
      -> tensor<1x1x1x4xf32>
  return %o : tensor<1x1x1x4xf32>
}

// The value of an argument may be anything, its size may not.
// CHECK-LABEL: func.func @sized.plan(
// CHECK-SAME:    attn.rules = ["'tensor.empty' op expected size of dimension 0 of at least", "'func.func' op result 0: expected size of dimension 0 of at least"]
func.func @sized(%n: index) -> tensor<?xf32> {
  %o = tensor.empty(%n) : tensor<?xf32>
  return %o : tensor<?xf32>
}

// Concatenated tensors agree in the other dimensions, and a size that is not
// split is the one that it was.
// CHECK-LABEL: func.func @reshaped.plan(
// CHECK-SAME:    attn.rules = ["'tensor.concat' op operand 1: expected size of dimension 0", "'tensor.expand_shape' op output shape: expected size of dimension 0"
func.func @reshaped(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %n: index)
    -> tensor<?x2x4xf32> {
  %c = tensor.concat dim(1) %x, %y
      : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  %o = tensor.expand_shape %c [[0], [1, 2]] output_shape [%n, 2, 4]
      : tensor<?x8xf32> into tensor<?x2x4xf32>
  return %o : tensor<?x2x4xf32>
}

// A size that broadcasts is 1 or the whole.
// CHECK-LABEL: func.func @broadcast.plan(
// CHECK-SAME:    attn.rules = ["'attn.softmax' op bias: expected 1 or rows (from query)"]
// CHECK:         %[[NOT_ONE:.*]] = arith.cmpi ne, %[[GOT:.*]], %c1
// CHECK:         %[[NOT_ROWS:.*]] = arith.cmpi ne, %[[GOT]], %{{.*}}
// CHECK:         arith.andi %[[NOT_ONE]], %[[NOT_ROWS]]
func.func @broadcast(%q: tensor<1x1x?x4xf32>, %k: tensor<1x1x3x4xf32>,
                     %bias: tensor<?x1xf32>) -> tensor<1x1x?x4xf32> {
  %o = attn.softmax %q, %k, %k bias(%bias : tensor<?x1xf32>)
      : (tensor<1x1x?x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>)
      -> tensor<1x1x?x4xf32>
  return %o : tensor<1x1x?x4xf32>
}

// Numbers that follow from scalars and sizes have rules, whose numbers are
// negative in what the plan returns. One that a tensor holds has none.
// CHECK-LABEL: func.func @numbers.plan(
// CHECK-SAME:    %[[IN:[^:]*]]: !llvm.ptr, %[[OUT:[^:]*]]: !llvm.ptr) -> i64
// CHECK-SAME:    attn.rules = ["'attn.softmax' op scale: expected a number that is finite in f32", "'attn.softmax' op softcap: expected a number > 0 that is normal in f32 with its reciprocal"]
// CHECK-DAG:     %[[AT:.*]] = llvm.getelementptr %[[IN]][4]
// CHECK-DAG:     %[[WORD:.*]] = llvm.load %[[AT]]
// CHECK-DAG:     %[[BITS:.*]] = arith.trunci %[[WORD]] : i64 to i32
// CHECK-DAG:     %[[S:.*]] = arith.bitcast %[[BITS]] : i32 to f32
// CHECK-DAG:     %[[GOT:.*]] = arith.extf %[[S]] : f32 to f64
// CHECK-DAG:     %[[GOT_BITS:.*]] = arith.bitcast %[[GOT]] : f64 to i64
// CHECK-DAG:     arith.select %{{.*}}, %c-2_i64
// CHECK-DAG:     arith.select %{{.*}}, %c-1_i64
// CHECK-DAG:     arith.select %{{.*}}, %[[GOT_BITS]]
func.func @numbers(%q: tensor<1x1x?x4xf32>, %s: f32, %c: f32, %x: tensor<f32>)
    -> tensor<1x1x?x4xf32> {
  %p = attn.softmax %q, %q, %q scale(%s : f32) softcap(%c : f32)
      : (tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>)
      -> tensor<1x1x?x4xf32>
  %e = tensor.extract %x[] : tensor<f32>
  %o = attn.softmax %p, %q, %q scale(%e : f32)
      : (tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>)
      -> tensor<1x1x?x4xf32>
  return %o : tensor<1x1x?x4xf32>
}
