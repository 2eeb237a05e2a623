// RUN: attn-opt %s --split-input-file --verify-diagnostics

func.func @scale_of_a_packed_query(
    %q: memref<64x48xf32>, %k: memref<?x64xf32>, %v: memref<?x32xf32>,
    %acc: memref<32x48xf32>, %max: memref<48xf32>, %sum: memref<48xf32>,
    %x: index, %scale: f32) {
  // expected-error @below {{'attn.online_softmax' op scale: expected none with a query packed in 'f32'}}
  attn.online_softmax
      ins(%q, %k, %v : memref<64x48xf32>, memref<?x64xf32>, memref<?x32xf32>)
      outs(%acc, %max, %sum : memref<32x48xf32>, memref<48xf32>, memref<48xf32>)
      at(%x, %x, %x, %x) key_tile(64) scale(%scale)
  return
}

// -----

func.func @no_scale_of_an_unpacked_query(
    %q: memref<1x?x64xf32>, %k: memref<?x64xf32>, %v: memref<?x32xf32>,
    %acc: memref<32x48xf32>, %max: memref<48xf32>, %sum: memref<48xf32>,
    %x: index) {
  // expected-error @below {{'attn.online_softmax' op scale: expected one with a query not packed in 'f32'}}
  attn.online_softmax
      ins(%q, %k, %v : memref<1x?x64xf32>, memref<?x64xf32>, memref<?x32xf32>)
      outs(%acc, %max, %sum : memref<32x48xf32>, memref<48xf32>, memref<48xf32>)
      at(%x, %x, %x, %x) key_tile(64)
  return
}

// -----

func.func @softcap_beyond_f32(
    %q: memref<64x48xf32>, %k: memref<?x64xf32>, %v: memref<?x32xf32>,
    %acc: memref<32x48xf32>, %max: memref<48xf32>, %sum: memref<48xf32>,
    %x: index) {
  // expected-error @below {{'attn.online_softmax' op softcap: expected a number > 0 that is normal in f32 with its reciprocal, got 1.000000e+300}}
  attn.online_softmax
      ins(%q, %k, %v : memref<64x48xf32>, memref<?x64xf32>, memref<?x32xf32>)
      outs(%acc, %max, %sum : memref<32x48xf32>, memref<48xf32>, memref<48xf32>)
      at(%x, %x, %x, %x) key_tile(64) softcap(1.0e300)
  return
}

// -----

func.func @columns_of_a_packed_query(
    %q: memref<64x32xf32>, %k: memref<?x64xf32>, %v: memref<?x32xf32>,
    %acc: memref<32x48xf32>, %max: memref<48xf32>, %sum: memref<48xf32>,
    %x: index) {
  // expected-error @below {{'attn.online_softmax' op query: expected 48 packed columns (from max), got 32}}
  attn.online_softmax
      ins(%q, %k, %v : memref<64x32xf32>, memref<?x64xf32>, memref<?x32xf32>)
      outs(%acc, %max, %sum : memref<32x48xf32>, memref<48xf32>, memref<48xf32>)
      at(%x, %x, %x, %x) key_tile(64)
  return
}

// -----

func.func @rank_of_the_query(
    %q: memref<64xf32>, %k: memref<?x64xf32>, %v: memref<?x32xf32>,
    %acc: memref<32x48xf32>, %max: memref<48xf32>, %sum: memref<48xf32>,
    %x: index) {
  // expected-error @below {{'attn.online_softmax' op query: expected rank 3 (heads x rows x head dim) or 2 (packed), got rank 1}}
  attn.online_softmax
      ins(%q, %k, %v : memref<64xf32>, memref<?x64xf32>, memref<?x32xf32>)
      outs(%acc, %max, %sum : memref<32x48xf32>, memref<48xf32>, memref<48xf32>)
      at(%x, %x, %x, %x) key_tile(64)
  return
}

// -----

func.func @rank_of_the_keys(
    %q: memref<64x48xf32>, %k: memref<1x?x64xf32>, %v: memref<?x32xf32>,
    %acc: memref<32x48xf32>, %max: memref<48xf32>, %sum: memref<48xf32>,
    %x: index) {
  // expected-error @below {{'attn.online_softmax' op key: expected rank 2, got 3}}
  attn.online_softmax
      ins(%q, %k, %v : memref<64x48xf32>, memref<1x?x64xf32>, memref<?x32xf32>)
      outs(%acc, %max, %sum : memref<32x48xf32>, memref<48xf32>, memref<48xf32>)
      at(%x, %x, %x, %x) key_tile(64)
  return
}

// -----

func.func @rows_of_the_state(
    %q: memref<64x48xf32>, %k: memref<?x64xf32>, %v: memref<?x32xf32>,
    %acc: memref<32x48xf32>, %max: memref<48xf32>, %sum: memref<24xf32>,
    %x: index) {
  // expected-error @below {{'attn.online_softmax' op sum: expected 48 rows (from max), got 24}}
  attn.online_softmax
      ins(%q, %k, %v : memref<64x48xf32>, memref<?x64xf32>, memref<?x32xf32>)
      outs(%acc, %max, %sum : memref<32x48xf32>, memref<48xf32>, memref<24xf32>)
      at(%x, %x, %x, %x) key_tile(64)
  return
}

// -----

func.func @type_of_the_state(
    %q: memref<64x48xf32>, %k: memref<?x64xf32>, %v: memref<?x32xf32>,
    %acc: memref<32x48xbf16>, %max: memref<48xf32>, %sum: memref<48xf32>,
    %x: index) {
  // expected-error @below {{'attn.online_softmax' op acc: expected f32 or f64, got 'bf16'}}
  attn.online_softmax
      ins(%q, %k, %v : memref<64x48xf32>, memref<?x64xf32>, memref<?x32xf32>)
      outs(%acc, %max, %sum
          : memref<32x48xbf16>, memref<48xf32>, memref<48xf32>)
      at(%x, %x, %x, %x) key_tile(64)
  return
}

// -----

func.func @dynamic_rows(
    %q: memref<64x48xf32>, %k: memref<?x64xf32>, %v: memref<?x32xf32>,
    %acc: memref<32x?xf32>, %max: memref<?xf32>, %sum: memref<?xf32>,
    %x: index) {
  // expected-error @below {{'attn.online_softmax' op max: expected a static number of rows}}
  attn.online_softmax
      ins(%q, %k, %v : memref<64x48xf32>, memref<?x64xf32>, memref<?x32xf32>)
      outs(%acc, %max, %sum : memref<32x?xf32>, memref<?xf32>, memref<?xf32>)
      at(%x, %x, %x, %x) key_tile(64)
  return
}

// -----

func.func @empty_key_tile(
    %q: memref<64x48xf32>, %k: memref<?x64xf32>, %v: memref<?x32xf32>,
    %acc: memref<32x48xf32>, %max: memref<48xf32>, %sum: memref<48xf32>,
    %x: index) {
  // expected-error @below {{'attn.online_softmax' op key_tile: expected at least 1, got 0}}
  attn.online_softmax
      ins(%q, %k, %v : memref<64x48xf32>, memref<?x64xf32>, memref<?x32xf32>)
      outs(%acc, %max, %sum : memref<32x48xf32>, memref<48xf32>, memref<48xf32>)
      at(%x, %x, %x, %x) key_tile(0)
  return
}

// -----

func.func @masked_without_keep(
    %q: memref<64x48xf32>, %k: memref<?x64xf32>, %v: memref<?x32xf32>,
    %acc: memref<32x48xf32>, %max: memref<48xf32>, %sum: memref<48xf32>,
    %x: index, %m: i1) {
  // expected-error @below {{'attn.online_softmax' op masked: expected none without a keep region}}
  attn.online_softmax
      ins(%q, %k, %v : memref<64x48xf32>, memref<?x64xf32>, memref<?x32xf32>)
      outs(%acc, %max, %sum : memref<32x48xf32>, memref<48xf32>, memref<48xf32>)
      at(%x, %x, %x, %x) key_tile(64) masked(%m)
  return
}

// -----

func.func @keep_without_masked(
    %q: memref<64x48xf32>, %k: memref<?x64xf32>, %v: memref<?x32xf32>,
    %acc: memref<32x48xf32>, %max: memref<48xf32>, %sum: memref<48xf32>,
    %x: index) {
  // expected-error @below {{'attn.online_softmax' op masked: expected one with a keep region}}
  attn.online_softmax
      ins(%q, %k, %v : memref<64x48xf32>, memref<?x64xf32>, memref<?x32xf32>)
      outs(%acc, %max, %sum : memref<32x48xf32>, memref<48xf32>, memref<48xf32>)
      at(%x, %x, %x, %x) key_tile(64)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %kept = arith.cmpi sle, %j, %i : index
        attn.yield %kept : i1
      }
  return
}

// -----

func.func @results_on_buffers(
    %q: memref<1x?x64xf32>, %packed: memref<64x48xf32>, %scale: f32) {
  // expected-error @below {{'attn.pack_query' op results: expected (), got ('tensor<64x48xf32>')}}
  %r = attn.pack_query ins(%q : memref<1x?x64xf32>)
      outs(%packed : memref<64x48xf32>) scale(%scale) -> tensor<64x48xf32>
  return
}

// -----

func.func @rank_of_the_output(
    %acc: memref<32x48xf32>, %max: memref<48xf32>, %sum: memref<48xf32>,
    %o: memref<?x32xf32>) {
  // expected-error @below {{'attn.online_finish' op output: expected rank 3, got 2}}
  attn.online_finish
      ins(%acc, %max, %sum : memref<32x48xf32>, memref<48xf32>, memref<48xf32>)
      outs(%o : memref<?x32xf32>)
  return
}

// -----

func.func @rank_of_lse(
    %acc: memref<32x48xf32>, %max: memref<48xf32>, %sum: memref<48xf32>,
    %o: memref<1x?x32xf32>, %lse: memref<?xf32>) {
  // expected-error @below {{'attn.online_finish' op lse: expected rank 2, got 1}}
  attn.online_finish
      ins(%acc, %max, %sum : memref<32x48xf32>, memref<48xf32>, memref<48xf32>)
      outs(%o : memref<1x?x32xf32>, %lse : memref<?xf32>)
  return
}

// -----

func.func @merge_of_another_tile(%a: memref<32x48xf32>, %m: memref<48xf32>, %b: memref<32x24xf32>, %n: memref<24xf32>) {
  // expected-error @below {{'attn.online_merge' op otherMax: expected 48 rows (from max), got 24}}
  attn.online_merge ins(%b, %n, %n : memref<32x24xf32>, memref<24xf32>, memref<24xf32>)
      outs(%a, %m, %m : memref<32x48xf32>, memref<48xf32>, memref<48xf32>)
  return
}

// -----

func.func @pairs_with_a_scale(%q: memref<1x?x64xbf16>, %packed: memref<32x96xbf16>, %scale: f32) {
  // expected-error @below {{'attn.pack_query' op scale: expected none for pairs of bf16}}
  attn.pack_query ins(%q : memref<1x?x64xbf16>)
      outs(%packed : memref<32x96xbf16>) scale(%scale)
  return
}

// -----

func.func @rank_of_a_matrix(
    %a: memref<2x4x8xf32>, %b: memref<8x5xf32>, %c: memref<4x5xf32>) {
  // expected-error @below {{'attn.matmul_tile' op left: expected rank 2, got 3}}
  attn.matmul_tile ins(%a, %b : memref<2x4x8xf32>, memref<8x5xf32>)
      outs(%c : memref<4x5xf32>) tile(8, 48) panel(48)
  return
}

// -----

func.func @element_of_a_matrix(
    %a: memref<4x8xf32>, %b: memref<8x5xf64>, %c: memref<4x5xf32>) {
  // expected-error @below {{'attn.matmul_tile' op right: expected at most 'f32' (from out), got 'f64'}}
  attn.matmul_tile ins(%a, %b : memref<4x8xf32>, memref<8x5xf64>)
      outs(%c : memref<4x5xf32>) tile(8, 48) panel(48)
  return
}

// -----

func.func @bf16_from_f32(
    %a: memref<4x8xf32>, %b: memref<8x5xbf16>, %c: memref<4x5xbf16>) {
  // expected-error @below {{'attn.matmul_tile' op left: expected 'bf16' (from out), got 'f32'}}
  attn.matmul_tile ins(%a, %b : memref<4x8xf32>, memref<8x5xbf16>)
      outs(%c : memref<4x5xbf16>) tile(8, 48) panel(48)
  return
}

// -----

func.func @depth_of_the_right_matrix(
    %a: memref<4x8xf32>, %b: memref<5x8xf32>, %c: memref<4x5xf32>) {
  // expected-error @below {{'attn.matmul_tile' op right: expected depth 8 (from left), got 5}}
  attn.matmul_tile ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>)
      outs(%c : memref<4x5xf32>) tile(8, 48) panel(48)
  return
}

// -----

func.func @rows_of_the_result(
    %a: memref<8x4xf32>, %b: memref<8x5xf32>, %c: memref<3x5xf32>) {
  // expected-error @below {{'attn.matmul_tile' op out: expected rows 4 (from left), got 3}}
  attn.matmul_tile ins(%a, %b : memref<8x4xf32>, memref<8x5xf32>)
      outs(%c : memref<3x5xf32>) tile(8, 48) panel(48) transpose_left
  return
}

// -----

func.func @columns_of_the_result(
    %a: memref<4x8xf32>, %b: memref<5x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @below {{'attn.matmul_tile' op out: expected columns 5 (from right), got 8}}
  attn.matmul_tile ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>)
      outs(%c : memref<4x8xf32>) tile(8, 48) panel(48) transpose_right
  return
}

// -----

func.func @a_tile_of_whole_panels(
    %a: memref<4x8xf32>, %b: memref<8x5xf32>, %c: memref<4x5xf32>) {
  // expected-error @below {{'attn.matmul_tile' op tile: expected rows and whole panels, got 8 x 40 and panel 48}}
  attn.matmul_tile ins(%a, %b : memref<4x8xf32>, memref<8x5xf32>)
      outs(%c : memref<4x5xf32>) tile(8, 40) panel(48)
  return
}

// -----

func.func @a_result_beyond_the_tile(
    %a: memref<40x8xf32>, %b: memref<8x5xf32>, %c: memref<40x5xf32>) {
  // expected-error @below {{'attn.matmul_tile' op out: expected at most 8 rows (from tile), got 40}}
  attn.matmul_tile ins(%a, %b : memref<40x8xf32>, memref<8x5xf32>)
      outs(%c : memref<40x5xf32>) tile(8, 48) panel(48)
  return
}

// -----

func.func @rows_that_are_no_multiple(
    %a: memref<6x8xf32>, %b: memref<8x5xf32>, %c: memref<6x5xf32>) {
  // expected-error @below {{'attn.matmul_tile' op out: expected rows that are a multiple of 4 (from multiple_of), got 6}}
  attn.matmul_tile ins(%a, %b : memref<6x8xf32>, memref<8x5xf32>)
      outs(%c : memref<6x5xf32>) tile(8, 48) panel(48) multiple_of(4, 1)
  return
}

// -----

func.func @multiples_of_nothing(
    %a: memref<?x8xf32>, %b: memref<8x5xf32>, %c: memref<?x5xf32>) {
  // expected-error @below {{'attn.matmul_tile' op multiple_of: expected two numbers from 1 on, got 0 and 1}}
  attn.matmul_tile ins(%a, %b : memref<?x8xf32>, memref<8x5xf32>)
      outs(%c : memref<?x5xf32>) tile(8, 48) panel(48) multiple_of(0, 1)
  return
}

// -----

func.func @types_of_the_state(
    %q: memref<64x48xf64>, %k: memref<?x64xf64>, %v: memref<?x32xf64>,
    %acc: memref<32x48xf64>, %max: memref<48xf64>, %sum: memref<48xf32>,
    %x: index) {
  // expected-error @below {{'attn.online_softmax' op sum: expected 'f64' (from acc), got 'f32'}}
  attn.online_softmax
      ins(%q, %k, %v : memref<64x48xf64>, memref<?x64xf64>, memref<?x32xf64>)
      outs(%acc, %max, %sum : memref<32x48xf64>, memref<48xf64>, memref<48xf32>)
      at(%x, %x, %x, %x) key_tile(64)
  return
}

// -----

func.func @type_of_the_scale(
    %q: memref<1x?x64xf64>, %k: memref<?x64xf64>, %v: memref<?x32xf64>,
    %acc: memref<32x48xf64>, %max: memref<48xf64>, %x: index, %scale: f32) {
  // expected-error @below {{op failed to verify that scale has the type that acc is computed in}}
  "attn.online_softmax"(%q, %k, %v, %acc, %max, %max, %x, %x, %x, %x, %scale) ({
  }, {
  }) {key_tile = 64 : i64,
      operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0>}
      : (memref<1x?x64xf64>, memref<?x64xf64>, memref<?x32xf64>,
         memref<32x48xf64>, memref<48xf64>, memref<48xf64>, index, index, index,
         index, f32) -> ()
  return
}

// -----

func.func @type_of_a_packed_query(%q: memref<1x?x64xf16>,
                                  %packed: memref<64x48xf16>) {
  // expected-error @below {{'attn.pack_query' op packed: expected f32, f64 or bf16, got 'f16'}}
  attn.pack_query ins(%q : memref<1x?x64xf16>) outs(%packed : memref<64x48xf16>)
  return
}

// -----

func.func @no_scale_of_a_packed_query(%q: memref<1x?x64xf16>,
                                      %packed: memref<64x48xf32>) {
  // expected-error @below {{'attn.pack_query' op scale: expected one for a query that is no pairs}}
  attn.pack_query ins(%q : memref<1x?x64xf16>) outs(%packed : memref<64x48xf32>)
  return
}

// -----

func.func @type_of_another_state(%a: memref<32x48xf32>, %m: memref<48xf32>,
                                 %b: memref<32x48xf64>, %n: memref<48xf64>) {
  // expected-error @below {{'attn.online_merge' op otherAcc: expected 'f32' (from acc), got 'f64'}}
  attn.online_merge
      ins(%b, %n, %n : memref<32x48xf64>, memref<48xf64>, memref<48xf64>)
      outs(%a, %m, %m : memref<32x48xf32>, memref<48xf32>, memref<48xf32>)
  return
}

// -----

func.func @type_of_lse(
    %acc: memref<32x48xf64>, %max: memref<48xf64>, %sum: memref<48xf64>,
    %o: memref<1x?x32xf64>, %lse: memref<1x?xf32>) {
  // expected-error @below {{'attn.online_finish' op lse: expected 'f64' (from acc), got 'f32'}}
  attn.online_finish
      ins(%acc, %max, %sum : memref<32x48xf64>, memref<48xf64>, memref<48xf64>)
      outs(%o : memref<1x?x32xf64>, %lse : memref<1x?xf32>)
  return
}

// -----

func.func @integers_in_a_matrix(
    %a: memref<4x8xf32>, %b: memref<8x5xf32>, %c: memref<4x5xi32>) {
  // expected-error @below {{'attn.matmul_tile' op out: expected f16, bf16, f32 or f64, got 'i32'}}
  attn.matmul_tile ins(%a, %b : memref<4x8xf32>, memref<8x5xf32>)
      outs(%c : memref<4x5xi32>) tile(8, 48) panel(48)
  return
}

// -----

func.func @running_max_type(%x: memref<1x1x9x8xf16>) {
  // expected-error @below {{'attn.running_max' op input: expected f32 or f64, got 'f16'}}
  attn.running_max ins(%x : memref<1x1x9x8xf16>) outs(%x, %x : memref<1x1x9x8xf16>, memref<1x1x9x8xf16>)
  return
}

// -----

func.func @running_max_sizes(%x: memref<1x1x9x8xf32>, %y: memref<1x1x8x8xf32>) {
  // expected-error @below {{'attn.running_max' op step: expected the sizes of input, got 'memref<1x1x8x8xf32>'}}
  attn.running_max ins(%x : memref<1x1x9x8xf32>) outs(%x, %y : memref<1x1x9x8xf32>, memref<1x1x8x8xf32>)
  return
}

// -----

func.func @running_max_lengths(%x: memref<1x1x9x8xf32>, %n: memref<1xf32>) {
  // expected-error @below {{'attn.running_max' op lengths: expected i32 or i64, got 'f32'}}
  attn.running_max ins(%x : memref<1x1x9x8xf32>) lengths(%n : memref<1xf32>) outs(%x, %x : memref<1x1x9x8xf32>, memref<1x1x9x8xf32>)
  return
}

// -----

func.func @linear_state_rank(%k: tensor<4x8xf32>, %s: tensor<16xf32>, %n: index) {
  // expected-error @below {{'attn.linear_chunk' op state: expected rank 2, got 1}}
  %r = attn.linear_chunk ins(%k, %k : tensor<4x8xf32>, tensor<4x8xf32>) outs(%s : tensor<16xf32>) rows(%n) -> tensor<16xf32>
  return
}

// -----

func.func @linear_state_type(%k: tensor<4x8xf32>, %s: tensor<16x16xbf16>, %n: index) {
  // expected-error @below {{'attn.linear_chunk' op state: expected f32 or f64, got 'bf16'}}
  %r = attn.linear_chunk ins(%k, %k : tensor<4x8xf32>, tensor<4x8xf32>) outs(%s : tensor<16x16xbf16>) rows(%n) -> tensor<16x16xbf16>
  return
}

// -----

func.func @linear_state_columns(%k: tensor<4x8xf32>, %s: tensor<16x?xf32>, %n: index) {
  // expected-error @below {{'attn.linear_chunk' op state: expected a static number of columns}}
  %r = attn.linear_chunk ins(%k, %k : tensor<4x8xf32>, tensor<4x8xf32>) outs(%s : tensor<16x?xf32>) rows(%n) -> tensor<16x?xf32>
  return
}

// -----

func.func @linear_output(%q: tensor<1x4x8xf32>, %k: tensor<4x8xf32>, %s: tensor<16x16xf32>, %n: index) {
  // expected-error @below {{'attn.linear_chunk' op output: expected one if and only if there is a query}}
  %r = attn.linear_chunk ins(%k, %k : tensor<4x8xf32>, tensor<4x8xf32>) query(%q : tensor<1x4x8xf32>) outs(%s : tensor<16x16xf32>) rows(%n) -> tensor<16x16xf32>
  return
}

// -----

func.func @linear_output_columns(%q: tensor<1x4x8xf32>, %s: tensor<16x16xf32>, %o: tensor<1x4x16xf32>, %n: index) {
  // expected-error @below {{'attn.linear_read' op output: expected at most 15 columns (from state), got 16}}
  %r = attn.linear_read ins(%q, %s : tensor<1x4x8xf32>, tensor<16x16xf32>) outs(%o : tensor<1x4x16xf32>) rows(%n) normalize(token) -> tensor<1x4x16xf32>
  return
}

// -----

func.func @linear_beta_beside_transition(%k: tensor<4x8xf32>, %b: tensor<4xf32>, %s: tensor<16x16xf32>, %n: index) {
  // expected-error @below {{'attn.linear_chunk' op beta: expected none beside a transition}}
  %r = attn.linear_chunk ins(%k, %k : tensor<4x8xf32>, tensor<4x8xf32>) beta(%b : tensor<4xf32>) transition(%k, %k : tensor<4x8xf32>, tensor<4x8xf32>) outs(%s : tensor<16x16xf32>) rows(%n) -> tensor<16x16xf32>
  return
}

// -----

func.func @linear_decay_type(%k: tensor<4x8xf32>, %g: tensor<4xf64>, %s: tensor<16x16xf32>, %n: index) {
  // expected-error @below {{'attn.linear_chunk' op decay: expected 'f32' (from state), got 'f64'}}
  %r = attn.linear_chunk ins(%k, %k : tensor<4x8xf32>, tensor<4x8xf32>) decay(%g : tensor<4xf64>) outs(%s : tensor<16x16xf32>) rows(%n) -> tensor<16x16xf32>
  return
}

// -----

func.func @linear_decay_rank(%k: tensor<4x8xf32>, %g: tensor<1x4x8xf32>, %s: tensor<16x16xf32>, %n: index) {
  // expected-error @below {{'attn.linear_chunk' op decay: expected rank 1 or 2, got 3}}
  %r = attn.linear_chunk ins(%k, %k : tensor<4x8xf32>, tensor<4x8xf32>) decay(%g : tensor<1x4x8xf32>) outs(%s : tensor<16x16xf32>) rows(%n) -> tensor<16x16xf32>
  return
}

// -----

func.func @linear_initial_of_many(%k: tensor<4x8xf32>, %s: tensor<16x16xf32>, %large: i1, %n: index) {
  // expected-error @below {{'attn.linear_chunk' op initial: expected one token in recurrent form}}
  %r = attn.linear_chunk ins(%k, %k : tensor<4x8xf32>, tensor<4x8xf32>) initial(%s : tensor<16x16xf32>) streams(%large) outs(%s : tensor<16x16xf32>) rows(%n) recurrent -> tensor<16x16xf32>
  return
}

// -----

func.func @linear_initial_without_streams(%k: tensor<1x8xf32>, %s: tensor<16x16xf32>, %n: index) {
  // expected-error @below {{'attn.linear_chunk' op streams: expected one if and only if there is an initial state}}
  %r = attn.linear_chunk ins(%k, %k : tensor<1x8xf32>, tensor<1x8xf32>) initial(%s : tensor<16x16xf32>) outs(%s : tensor<16x16xf32>) rows(%n) recurrent -> tensor<16x16xf32>
  return
}

// -----

func.func @linear_initial_type(%k: tensor<1x8xf32>, %s: tensor<16x16xf32>, %f: tensor<8x16xf32>, %large: i1, %n: index) {
  // expected-error @below {{'attn.linear_chunk' op initial: expected 'tensor<16x16xf32>' (from state), got 'tensor<8x16xf32>'}}
  %r = attn.linear_chunk ins(%k, %k : tensor<1x8xf32>, tensor<1x8xf32>) initial(%f : tensor<8x16xf32>) streams(%large) outs(%s : tensor<16x16xf32>) rows(%n) recurrent -> tensor<16x16xf32>
  return
}

// -----

func.func @linear_results(%k: tensor<4x8xf32>, %s: tensor<16x16xf32>, %n: index) {
  // expected-error @below {{'attn.linear_chunk' op results: expected ('tensor<16x16xf32>'), got ()}}
  attn.linear_chunk ins(%k, %k : tensor<4x8xf32>, tensor<4x8xf32>) outs(%s : tensor<16x16xf32>) rows(%n)
  return
}
