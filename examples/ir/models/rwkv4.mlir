// RWKV-4 (Peng et al. 2023, "RWKV: Reinventing RNNs for the Transformer Era",
// section 3.1.2, the WKV operator). Each channel c is an average of values with
// the weights exp(k), which fade by a rate w of the channel; the token itself
// has a bonus u in place of it:
//
//   o_t = (sum_{j < t} e^(-(t-1-j) w + k_j) v_j + e^(u + k_t) v_t)
//       / (sum_{j < t} e^(-(t-1-j) w + k_j) + e^(u + k_t))
//
//   K, V, O  B x C x T x 1, a head per channel
//   W, U     C, W > 0
//   S0, S    B x C x 1 x 2: both sums, of the calls before and after this one
//
// As linear attention a channel is a head with one feature, whose query is 1,
// whose key is e^k, and whose divisor has the bonus as the sum above it has.

// RUN: attn-opt %s --attn-to-rewrite=target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --check --input='2x24x77x1xf32=normal(0,1)' \
// RUN:   --input='2x24x77x1xf32=normal(0,1)' --input='24xf32=normal(1,0.2)' \
// RUN:   --input='24xf32=normal(0,1)' --input='2x24x1x2xf32=normal(1,0.1)'

// CHECK: attn.linear {{.*}} bonus(%{{.*}} : tensor<?x1xf32>) {{.*}} normalize(token) causal

!rows = tensor<?x?x?x1xf32>
!channels = tensor<?xf32>
!states = tensor<?x?x1x2xf32>

func.func @main(%k: !rows, %v: !rows, %w: !channels, %u: !channels,
                %s0: !states) -> (!rows, !states) {
  %key = attn.feature_map %k map {
    ^bb0(%x: f32):
      %exp = math.exp %x : f32
      attn.yield %exp : f32
    } : !rows -> !rows
  %query = attn.feature_map %k map {
    ^bb0(%x: f32):
      %one = arith.constant 1.0 : f32
      attn.yield %one : f32
    } : !rows -> !rows

  %c0 = arith.constant 0 : index
  %channels = tensor.dim %w, %c0 : !channels
  %empty = tensor.empty(%channels) : !channels
  %decay = linalg.generic {
      indexing_maps = [affine_map<(c) -> (c)>, affine_map<(c) -> (c)>],
      iterator_types = ["parallel"]}
      ins(%w : !channels) outs(%empty : !channels) {
    ^bb0(%x: f32, %out: f32):
      %log = arith.negf %x : f32
      linalg.yield %log : f32
    } -> !channels
  %bonuses = tensor.empty(%channels) : tensor<?x1xf32>
  %bonus = linalg.generic {
      indexing_maps = [affine_map<(c, d) -> (c)>, affine_map<(c, d) -> (c, d)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%u : !channels) outs(%bonuses : tensor<?x1xf32>) {
    ^bb0(%x: f32, %out: f32):
      %exp = math.exp %x : f32
      linalg.yield %exp : f32
    } -> tensor<?x1xf32>

  %o, %s = attn.linear %query, %key, %v decay(%decay : !channels)
      bonus(%bonus : tensor<?x1xf32>) state(%s0 : !states)
      normalize(token) causal : (!rows, !rows, !rows) -> (!rows, !states)
  return %o, %s : !rows, !states
}
