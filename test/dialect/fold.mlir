// RUN: attn-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @gqa_with_as_many_heads_is_softmax
// CHECK: attn.softmax %{{.*}}, %{{.*}}, %{{.*}} scale(2.000000e+00) align(top_left) mask(#attn.causal)
// CHECK-NOT: attn.gqa
func.func @gqa_with_as_many_heads_is_softmax(%q: tensor<1x4x5x8xf32>)
    -> (tensor<1x4x5x8xf32>, tensor<1x4x5xf32>) {
  %o, %lse = attn.gqa %q, %q, %q scale(2.0) align(top_left) mask(#attn.causal)
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>)
      -> (tensor<1x4x5x8xf32>, tensor<1x4x5xf32>)
  return %o, %lse : tensor<1x4x5x8xf32>, tensor<1x4x5xf32>
}

// The regions and every operand go along.
// CHECK-LABEL: func @gqa_to_softmax_keeps_all_clauses
// CHECK-SAME: %[[P:[^:]*]]: tensor<1xi64>, %[[N:[^:]*]]: tensor<1xi32>, %[[K0:[^:]*]]: index
// CHECK: attn.softmax {{.*}} softcap(3.000000e+01) offset(%[[P]] : tensor<1xi64>) lengths(%[[N]] : tensor<1xi32>) key_offset(%[[K0]] : index) score {
// CHECK: arith.negf
// CHECK: } keep {
// CHECK: arith.cmpi ne
// CHECK: } {test.note = "kept"} :
func.func @gqa_to_softmax_keeps_all_clauses(
    %p: tensor<1xi64>, %n: tensor<1xi32>, %k0: index, %q: tensor<1x4x5x8xf32>)
    -> tensor<1x4x5x8xf32> {
  %o = attn.gqa %q, %q, %q softcap(30.0) offset(%p : tensor<1xi64>)
      lengths(%n : tensor<1xi32>) key_offset(%k0 : index)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %t = arith.negf %s : f32
        attn.yield %t : f32
      }
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %kept = arith.cmpi ne, %i, %j : index
        attn.yield %kept : i1
      } {test.note = "kept"}
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>)
      -> tensor<1x4x5x8xf32>
  return %o : tensor<1x4x5x8xf32>
}

// CHECK-LABEL: func @gqa_stays_with_fewer_key_heads
// CHECK: attn.gqa
func.func @gqa_stays_with_fewer_key_heads(%q: tensor<1x4x5x8xf32>,
                                          %k: tensor<1x2x5x8xf32>)
    -> tensor<1x4x5x8xf32> {
  %o = attn.gqa %q, %k, %k
      : (tensor<1x4x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>)
      -> tensor<1x4x5x8xf32>
  return %o : tensor<1x4x5x8xf32>
}

// Two dynamic sizes may differ.
// CHECK-LABEL: func @gqa_stays_with_unknown_heads
// CHECK: attn.gqa
func.func @gqa_stays_with_unknown_heads(%q: tensor<1x?x5x8xf32>)
    -> tensor<1x?x5x8xf32> {
  %o = attn.gqa %q, %q, %q
      : (tensor<1x?x5x8xf32>, tensor<1x?x5x8xf32>, tensor<1x?x5x8xf32>)
      -> tensor<1x?x5x8xf32>
  return %o : tensor<1x?x5x8xf32>
}

// CHECK-LABEL: func @unused_lse_goes
// CHECK: %[[O:.*]] = attn.softmax {{.*}} -> tensor<1x4x5x8xf32>
// CHECK-NEXT: return %[[O]]
func.func @unused_lse_goes(%q: tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32> {
  %o, %lse = attn.softmax %q, %q, %q
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>)
      -> (tensor<1x4x5x8xf32>, tensor<1x4x5xf32>)
  return %o : tensor<1x4x5x8xf32>
}

// CHECK-LABEL: func @used_lse_stays
// CHECK: attn.softmax {{.*}} -> (tensor<1x4x5x8xf32>, tensor<1x4x5xf32>)
func.func @used_lse_stays(%q: tensor<1x4x5x8xf32>) -> tensor<1x4x5xf32> {
  %o, %lse = attn.softmax %q, %q, %q
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>)
      -> (tensor<1x4x5x8xf32>, tensor<1x4x5xf32>)
  return %lse : tensor<1x4x5xf32>
}

// CHECK-LABEL: func @unused_attention_goes
// CHECK-NOT: attn.softmax
// CHECK: return
func.func @unused_attention_goes(%q: tensor<1x4x5x8xf32>) {
  %o = attn.softmax %q, %q, %q
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>)
      -> tensor<1x4x5x8xf32>
  return
}

// Causal implies any right bound; the tightest left bound counts.
// CHECK-LABEL: func @masks_are_one_of_each
// CHECK: mask(#attn.causal, #attn.window<left = 4>) :
func.func @masks_are_one_of_each(%q: tensor<1x4x5x8xf32>)
    -> tensor<1x4x5x8xf32> {
  %o = attn.softmax %q, %q, %q align(top_left)
      mask(#attn.window<left = 8, right = 3>, #attn.causal,
           #attn.window<left = 4>, #attn.causal)
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>)
      -> tensor<1x4x5x8xf32>
  return %o : tensor<1x4x5x8xf32>
}

// CHECK-LABEL: func @windows_intersect
// CHECK: mask(#attn.window<left = 8, right = 2>) :
func.func @windows_intersect(%q: tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32> {
  %o = attn.softmax %q, %q, %q align(top_left)
      mask(#attn.window<left = 8>, #attn.window<right = 5>,
           #attn.window<left = 9, right = 2>)
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>)
      -> tensor<1x4x5x8xf32>
  return %o : tensor<1x4x5x8xf32>
}

// CHECK-LABEL: func @window_beside_causal_without_left_bound_goes
// CHECK: mask(#attn.causal) :
func.func @window_beside_causal_without_left_bound_goes(
    %q: tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32> {
  %o = attn.softmax %q, %q, %q align(top_left)
      mask(#attn.window<right = 3>, #attn.causal)
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>)
      -> tensor<1x4x5x8xf32>
  return %o : tensor<1x4x5x8xf32>
}

// What masks nothing goes, and with it the alignment that nothing needs.
// CHECK-LABEL: func @clauses_without_effect_go
// CHECK: attn.softmax %{{.*}}, %{{.*}}, %{{.*}} : (
func.func @clauses_without_effect_go(%q: tensor<1x4x5x8xf32>)
    -> tensor<1x4x5x8xf32> {
  %o = attn.softmax %q, %q, %q align(bottom_right) mask(#attn.window<>)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        attn.yield %s : f32
      }
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %true = arith.constant true
        attn.yield %true : i1
      }
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>)
      -> tensor<1x4x5x8xf32>
  return %o : tensor<1x4x5x8xf32>
}

// An alignment is kept while a region reads positions.
// CHECK-LABEL: func @alignment_stays_where_positions_matter
// CHECK: attn.softmax {{.*}} align(bottom_right) keep {
func.func @alignment_stays_where_positions_matter(%q: tensor<1x4x5x8xf32>)
    -> tensor<1x4x5x8xf32> {
  %o = attn.softmax %q, %q, %q align(bottom_right)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %kept = arith.cmpi ne, %i, %j : index
        attn.yield %kept : i1
      }
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>)
      -> tensor<1x4x5x8xf32>
  return %o : tensor<1x4x5x8xf32>
}

// A keep region that is never true masks every key: it must not go.
// CHECK-LABEL: func @never_true_stays
// CHECK: %[[FALSE:.*]] = arith.constant false
// CHECK: attn.softmax {{.*}} keep {
// CHECK: attn.yield %[[FALSE]] : i1
func.func @never_true_stays(%q: tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32> {
  %o = attn.softmax %q, %q, %q
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %false = arith.constant false
        attn.yield %false : i1
      }
      : (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>)
      -> tensor<1x4x5x8xf32>
  return %o : tensor<1x4x5x8xf32>
}
