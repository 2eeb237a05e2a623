// RUN: attn-opt %s | attn-opt | FileCheck %s

// CHECK-LABEL: @every_clause
// CHECK: attn.linear %{{.*}}, %{{.*}}, %{{.*}} scale(5.000000e-01) decay(%{{.*}} : tensor<1x8x?xf32>) beta(%{{.*}} : tensor<1x8x?xf32>) state(%{{.*}} : tensor<1x8x64x65xf32>) lengths(%{{.*}} : tensor<1xi64>) feature(#attn.elu1) normalize(token) causal : (tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>) -> (tensor<1x8x?x64xf32>, tensor<1x8x64x65xf32>)
func.func @every_clause(%q: tensor<1x8x?x64xf32>, %g: tensor<1x8x?xf32>, %s: tensor<1x8x64x65xf32>, %n: tensor<1xi64>) -> (tensor<1x8x?x64xf32>, tensor<1x8x64x65xf32>) {
  %o, %s1 = attn.linear %q, %q, %q scale(0.5) decay(%g : tensor<1x8x?xf32>) beta(%g : tensor<1x8x?xf32>) state(%s : tensor<1x8x64x65xf32>) lengths(%n : tensor<1xi64>) feature(#attn.elu1) normalize(token) causal : (tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>) -> (tensor<1x8x?x64xf32>, tensor<1x8x64x65xf32>)
  return %o, %s1 : tensor<1x8x?x64xf32>, tensor<1x8x64x65xf32>
}

// CHECK-LABEL: @transition_and_bonus
// CHECK: transition(%{{.*}}, %{{.*}} : tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>) bonus(%{{.*}} : tensor<4x8xf32>) causal
func.func @transition_and_bonus(%q: tensor<?x4x?x8xf32>, %v: tensor<?x4x?x16xf32>, %u: tensor<4x8xf32>) -> tensor<?x4x?x16xf32> {
  %o = attn.linear %q, %q, %v transition(%q, %q : tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>) bonus(%u : tensor<4x8xf32>) causal : (tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>, tensor<?x4x?x16xf32>) -> tensor<?x4x?x16xf32>
  return %o : tensor<?x4x?x16xf32>
}

// Query heads that share a key head, value heads that share a key head.
// CHECK-LABEL: @grouped_heads
// CHECK: feature(#attn.softmax_features, #attn.softmax_positions) :
// CHECK: block(128) causal :
func.func @grouped_heads(%q: tensor<2x6x5x8xbf16>, %k: tensor<2x3x5x8xbf16>, %v: tensor<2x3x5x4xbf16>, %w: tensor<2x12x5x4xbf16>) -> (tensor<2x6x5x4xbf16>, tensor<2x12x5x4xbf16>) {
  %o = attn.linear %q, %k, %v feature(#attn.softmax_features, #attn.softmax_positions) : (tensor<2x6x5x8xbf16>, tensor<2x3x5x8xbf16>, tensor<2x3x5x4xbf16>) -> tensor<2x6x5x4xbf16>
  %p = attn.linear %q, %q, %w block(128) causal : (tensor<2x6x5x8xbf16>, tensor<2x6x5x8xbf16>, tensor<2x12x5x4xbf16>) -> tensor<2x12x5x4xbf16>
  return %o, %p : tensor<2x6x5x4xbf16>, tensor<2x12x5x4xbf16>
}

// CHECK-LABEL: @features
// CHECK: attn.feature_map %{{.*}} feature(#attn.positive) projection(%{{.*}} : tensor<32x8xf32>) scale(5.000000e-01) log : tensor<1x2x?x8xf32> -> tensor<1x2x?x32xf32>
// CHECK: attn.feature_map %{{.*}} feature(#attn.cosformer<length = 64>) offset(%{{.*}} : index) : tensor<1x2x?x8xf32> -> tensor<1x2x?x16xf32>
// CHECK: attn.feature_map %{{.*}} feature(#attn.taylor2) : tensor<1x2x?x8xf32> -> tensor<1x2x?x45xf32>
// CHECK: attn.feature_map %{{.*}} feature(#attn.relu<eps = 1.000000e-03 : f64>) :
// CHECK: attn.feature_map %{{.*}} map {
func.func @features(%x: tensor<1x2x?x8xf32>, %w: tensor<32x8xf32>, %p: index) -> tensor<1x2x?x8xf32> {
  %0 = attn.feature_map %x feature(#attn.positive) projection(%w : tensor<32x8xf32>) scale(0.5) log : tensor<1x2x?x8xf32> -> tensor<1x2x?x32xf32>
  %1 = attn.feature_map %x feature(#attn.cosformer<length = 64>) offset(%p : index) : tensor<1x2x?x8xf32> -> tensor<1x2x?x16xf32>
  %2 = attn.feature_map %x feature(#attn.taylor2) : tensor<1x2x?x8xf32> -> tensor<1x2x?x45xf32>
  %3 = attn.feature_map %x feature(#attn.relu<eps = 1.0e-3>) : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  %4 = attn.feature_map %x map {
  ^bb0(%e: f32):
    %t = math.tanh %e : f32
    attn.yield %t : f32
  } : tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return %4 : tensor<1x2x?x8xf32>
}

// CHECK-LABEL: @favor
// CHECK: attn.random_features seed(7) orthogonal norms(sqrt_d) : tensor<32x8xf32>
// CHECK: attn.favor %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} kind(relu) scale(5.000000e-01) eps(1.000000e-03) lengths(%{{.*}} : tensor<1xi64>) causal : (tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<32x8xf32>) -> tensor<1x2x?x8xf32>
func.func @favor(%q: tensor<1x2x?x8xf32>, %n: tensor<1xi64>) -> tensor<1x2x?x8xf32> {
  %w = attn.random_features seed(7) orthogonal norms(sqrt_d) : tensor<32x8xf32>
  %o = attn.favor %q, %q, %q, %w kind(relu) scale(0.5) eps(1.0e-3) lengths(%n : tensor<1xi64>) causal : (tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<32x8xf32>) -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// Packed sequences, and M of cosFormer from the call.
// CHECK-LABEL: @packed
// CHECK: attn.linear %{{.*}}, %{{.*}}, %{{.*}} bonus(%{{.*}} : tensor<2x16xf32>) state(%{{.*}} : tensor<3x2x16x9xf32>) lengths(%{{.*}} : tensor<3xi64>) query_starts(%{{.*}} : tensor<4xi64>) feature(#attn.cosformer) normalize(token) causal : {{.*}} -> (tensor<1x2x?x8xf32>, tensor<3x2x16x9xf32>)
// CHECK: attn.linear %{{.*}}, %{{.*}}, %{{.*}} query_starts(%{{.*}} : tensor<4xi64>) key_starts(%{{.*}} : tensor<4xi64>) :
// CHECK: attn.feature_map %{{.*}} feature(#attn.cosformer) length(%{{.*}} : index) :
func.func @packed(%q: tensor<1x2x?x8xf32>, %u: tensor<2x16xf32>, %s0: tensor<3x2x16x9xf32>, %n: tensor<3xi64>, %s: tensor<4xi64>, %m: index) -> (tensor<1x2x?x8xf32>, tensor<3x2x16x9xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x16xf32>) {
  %o, %s1 = attn.linear %q, %q, %q bonus(%u : tensor<2x16xf32>) state(%s0 : tensor<3x2x16x9xf32>) lengths(%n : tensor<3xi64>) query_starts(%s : tensor<4xi64>) feature(#attn.cosformer) normalize(token) causal : (tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) -> (tensor<1x2x?x8xf32>, tensor<3x2x16x9xf32>)
  %p = attn.linear %q, %q, %q query_starts(%s : tensor<4xi64>) key_starts(%s : tensor<4xi64>) : (tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
  %f = attn.feature_map %q feature(#attn.cosformer) length(%m : index) : tensor<1x2x?x8xf32> -> tensor<1x2x?x16xf32>
  return %o, %s1, %p, %f : tensor<1x2x?x8xf32>, tensor<3x2x16x9xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x16xf32>
}
