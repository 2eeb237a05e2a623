// Clauses of the linear family whose results fit on a line; q = k = 1 unless
// said otherwise, so that outputs are sums of values.

// Sequences of the rows 1 to 2 and 3 to 5, with states 10 and 20 and lengths 5
// and 2; row 0 is of none, and the last start is past the end.
// RUN: attn-run %s --function=packed --device=reference --input=1x1x6x1xf32=1 --input=1x1x6x1xf32=1,2,3,4,5,6 --input=2x1x1x1xf32=10,20 --input=2xi64=5,2 --input=3xi64=1,3,9 --expect=1x1x6x1xf32=0,12,15,24,29,29 --expect=2x1x1x1xf32=15,29
// RUN: attn-run %s --function=packed --device=cpu --input=1x1x6x1xf32=1 --input=1x1x6x1xf32=1,2,3,4,5,6 --input=2x1x1x1xf32=10,20 --input=2xi64=5,2 --input=3xi64=1,3,9 --expect=1x1x6x1xf32=0,12,15,24,29,29 --expect=2x1x1x1xf32=15,29
// A start that is less than the one before is that one: no rows.
// RUN: attn-run %s --function=packed --device=cpu --input=1x1x6x1xf32=1 --input=1x1x6x1xf32=1,2,3,4,5,6 --input=2x1x1x1xf32=10,20 --input=2xi64=5,2 --input=3xi64=4,3,6 --expect=1x1x6x1xf32=0,0,0,0,25,31 --expect=2x1x1x1xf32=10,31
// Starts without a sequence are refused with their number.
// RUN: not attn-run %s --function=packed --device=cpu --input=1x1x6x1xf32=1 --input=1x1x6x1xf32=1 --input=2x1x1x1xf32=10,20 --input=2xi64=5,2 --input=4xi64=4,3,6,6 2>&1 | FileCheck %s
// CHECK: 'attn.linear' op state: expected entries to be one fewer than

// Before token 1 both sums are 1; with the bonus 3 they are 1 + 3 5 and 1 + 3.
// RUN: attn-run %s --function=bonus --device=reference --input=1x1x2x1xf32=1 --input=1x1x2x1xf32=1,5 --input=1x1xf32=3 --expect=1x1x2x1xf32=1,4 --expect=1x1x2x1xf32=1,4
// RUN: attn-run %s --function=bonus --device=cpu --input=1x1x2x1xf32=1 --input=1x1x2x1xf32=1,5 --input=1x1xf32=3 --expect=1x1x2x1xf32=1,4 --expect=1x1x2x1xf32=1,4

// Features exp(w.k - |k|^2 / 2 - 4) + 1/4 of the keys 1, 0, 4, for queries 0.
// RUN: attn-run %s --function=eps --device=reference --input=1x1x3x1xf32=0 --input=1x1x3x1xf32=0.5,0,2 --input=1x1x3x1xf32=1,5,0 --input=1x1xf32=1 --expect=1x1x3x1xf32=2.0301416,2.0301416,2.0301416 --expect=1x1x3x1xf32=1,2.9566765,2.0301416
// RUN: attn-run %s --function=eps --device=cpu --input=1x1x3x1xf32=0 --input=1x1x3x1xf32=0.5,0,2 --input=1x1x3x1xf32=1,5,0 --input=1x1xf32=1 --expect=1x1x3x1xf32=2.0301416,2.0301416,2.0301416 --expect=1x1x3x1xf32=1,2.9566765,2.0301416
// RUN: attn-run %s --function=eps --device=cpu --favor=textbook --input=1x1x3x1xf32=0 --input=1x1x3x1xf32=0.5,0,2 --input=1x1x3x1xf32=1,5,0 --input=1x1xf32=1 --expect=1x1x3x1xf32=2.0301416,2.0301416,2.0301416 --expect=1x1x3x1xf32=1,2.9566765,2.0301416

// Angles of 30 degrees for M = 3, of 45 for the two rows.
// RUN: attn-run %s --function=cosformer --device=reference --input=1x1x2x1xf32=2,4 --input=index=3 --expect=1x1x2x2xf32=2,0,3.4641016,2 --expect=1x1x2x2xf32=2,0,2.8284271,2.8284271
// RUN: attn-run %s --function=cosformer --device=cpu --input=1x1x2x1xf32=2,4 --input=index=3 --expect=1x1x2x2xf32=2,0,3.4641016,2 --expect=1x1x2x2xf32=2,0,2.8284271,2.8284271

!rows = tensor<1x?x?x1xf32>

func.func @packed(%q: !rows, %v: !rows, %s0: tensor<?x?x1x1xf32>,
                  %n: tensor<?xi64>, %starts: tensor<?xi64>)
    -> (!rows, tensor<?x?x1x1xf32>) {
  %o, %s = attn.linear %q, %q, %v state(%s0 : tensor<?x?x1x1xf32>)
      lengths(%n : tensor<?xi64>) query_starts(%starts : tensor<?xi64>) causal
      : (!rows, !rows, !rows) -> (!rows, tensor<?x?x1x1xf32>)
  return %o, %s : !rows, tensor<?x?x1x1xf32>
}

func.func @bonus(%q: !rows, %v: !rows, %u: tensor<?x1xf32>) -> (!rows, !rows) {
  %o = attn.linear %q, %q, %v bonus(%u : tensor<?x1xf32>) normalize(token) causal
      : (!rows, !rows, !rows) -> !rows
  %p = attn.linear %q, %q, %v bonus(%u : tensor<?x1xf32>) normalize(feature) causal
      : (!rows, !rows, !rows) -> !rows
  return %o, %p : !rows, !rows
}

func.func @eps(%q: !rows, %k: !rows, %v: !rows, %w: tensor<1x1xf32>)
    -> (!rows, !rows) {
  %o = attn.favor %q, %k, %v, %w kind(positive) scale(4.0) eps(0.25)
      : (!rows, !rows, !rows, tensor<1x1xf32>) -> !rows
  %p = attn.favor %q, %k, %v, %w kind(positive) scale(4.0) eps(0.25) causal
      : (!rows, !rows, !rows, tensor<1x1xf32>) -> !rows
  return %o, %p : !rows, !rows
}

func.func @cosformer(%x: !rows, %m: index)
    -> (tensor<1x?x?x2xf32>, tensor<1x?x?x2xf32>) {
  %f = attn.feature_map %x feature(#attn.cosformer) length(%m : index)
      : !rows -> tensor<1x?x?x2xf32>
  %g = attn.feature_map %x feature(#attn.cosformer)
      : !rows -> tensor<1x?x?x2xf32>
  return %f, %g : tensor<1x?x?x2xf32>, tensor<1x?x?x2xf32>
}
