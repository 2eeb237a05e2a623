// RUN: attn-opt %s --attn-emit-plan --split-input-file --verify-diagnostics

func.func @depends_on_data(%n: tensor<1xindex>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tensor.extract' op expected no size of a tensor to depend on its result}}
  %size = tensor.extract %n[%c0] : tensor<1xindex>
  %o = tensor.empty(%size) : tensor<?xf32>
  return %o : tensor<?xf32>
}

// -----

// expected-error @below {{'func.func' op result 0: expected a ranked tensor, got 'f32'}}
func.func @scalar_result(%x: f32) -> f32 {
  return %x : f32
}

// -----

func.func @attention_in_a_loop(%q: tensor<1x1x2x4xf32>, %n: index)
    -> tensor<1x1x2x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %q)
      -> tensor<1x1x2x4xf32> {
    // expected-error @below {{'attn.softmax' op expected it directly in a function, got it in 'scf.for'}}
    %o = attn.softmax %x, %q, %q
        : (tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>)
        -> tensor<1x1x2x4xf32>
    scf.yield %o : tensor<1x1x2x4xf32>
  }
  return %r : tensor<1x1x2x4xf32>
}

// -----

func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// expected-error @below {{'func.func' op name: expected none that a plan needs, got f.plan}}
func.func @f.plan(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// expected-error @below {{'func.func' op expected a source, got a module that has been through stage source, with the plan f.plan}}
func.func @f.plan(%in: !llvm.ptr, %out: !llvm.ptr) -> i64
    attributes {attn.rules = []} {
  %c0 = arith.constant 0 : i64
  return %c0 : i64
}

// -----

func.func @strided_window(%x: tensor<?xf32>, %y: tensor<?xf32>)
    -> tensor<?xf32> {
  // expected-error @below {{'linalg.generic' op operand 0: expected dimensions that are loops of the op, got affine_map<(d0, d1) -> (d0 + d1)>, as of a convolution or a window, which is not supported}}
  %z = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<?xf32>, tensor<?xf32>)
      outs(%x : tensor<?xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        linalg.yield %a : f32
      } -> tensor<?xf32>
  return %z : tensor<?xf32>
}
