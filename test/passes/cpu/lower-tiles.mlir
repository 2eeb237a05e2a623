// RUN: attn-opt %s --split-input-file --attn-lower-tiles --canonicalize --cse | FileCheck %s
// RUN: attn-opt %s --split-input-file --attn-lower-tiles --canonicalize --cse | FileCheck %s --check-prefix=SHORT
// RUN: attn-opt %s --split-input-file --attn-lower-tiles=exact --canonicalize --cse | FileCheck %s --check-prefix=EXACT

// Both products broadcast an element of K or V into vectors of queries; there is
// no scalar loop over keys, and without a mask nothing is selected by position.

// CHECK-LABEL: func @multiplies_with_queries_as_lanes
// CHECK-SAME:    %[[Q:.*]]: memref<64x24xf32>, %[[K:.*]]: memref<?x64xf32>, %[[V:.*]]: memref<?x64xf32>
// CHECK:         %[[SCORES:.*]] = memref.alloc() {{.*}} : memref<64x24xf32>
// CHECK:         scf.for %[[D:.*]] = %c0 to %c64
// CHECK-COUNT-3:   vector.load %[[Q]][%[[D]],
// CHECK:           %[[ELEMENT:.*]] = memref.load %[[K]][%{{.*}}, %[[D]]]
// CHECK:           %[[LANES:.*]] = vector.broadcast %[[ELEMENT]] : f32 to vector<8xf32>
// CHECK-COUNT-3:   math.fma %[[LANES]],
// CHECK-COUNT-12: vector.store %{{.*}}, %[[SCORES]]
// CHECK-NOT:     vector.gather
// CHECK-NOT:     math.exp
// CHECK:         return
module attributes {attn.target = "cpu:avx2"} {
  func.func @multiplies_with_queries_as_lanes(%q: memref<64x24xf32>, %k: memref<?x64xf32>, %v: memref<?x64xf32>,
      %acc: memref<64x24xf32>, %max: memref<24xf32>, %sum: memref<24xf32>, %i: index) {
    attn.online_softmax ins(%q, %k, %v : memref<64x24xf32>, memref<?x64xf32>, memref<?x64xf32>)
      outs(%acc, %max, %sum : memref<64x24xf32>, memref<24xf32>, memref<24xf32>) at(%i, %i, %i, %i) key_tile(64)
    return
  }
}

// -----

// In f64 a vector has half as many queries, and the exponential is one of f64.

// CHECK-LABEL: func @computes_f64_in_f64
// CHECK-SAME:    %[[Q:.*]]: memref<64x12xf64>, %[[K:.*]]: memref<?x64xf64>, %[[V:.*]]: memref<?x64xf64>
// CHECK:         memref.alloc() {{.*}} : memref<64x12xf64>
// CHECK:         %[[ELEMENT:.*]] = memref.load %[[K]]
// CHECK:         %[[LANES:.*]] = vector.broadcast %[[ELEMENT]] : f64 to vector<4xf64>
// CHECK-COUNT-3: math.fma %[[LANES]], {{.*}} : vector<4xf64>
// CHECK-NOT:     {{f32|math.exp}}
// CHECK:         return
module attributes {attn.target = "cpu:avx2"} {
  func.func @computes_f64_in_f64(%q: memref<64x12xf64>, %k: memref<?x64xf64>, %v: memref<?x64xf64>,
      %acc: memref<64x12xf64>, %max: memref<12xf64>, %sum: memref<12xf64>, %i: index) {
    attn.online_softmax ins(%q, %k, %v : memref<64x12xf64>, memref<?x64xf64>, memref<?x64xf64>)
      outs(%acc, %max, %sum : memref<64x12xf64>, memref<12xf64>, memref<12xf64>) at(%i, %i, %i, %i) key_tile(64)
    return
  }
}

// -----

// f16 is widened once per key tile and goes the way of f32.

// CHECK-LABEL: func @widens_f16
// CHECK-SAME:    %[[K:[^:, ]*]]: memref<?x64xf16>
// CHECK:         %[[ROW:.*]] = vector.load %[[K]]{{.*}} : memref<?x64xf16>, vector<8xf16>
// CHECK:         arith.extf %[[ROW]] : vector<8xf16> to vector<8xf32>
// CHECK:         math.fma {{.*}} : vector<8xf32>
module attributes {attn.target = "cpu:avx2"} {
  func.func @widens_f16(%q: memref<64x24xf32>, %k: memref<?x64xf16>, %v: memref<?x64xf16>,
      %acc: memref<64x24xf32>, %max: memref<24xf32>, %sum: memref<24xf32>, %i: index) {
    attn.online_softmax ins(%q, %k, %v : memref<64x24xf32>, memref<?x64xf16>, memref<?x64xf16>)
      outs(%acc, %max, %sum : memref<64x24xf32>, memref<24xf32>, memref<24xf32>) at(%i, %i, %i, %i) key_tile(64)
    return
  }
}

// -----

// A read by j is a load and a broadcast, a read by i a vector load (a gather only
// where lanes leave the tensor), and neither is in the loop over keys if it need
// not be. Positions are 32-bit where they fit.

// CHECK-LABEL: func @reads_documents_without_gathering_per_key
// CHECK-SAME:    %[[DOC:arg[0-9]+]]: memref<?xi32>
// CHECK:         scf.if %{{.*}} -> (vector<8xf32>
// CHECK:           vector.load %[[DOC]]
// CHECK:           vector.gather
// CHECK:           scf.for
// CHECK-NOT:         vector.gather
// CHECK-NOT:         vector.load %[[DOC]]
// CHECK:             %[[J:.*]] = memref.load %[[DOC]]
// CHECK:             vector.broadcast %[[J]] : i32 to vector<8xi32>
// CHECK:             arith.cmpi eq
module attributes {attn.target = "cpu:avx2"} {
  func.func @reads_documents_without_gathering_per_key(%q: memref<64x24xf32>, %k: memref<?x64xf32>, %v: memref<?x64xf32>,
      %acc: memref<64x24xf32>, %max: memref<24xf32>, %sum: memref<24xf32>, %i: index, %masked: i1, %doc: memref<?xi32>) {
    attn.online_softmax ins(%q, %k, %v : memref<64x24xf32>, memref<?x64xf32>, memref<?x64xf32>)
      outs(%acc, %max, %sum : memref<64x24xf32>, memref<24xf32>, memref<24xf32>) at(%i, %i, %i, %i) key_tile(64)
      masked(%masked) keep {
      ^bb0(%b: index, %h: index, %row: index, %col: index):
        %x = memref.load %doc[%row] : memref<?xi32>
        %y = memref.load %doc[%col] : memref<?xi32>
        %same = arith.cmpi eq, %x, %y : i32
        attn.yield %same : i1
      }
    return
  }
}

// -----

// Where the rows of a tile are of one head, a read by h is a load and a
// broadcast and a read by i a vector load; else both are gathered.

// CHECK-LABEL: func @reads_of_one_head_are_loads
// CHECK-SAME:    %[[FOLD:arg[0-9]+]]: index, %[[SLOPES:arg[0-9]+]]: memref<?xf32>, %[[BIAS:arg[0-9]+]]: memref<?xf32>
// CHECK:         %[[ONE:.*]] = arith.cmpi sge, %[[FOLD]], %c24
// CHECK:         scf.if %[[ONE]] -> (vector<8xf32>)
// CHECK:           %[[SLOPE:.*]] = memref.load %[[SLOPES]]
// CHECK:           vector.broadcast %[[SLOPE]]
// CHECK:         else
// CHECK:           vector.gather
// CHECK:         %[[ROW:.*]] = arith.andi %[[ONE]], %{{.*}} : i1
// CHECK:         scf.if %[[ROW]] -> (vector<8xf32>)
// CHECK:           vector.load %[[BIAS]]
// CHECK:         else
// CHECK:           vector.gather
// CHECK:         scf.for
// CHECK-NOT:       vector.gather
// CHECK:           scf.yield
module attributes {attn.target = "cpu:avx2"} {
  func.func @reads_of_one_head_are_loads(%q: memref<64x24xf32>, %k: memref<?x64xf32>, %v: memref<?x64xf32>,
      %acc: memref<64x24xf32>, %max: memref<24xf32>, %sum: memref<24xf32>, %i: index, %fold: index, %slopes: memref<?xf32>, %bias: memref<?xf32>) {
    attn.online_softmax ins(%q, %k, %v : memref<64x24xf32>, memref<?x64xf32>, memref<?x64xf32>)
      outs(%acc, %max, %sum : memref<64x24xf32>, memref<24xf32>, memref<24xf32>) at(%i, %i, %i, %i) fold(%fold) key_tile(64)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %row: index, %col: index):
        %x = memref.load %slopes[%h] : memref<?xf32>
        %y = memref.load %bias[%row] : memref<?xf32>
        %t = arith.mulf %s, %x : f32
        %u = arith.addf %t, %y : f32
        attn.yield %u : f32
      }
    return
  }
}

// -----

// bf16 is widened by shifts, and rounded to nearest even by integer arithmetic.

// CHECK-LABEL: func @widens_bf16_by_shifts
// CHECK-NOT:     arith.{{extf|truncf}}
// CHECK:         arith.shli
// CHECK-NOT:     arith.{{extf|truncf}}
// CHECK:         return
module attributes {attn.target = "cpu:avx2"} {
  func.func @widens_bf16_by_shifts(%q: memref<1x?x64xbf16>, %packed: memref<64x24xf32>, %scale: f32,
      %acc: memref<64x24xf32>, %max: memref<24xf32>, %sum: memref<24xf32>, %o: memref<1x?x64xbf16>) {
    attn.pack_query ins(%q : memref<1x?x64xbf16>) outs(%packed : memref<64x24xf32>) scale(%scale)
    attn.online_finish ins(%acc, %max, %sum : memref<64x24xf32>, memref<24xf32>, memref<24xf32>) outs(%o : memref<1x?x64xbf16>)
    return
  }
}

// -----

// Pairs of neighbouring columns of K are broadcast as they lie; V is interleaved
// by pairs of keys before its product; weights are rounded to pairs.

// CHECK-LABEL: func @multiplies_pairs_of_bf16
// CHECK-SAME:    %[[Q:.*]]: memref<32x32xbf16>, %[[K:.*]]: memref<?x64xbf16>, %[[V:.*]]: memref<?x64xbf16>
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             vector.load %[[Q]][%{{.*}}, %c0] : memref<32x32xbf16>, vector<32xbf16>
// CHECK:             vector.load %[[K]][%{{.*}}] : memref<?x64xbf16>, vector<2xbf16>
// CHECK:             vector.broadcast %{{.*}} : i32 to vector<16xi32>
// CHECK-COUNT-16:    llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK-NOT:         llvm.call_intrinsic
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.mask.reduce.ps.512"
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
// CHECK:         vector.load %[[V]]
// CHECK:         vector.interleave
// CHECK-COUNT-16: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
module attributes {attn.target = "cpu:avx512bf16"} {
  func.func @multiplies_pairs_of_bf16(%q: memref<32x32xbf16>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>,
      %acc: memref<64x16xf32>, %max: memref<16xf32>, %sum: memref<16xf32>, %i: index, %scale: f32) {
    attn.online_softmax ins(%q, %k, %v : memref<32x32xbf16>, memref<?x64xbf16>, memref<?x64xbf16>)
      outs(%acc, %max, %sum : memref<64x16xf32>, memref<16xf32>, memref<16xf32>) at(%i, %i, %i, %i) key_tile(64) scale(%scale)
    return
  }
}

// -----

// A few query rows are used as they are: rows of K and V are loaded as vectors
// and fetched ahead, and the lanes of a vector of sums are added up together.

// CHECK-LABEL: func @reads_rows_in_order_for_few_queries
// CHECK-SAME:    %[[Q:.*]]: memref<2x1x64xf32>, %[[K:.*]]: memref<?x64xf32>, %[[V:.*]]: memref<?x64xf32>
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             memref.prefetch %[[K]]
// CHECK:             vector.load %[[K]]
// CHECK:             vector.load %[[Q]]
// CHECK-COUNT-2:     math.fma
// CHECK-COUNT-14:  vector.shuffle
// CHECK:         memref.prefetch %[[V]]
// CHECK:         math.fma
module attributes {attn.target = "cpu:avx2"} {
  func.func @reads_rows_in_order_for_few_queries(%q: memref<2x1x64xf32>, %k: memref<?x64xf32>, %v: memref<?x64xf32>,
      %acc: memref<64x8xf32>, %max: memref<8xf32>, %sum: memref<8xf32>, %i: index, %scale: f32) {
    attn.online_softmax ins(%q, %k, %v : memref<2x1x64xf32>, memref<?x64xf32>, memref<?x64xf32>)
      outs(%acc, %max, %sum : memref<64x8xf32>, memref<8xf32>, memref<8xf32>) at(%i, %i, %i, %i) key_tile(512) scale(%scale)
    return
  }
}

// -----

// States are merged without a loop over keys.

// CHECK-LABEL: func @merges_states
// CHECK-SAME:    %[[ACC:arg0]]: memref<64x8xf32>
// CHECK-COUNT-2: arith.select
// CHECK:         scf.for
// CHECK:           vector.load %[[ACC]]
// CHECK:           math.fma
// CHECK-NOT:     scf.for
// CHECK:         return
module attributes {attn.target = "cpu:avx2"} {
  func.func @merges_states(%acc: memref<64x8xf32>, %max: memref<8xf32>, %sum: memref<8xf32>,
      %acc2: memref<64x8xf32>, %max2: memref<8xf32>, %sum2: memref<8xf32>) {
    attn.online_merge ins(%acc2, %max2, %sum2 : memref<64x8xf32>, memref<8xf32>, memref<8xf32>)
      outs(%acc, %max, %sum : memref<64x8xf32>, memref<8xf32>, memref<8xf32>)
    return
  }
}

// -----

// AMX: K is read by tiles where it fills them, else from a padded copy; V is
// transposed by pairs of keys. A block of 2 x 2 tiles for 32 queries.

// CHECK-LABEL: func @multiplies_tiles_of_bf16
// CHECK-SAME:    %[[Q:.*]]: memref<32x64xbf16>, %[[K:.*]]: memref<?x64xbf16>, %[[V:.*]]: memref<?x64xbf16>, %[[ACC:.*]]: memref<64x32xf32>
// CHECK-DAG:     %[[SCORES:.*]] = memref.alloc() {{.*}} : memref<64x32xf32>
// CHECK-DAG:     %[[WEIGHTS:.*]] = memref.alloc() {{.*}} : memref<32x64xbf16>
// CHECK:         scf.for
// CHECK-COUNT-4:   amx.tile_zero : !amx.tile<16x16xf32>
// CHECK:           scf.for {{.*}} -> (!amx.tile<16x16xf32>, !amx.tile<16x16xf32>, !amx.tile<16x16xf32>, !amx.tile<16x16xf32>)
// CHECK-COUNT-2:     amx.tile_load %[[Q]][{{.*}} : memref<32x64xbf16> into !amx.tile<16x32xbf16>
// CHECK:             %[[FIRST:.*]] = amx.tile_load %[[K]][{{.*}} : memref<?x64xbf16> into !amx.tile<16x32xbf16>
// CHECK-COUNT-2:     amx.tile_mulf %[[FIRST]],
// CHECK:             %[[SECOND:.*]] = amx.tile_load %[[K]][
// CHECK-COUNT-2:     amx.tile_mulf %[[SECOND]],
// CHECK-NOT:         amx.tile_mulf
// CHECK-COUNT-4:   amx.tile_store %[[SCORES]][
// CHECK:         vector.interleave
// CHECK-COUNT-64: vector.shuffle
// CHECK:         scf.for
// CHECK-COUNT-4:   amx.tile_load %[[ACC]][
// CHECK:           scf.for
// CHECK-COUNT-2:     amx.tile_load %[[WEIGHTS]][
// CHECK-COUNT-2:     amx.tile_mulf
// CHECK-COUNT-4:   amx.tile_store {{.*}} : memref<64x32xf32>
module attributes {attn.target = "cpu:amx"} {
  func.func @multiplies_tiles_of_bf16(%q: memref<32x64xbf16>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>,
      %acc: memref<64x32xf32>, %max: memref<32xf32>, %sum: memref<32xf32>, %i: index, %scale: f32) {
    attn.online_softmax ins(%q, %k, %v : memref<32x64xbf16>, memref<?x64xbf16>, memref<?x64xbf16>)
      outs(%acc, %max, %sum : memref<64x32xf32>, memref<32xf32>, memref<32xf32>) at(%i, %i, %i, %i) key_tile(64) scale(%scale)
    return
  }
}

// -----

// The short exponential of bf16 weights is a cubic, with `exact` it is that of
// f32: of degree 6.

// SHORT-LABEL: func @exponential_of_bf16
// EXACT-LABEL: func @exponential_of_bf16
// SHORT:       llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// EXACT:       llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// The factor of the old state is exact in both.
// SHORT:       "llvm.x86.avx512.mask.reduce.ps.512"
// EXACT:       "llvm.x86.avx512.mask.reduce.ps.512"
// SHORT:       "llvm.x86.avx512.mask.reduce.ps.512"
// SHORT-COUNT-3: math.fma
// SHORT-NEXT:  "llvm.x86.avx512.mask.scalef.ps.512"
// EXACT:       "llvm.x86.avx512.mask.reduce.ps.512"
// EXACT-COUNT-6: math.fma
// EXACT-NEXT:  "llvm.x86.avx512.mask.scalef.ps.512"
module attributes {attn.target = "cpu:avx512bf16"} {
  func.func @exponential_of_bf16(%q: memref<32x32xbf16>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>,
      %acc: memref<64x16xf32>, %max: memref<16xf32>, %sum: memref<16xf32>, %i: index, %scale: f32) {
    attn.online_softmax ins(%q, %k, %v : memref<32x32xbf16>, memref<?x64xbf16>, memref<?x64xbf16>)
      outs(%acc, %max, %sum : memref<64x16xf32>, memref<16xf32>, memref<16xf32>) at(%i, %i, %i, %i) key_tile(64) scale(%scale)
    return
  }
}

// -----

// What is read for each query and key is transposed once per tile, a square of
// lanes by keys at a time; where a square ends outside of the matrix it is
// gathered. The score then takes it from a buffer.

// CHECK-LABEL: func @transposes_a_dense_bias
// CHECK-SAME:    %[[BIAS:[a-z0-9]*]]: memref<?x?xf32>
// CHECK:         %[[BUFFER:.*]] = memref.alloc() {{.*}} : memref<64x8xf32>
// CHECK:         scf.for %[[KEY:.*]] = %c0
// CHECK:           scf.if
// CHECK-COUNT-8:     vector.load %[[BIAS]][
// CHECK-COUNT-24:    vector.shuffle
// CHECK:             vector.store %{{.*}}, %[[BUFFER]][%[[KEY]], %c0]
// CHECK:           } else {
// CHECK:             vector.gather
// CHECK:             vector.store %{{.*}}, %[[BUFFER]][
// CHECK:         scf.for %[[ROW:.*]] = %c0
// CHECK:           vector.load %[[BUFFER]][%[[ROW]], %c0]
// CHECK:           arith.addf
// CHECK-NOT:       vector.gather
module attributes {attn.target = "cpu:avx2"} {
  func.func @transposes_a_dense_bias(%bias: memref<?x?xf32>, %q: memref<32x8xf32>, %k: memref<?x32xf32>, %v: memref<?x32xf32>,
      %acc: memref<32x8xf32>, %max: memref<8xf32>, %sum: memref<8xf32>) {
    %c0 = arith.constant 0 : index
    attn.online_softmax ins(%q, %k, %v : memref<32x8xf32>, memref<?x32xf32>, memref<?x32xf32>)
      outs(%acc, %max, %sum : memref<32x8xf32>, memref<8xf32>, memref<8xf32>) at(%c0, %c0, %c0, %c0) key_tile(64)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %x = memref.load %bias[%i, %j] : memref<?x?xf32>
        %t = arith.addf %s, %x : f32
        attn.yield %t : f32
      }
    return
  }
}

// -----

// What a key's position goes through beside the read is no matter of the gather.

// CHECK-LABEL: func @gathers_only_what_is_read
// CHECK:         %[[BUFFER:.*]] = memref.alloc() {{.*}} : memref<64x8xi8>
// CHECK:           } else {
// CHECK-NOT:         arith.muli %{{.*}}, %c3
// CHECK:             vector.gather
// CHECK:             vector.store %{{.*}}, %[[BUFFER]][
// CHECK:         vector.load %[[BUFFER]][
module attributes {attn.target = "cpu:avx2"} {
  func.func @gathers_only_what_is_read(%m: memref<?x?xi8>, %n: index, %masked: i1, %q: memref<32x8xf32>, %k: memref<?x32xf32>, %v: memref<?x32xf32>,
      %acc: memref<32x8xf32>, %max: memref<8xf32>, %sum: memref<8xf32>) {
    %c0 = arith.constant 0 : index
    attn.online_softmax ins(%q, %k, %v : memref<32x8xf32>, memref<?x32xf32>, memref<?x32xf32>)
      outs(%acc, %max, %sum : memref<32x8xf32>, memref<8xf32>, memref<8xf32>) at(%c0, %c0, %c0, %c0) key_tile(64)
      masked(%masked) keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %c3 = arith.constant 3 : index
        %x = arith.muli %j, %c3 : index
        %y = arith.addi %x, %i : index
        %e = memref.load %m[%i, %j] : memref<?x?xi8>
        %z = arith.constant 0 : i8
        %set = arith.cmpi ne, %e, %z : i8
        %near = arith.cmpi sle, %y, %n : index
        %p = arith.andi %set, %near : i1
        attn.yield %p : i1
      }
    return
  }
}
