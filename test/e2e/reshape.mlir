// What stands between packed heads, a cache and attention: splits of a
// dimension, transpositions, concatenations.

// Two tokens of two heads of two features, the heads of a token side by side,
// and a cache of one token. All keys weigh the same (q = 0), so that each head
// is the mean of its values: head 0 of 6 (cache), 1 and 5, head 1 of 7, 4 and 7.
// RUN: attn-run %s --function=packed --device=reference --input=1x2x2xf32=0 --input=1x2x2xf32=1,4,5,7 --input=1x2x1x1xf32=6,7 --expect=1x2x2xf32=4,6,4,6 --expect=1x2x3x1xf32=6,1,5,7,4,7
// RUN: attn-run %s --function=packed --device=cpu --input=1x2x2xf32=0 --input=1x2x2xf32=1,4,5,7 --input=1x2x1x1xf32=6,7 --expect=1x2x2xf32=4,6,4,6 --expect=1x2x3x1xf32=6,1,5,7,4,7

// A cache of no token.
// RUN: attn-run %s --function=packed --device=cpu --input=1x2x2xf32=0 --input=1x2x2xf32=1,4,5,8 --input=1x2x0x1xf32=0 --expect=1x2x2xf32=3,6,3,6 --expect=1x2x2x1xf32=1,5,4,8
// RUN: attn-run %s --function=packed --device=reference --input=1x2x2xf32=0 --input=1x2x2xf32=1,4,5,8 --input=1x2x0x1xf32=0 --expect=1x2x2xf32=3,6,3,6 --expect=1x2x2x1xf32=1,5,4,8

// A cache of another batch.
// RUN: not attn-run %s --function=packed --input=1x2x2xf32 --input=1x2x2xf32 --input=3x2x1x1xf32 2>&1 | FileCheck %s --check-prefix=BATCH
// BATCH: attn-run: 'tensor.concat' op operand 1: expected size of dimension 0 3, got 1
func.func @packed(%q: tensor<?x?x2xf32>, %v: tensor<?x?x2xf32>,
                  %past: tensor<?x2x?x1xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x2x?x1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %q, %c0 : tensor<?x?x2xf32>
  %s = tensor.dim %q, %c1 : tensor<?x?x2xf32>
  %q3 = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [%b, %s, 2, 1]
      : tensor<?x?x2xf32> into tensor<?x?x2x1xf32>
  %qe = tensor.empty(%b, %s) : tensor<?x2x?x1xf32>
  %qh = linalg.transpose ins(%q3 : tensor<?x?x2x1xf32>)
      outs(%qe : tensor<?x2x?x1xf32>) permutation = [0, 2, 1, 3]
  %bv = tensor.dim %v, %c0 : tensor<?x?x2xf32>
  %sv = tensor.dim %v, %c1 : tensor<?x?x2xf32>
  %v3 = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [%bv, %sv, 2, 1]
      : tensor<?x?x2xf32> into tensor<?x?x2x1xf32>
  %ve = tensor.empty(%bv, %sv) : tensor<?x2x?x1xf32>
  %vh = linalg.transpose ins(%v3 : tensor<?x?x2x1xf32>)
      outs(%ve : tensor<?x2x?x1xf32>) permutation = [0, 2, 1, 3]
  %kv = tensor.concat dim(2) %past, %vh
      : (tensor<?x2x?x1xf32>, tensor<?x2x?x1xf32>) -> tensor<?x2x?x1xf32>
  %o = attn.softmax %qh, %kv, %kv
      : (tensor<?x2x?x1xf32>, tensor<?x2x?x1xf32>, tensor<?x2x?x1xf32>)
      -> tensor<?x2x?x1xf32>
  %oe = tensor.empty(%b, %s) : tensor<?x?x2x1xf32>
  %o3 = linalg.transpose ins(%o : tensor<?x2x?x1xf32>)
      outs(%oe : tensor<?x?x2x1xf32>) permutation = [0, 2, 1, 3]
  %packed = tensor.collapse_shape %o3 [[0], [1], [2, 3]]
      : tensor<?x?x2x1xf32> into tensor<?x?x2xf32>
  return %packed, %kv : tensor<?x?x2xf32>, tensor<?x2x?x1xf32>
}
