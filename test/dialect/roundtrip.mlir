// RUN: attn-opt %s | FileCheck %s
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK-LABEL: func @plain
// CHECK: attn.softmax %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x32xbf16>) -> tensor<?x8x?x32xbf16>
func.func @plain(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>,
                 %v: tensor<?x8x?x32xbf16>) -> tensor<?x8x?x32xbf16> {
  %o = attn.softmax %q, %k, %v
      : (tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x32xbf16>)
      -> tensor<?x8x?x32xbf16>
  return %o : tensor<?x8x?x32xbf16>
}

// CHECK-LABEL: func @grouped_heads_with_lse
// CHECK: %{{.*}}, %{{.*}} = attn.gqa %{{.*}}, %{{.*}}, %{{.*}} align(bottom_right) mask(#attn.causal, #attn.window<left = 4095>) : (tensor<?x32x?x128xbf16>, tensor<?x8x?x128xbf16>, tensor<?x8x?x128xbf16>) -> (tensor<?x32x?x128xbf16>, tensor<?x32x?xf32>)
func.func @grouped_heads_with_lse(
    %q: tensor<?x32x?x128xbf16>, %k: tensor<?x8x?x128xbf16>,
    %v: tensor<?x8x?x128xbf16>)
    -> (tensor<?x32x?x128xbf16>, tensor<?x32x?xf32>) {
  %o, %lse = attn.gqa %q, %k, %v align(bottom_right)
      mask(#attn.causal, #attn.window<left = 4095>)
      : (tensor<?x32x?x128xbf16>, tensor<?x8x?x128xbf16>,
         tensor<?x8x?x128xbf16>)
      -> (tensor<?x32x?x128xbf16>, tensor<?x32x?xf32>)
  return %o, %lse : tensor<?x32x?x128xbf16>, tensor<?x32x?xf32>
}

// Logits and LSE of f64 are f64; those of f16 are f32.
// CHECK-LABEL: func @double_and_half
// CHECK: attn.softmax {{.*}} softcap(1.000000e+100) score {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f64, %{{.*}}: index, %[[H:.*]]: index, %{{.*}}: index, %{{.*}}: index):
// CHECK:   %[[X:.*]] = tensor.extract %{{.*}}[%[[H]]] : tensor<?xf16>
// CHECK:   arith.extf %[[X]] : f16 to f64
// CHECK:   arith.truncf %[[S]] : f64 to f32
// CHECK:   attn.yield %{{.*}} : f64
// CHECK: (tensor<1x2x?x8xf64>, tensor<1x2x?x8xf64>, tensor<1x2x?x8xf64>) -> (tensor<1x2x?x8xf64>, tensor<1x2x?xf64>)
// CHECK: attn.gqa {{.*}} : (tensor<1x2x?x8xf16>, tensor<1x2x?x8xf16>, tensor<1x2x?x8xf16>) -> (tensor<1x2x?x8xf16>, tensor<1x2x?xf32>)
func.func @double_and_half(%q: tensor<1x2x?x8xf64>, %h: tensor<1x2x?x8xf16>,
                           %x: tensor<?xf16>)
    -> (tensor<1x2x?x8xf64>, tensor<1x2x?xf64>, tensor<1x2x?x8xf16>,
        tensor<1x2x?xf32>) {
  %0:2 = attn.softmax %q, %q, %q softcap(1.0e100)
      score {
      ^bb0(%s: f64, %b: index, %head: index, %i: index, %j: index):
        %read = tensor.extract %x[%head] : tensor<?xf16>
        %bias = arith.extf %read : f16 to f64
        %short = arith.truncf %s : f64 to f32
        %long = arith.extf %short : f32 to f64
        %t = arith.addf %long, %bias : f64
        attn.yield %t : f64
      }
      : (tensor<1x2x?x8xf64>, tensor<1x2x?x8xf64>, tensor<1x2x?x8xf64>)
      -> (tensor<1x2x?x8xf64>, tensor<1x2x?xf64>)
  %1:2 = attn.gqa %h, %h, %h
      : (tensor<1x2x?x8xf16>, tensor<1x2x?x8xf16>, tensor<1x2x?x8xf16>)
      -> (tensor<1x2x?x8xf16>, tensor<1x2x?xf32>)
  return %0#0, %0#1, %1#0, %1#1 : tensor<1x2x?x8xf64>, tensor<1x2x?xf64>,
      tensor<1x2x?x8xf16>, tensor<1x2x?xf32>
}

// Clauses with operands that act on logits, and numbers as values.
// CHECK-LABEL: func @clauses_on_logits
// CHECK: attn.gqa %{{.*}}, %{{.*}}, %{{.*}} scale(%{{.*}} : f32) softcap(%{{.*}} : f32) align(top_left) mask(#attn.prefix) prefix(%{{.*}} : tensor<2xi64>) alibi(%{{.*}} : tensor<4xf32>) bias(%{{.*}} : tensor<4x1x7xbf16>) select(%{{.*}} : tensor<2x1x5x1xi1>) sinks(%{{.*}} : tensor<4xbf16>) : (
func.func @clauses_on_logits(
    %s: f32, %n: tensor<2xi64>, %slopes: tensor<4xf32>,
    %bias: tensor<4x1x7xbf16>, %mask: tensor<2x1x5x1xi1>,
    %sinks: tensor<4xbf16>, %q: tensor<2x4x5x8xbf16>,
    %k: tensor<2x2x7x8xbf16>) -> tensor<2x4x5x8xbf16> {
  %o = attn.gqa %q, %k, %k scale(%s : f32) softcap(%s : f32) align(top_left)
      mask(#attn.prefix) prefix(%n : tensor<2xi64>)
      alibi(%slopes : tensor<4xf32>) bias(%bias : tensor<4x1x7xbf16>)
      select(%mask : tensor<2x1x5x1xi1>) sinks(%sinks : tensor<4xbf16>)
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x8xbf16>)
      -> tensor<2x4x5x8xbf16>
  return %o : tensor<2x4x5x8xbf16>
}

// Packed sequences.
// CHECK-LABEL: func @packed
// CHECK: attn.gqa %{{.*}}, %{{.*}}, %{{.*}} align(bottom_right) mask(#attn.causal) sinks(%{{.*}} : tensor<4xf32>) query_starts(%{{.*}} : tensor<?xi32>) key_starts(%{{.*}} : tensor<?xi64>) : (
func.func @packed(%qs: tensor<?xi32>, %ks: tensor<?xi64>, %s: tensor<4xf32>,
                  %q: tensor<1x4x?x8xf32>, %k: tensor<1x2x?x8xf32>)
    -> tensor<1x4x?x8xf32> {
  %o = attn.gqa %q, %k, %k align(bottom_right) mask(#attn.causal)
      sinks(%s : tensor<4xf32>) query_starts(%qs : tensor<?xi32>)
      key_starts(%ks : tensor<?xi64>)
      : (tensor<1x4x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>)
      -> tensor<1x4x?x8xf32>
  return %o : tensor<1x4x?x8xf32>
}

// Packed sequences with padding behind them, one length for all, and a table of
// random blocks.
// CHECK-LABEL: func @lengths_and_tables
// CHECK: attn.gqa %{{.*}}, %{{.*}}, %{{.*}} align(bottom_right) mask(#attn.bigbird<block = 64, window = 1, global = 1, last = 1>) random_blocks(%{{.*}} : tensor<4x?x3xi32>) lengths(%{{.*}} : tensor<?xi32>) query_starts(%{{.*}} : tensor<?xi32>) key_starts(%{{.*}} : tensor<?xi32>) : (
// CHECK: attn.gqa %{{.*}}, %{{.*}}, %{{.*}} align(top_left) mask(#attn.bigbird<block = 2, window = 0, global = 0, random = 3, blocks = 8, seed = 9>) lengths(%{{.*}} : index) : (
func.func @lengths_and_tables(%s: tensor<?xi32>, %n: index,
                              %t: tensor<4x?x3xi32>, %q: tensor<1x4x?x8xf32>,
                              %k: tensor<1x2x?x8xf32>)
    -> (tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>) {
  %o = attn.gqa %q, %k, %k lengths(%s : tensor<?xi32>) align(bottom_right)
      mask(#attn.bigbird<last = 1, block = 64, window = 1, global = 1>)
      random_blocks(%t : tensor<4x?x3xi32>) query_starts(%s : tensor<?xi32>)
      key_starts(%s : tensor<?xi32>)
      : (tensor<1x4x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>)
      -> tensor<1x4x?x8xf32>
  %p = attn.gqa %q, %k, %k lengths(%n : index) align(top_left)
      mask(#attn.bigbird<block = 2, window = 0, global = 0, last = 0,
                         random = 3, blocks = 8, seed = 9>)
      : (tensor<1x4x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>)
      -> tensor<1x4x?x8xf32>
  return %o, %p : tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>
}

// Results that leave known sizes open.
// CHECK-LABEL: func @open_results
// CHECK: attn.softmax {{.*}} -> (tensor<?x2x?x4xf32>, tensor<?x?x?xf32>)
// CHECK: attn.merge {{.*}} -> (tensor<?x?x?x?xf32>, tensor<1x?x3xf32>)
func.func @open_results(%q: tensor<1x2x3x4xf32>, %l: tensor<1x2x3xf32>)
    -> tensor<?x?x?x?xf32> {
  %o, %lse = attn.softmax %q, %q, %q
      : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>)
      -> (tensor<?x2x?x4xf32>, tensor<?x?x?xf32>)
  %r, %s = attn.merge %q, %l, %q, %l
      : (tensor<1x2x3x4xf32>, tensor<1x2x3xf32>, tensor<1x2x3x4xf32>,
         tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<1x?x3xf32>)
  return %r : tensor<?x?x?x?xf32>
}

// Every clause in its place.
// CHECK-LABEL: func @all_clauses
// CHECK-SAME: %[[P:[^:]*]]: tensor<2xi32>, %[[N:[^:]*]]: tensor<2xi64>, %[[K0:[^:]*]]: index, %[[T:[^:]*]]: tensor<?xf32>
// CHECK: attn.softmax %{{.*}}, %{{.*}}, %{{.*}} scale(1.250000e-01) softcap(3.000000e+01) offset(%[[P]] : tensor<2xi32>) mask(#attn.window<left = 3, right = 0>, #attn.window<right = 7>) lengths(%[[N]] : tensor<2xi64>) key_offset(%[[K0]] : index) score {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %{{.*}}: index, %[[H:.*]]: index, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT:   %[[X:.*]] = tensor.extract %[[T]][%[[H]]] : tensor<?xf32>
// CHECK-NEXT:   %[[Y:.*]] = arith.addf %[[S]], %[[X]] : f32
// CHECK-NEXT:   attn.yield %[[Y]] : f32
// CHECK-NEXT: } keep {
// CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:   %[[KEPT:.*]] = arith.cmpi ne, %[[I]], %[[J]] : index
// CHECK-NEXT:   attn.yield %[[KEPT]] : i1
// CHECK-NEXT: } {test.note = "kept"} : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x8xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5xf32>)
func.func @all_clauses(%p: tensor<2xi32>, %n: tensor<2xi64>, %k0: index,
                       %t: tensor<?xf32>, %q: tensor<2x4x5x8xf32>,
                       %k: tensor<2x4x7x8xf32>)
    -> (tensor<2x4x5x8xf32>, tensor<2x4x5xf32>) {
  %o, %lse = attn.softmax %q, %k, %k scale(0.125) softcap(30.0)
      offset(%p : tensor<2xi32>)
      mask(#attn.window<right = 0, left = 3>, #attn.window<right = 7>)
      lengths(%n : tensor<2xi64>) key_offset(%k0 : index)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %x = tensor.extract %t[%h] : tensor<?xf32>
        %y = arith.addf %s, %x : f32
        attn.yield %y : f32
      }
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %kept = arith.cmpi ne, %i, %j : index
        attn.yield %kept : i1
      }
      {test.note = "kept"}
      : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x8xf32>)
      -> (tensor<2x4x5x8xf32>, tensor<2x4x5xf32>)
  return %o, %lse : tensor<2x4x5x8xf32>, tensor<2x4x5xf32>
}

// CHECK-LABEL: func @one_offset_for_all
// CHECK: attn.softmax {{.*}} offset(%{{.*}} : index) mask(#attn.causal) :
func.func @one_offset_for_all(%p: index, %q: tensor<1x1x4x8xf32>)
    -> tensor<1x1x4x8xf32> {
  %o = attn.softmax %q, %q, %q offset(%p : index) mask(#attn.causal)
      : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      -> tensor<1x1x4x8xf32>
  return %o : tensor<1x1x4x8xf32>
}

// No bound at all is spelt with empty brackets.
// CHECK-LABEL: func @unbounded_window
// CHECK: attn.softmax {{.*}} align(top_left) mask(#attn.window<>) :
func.func @unbounded_window(%q: tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32> {
  %o = attn.softmax %q, %q, %q align(top_left) mask(#attn.window<>)
      : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      -> tensor<1x1x4x8xf32>
  return %o : tensor<1x1x4x8xf32>
}

// Empty in every way that is allowed: B, H, Sq, Skv and Dv.
// CHECK-LABEL: func @empty_sizes
// CHECK-COUNT-5: attn.gqa
func.func @empty_sizes(%b: tensor<0x2x3x4xf32>, %h: tensor<1x0x3x4xf32>,
                       %s: tensor<1x2x0x4xf32>, %q: tensor<1x2x3x4xf32>,
                       %v: tensor<1x2x3x0xf32>) {
  %0 = attn.gqa %b, %b, %b
      : (tensor<0x2x3x4xf32>, tensor<0x2x3x4xf32>, tensor<0x2x3x4xf32>)
      -> tensor<0x2x3x4xf32>
  %1 = attn.gqa %h, %h, %h
      : (tensor<1x0x3x4xf32>, tensor<1x0x3x4xf32>, tensor<1x0x3x4xf32>)
      -> tensor<1x0x3x4xf32>
  %2 = attn.gqa %s, %q, %q
      : (tensor<1x2x0x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>)
      -> tensor<1x2x0x4xf32>
  %3 = attn.gqa %q, %s, %s
      : (tensor<1x2x3x4xf32>, tensor<1x2x0x4xf32>, tensor<1x2x0x4xf32>)
      -> tensor<1x2x3x4xf32>
  %4 = attn.gqa %q, %q, %v
      : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x0xf32>)
      -> tensor<1x2x3x0xf32>
  return
}
