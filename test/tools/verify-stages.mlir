// The first stage that changes a result is named, by a compiler that breaks the
// stages that functions ask for. Source is what the reference device runs, so
// that it takes an expectation to find it.

// RUN: split-file %s %t
// RUN: %broken-run %t/sound.mlir --verify-stages | FileCheck %s --check-prefix=SOUND
// RUN: not %broken-run %t/rewrite.mlir --verify-stages | FileCheck %s --check-prefix=REWRITE
// RUN: not %broken-run %t/tile.mlir --verify-stages | FileCheck %s --check-prefix=TILE
// RUN: not %broken-run %t/llvm.mlir --verify-stages | FileCheck %s --check-prefix=CPU
// RUN: not %broken-run %t/source.mlir --verify-stages \
// RUN:   --input=q=1x1x4x1xf32=0 --input=k=1x1x4x1xf32=0 --input=v=1x1x4x1xf32=0,1,2,3 \
// RUN:   --expect=o=1x1x4x1xf32=0,0.5,1,1.5 | FileCheck %s --check-prefix=SOURCE

// A sound compiler breaks none of them.
// RUN: attn-run %t/rewrite.mlir --verify-stages | FileCheck %s --check-prefix=SOUND
// RUN: attn-run %t/tile.mlir --verify-stages | FileCheck %s --check-prefix=SOUND
// RUN: attn-run %t/llvm.mlir --verify-stages --target=cpu:generic | FileCheck %s --check-prefix=SOUND
// RUN: attn-run %t/source.mlir --verify-stages \
// RUN:   --input=q=1x1x4x1xf32=0 --input=k=1x1x4x1xf32=0 --input=v=1x1x4x1xf32=0,1,2,3 \
// RUN:   --expect=o=1x1x4x1xf32=0,0.5,1,1.5 | FileCheck %s --check-prefix=SOUND

// RUN: not attn-run %t/sound.mlir --verify-stages --device=reference 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not attn-run %t/sound.mlir --verify-stages --rtol=1e-30 | FileCheck %s --check-prefix=TOLERANCE

// SOUND: after rewrite o: ok
// SOUND-NEXT: after rewrite lse: ok
// SOUND-NEXT: after tile o: ok
// SOUND-NEXT: after tile lse: ok
// SOUND-NEXT: after cpu o: ok
// SOUND-NEXT: after cpu lse: ok
// SOUND-NEXT: no stage changes a result

// REWRITE: after rewrite o: MISMATCH, max abs error {{[0-9.e-]+}}, relative rms {{[0-9.e-]+}}, tolerance 1e-05 (relative rms)
// REWRITE: after tile o: MISMATCH
// REWRITE: after cpu o: MISMATCH
// REWRITE: first stage that changes a result: rewrite (passes/rewrite)

// TILE: after rewrite o: ok
// TILE: after tile o: MISMATCH
// TILE: after cpu o: MISMATCH
// TILE: first stage that changes a result: tile (passes/tile)

// CPU: after rewrite o: ok
// CPU: after tile o: ok
// CPU: after cpu o: MISMATCH
// CPU: first stage that changes a result: cpu (passes/cpu)

// SOURCE: expect o: MISMATCH
// SOURCE: after source:
// SOURCE-NEXT: expect o: MISMATCH, max abs error 1.5
// SOURCE: first stage that changes a result: source (passes/convention)

// DEVICE: option --verify-stages: expected device cpu, got reference
// TOLERANCE: after rewrite o: {{.*}}tolerance 1e-30

//--- sound.mlir
func.func @sound(%q: tensor<1x4x40x16xf32>, %k: tensor<1x2x40x16xf32>) -> (tensor<1x4x40x16xf32>, tensor<1x4x40xf32>) {
  %o, %lse = attn.gqa %q, %k, %k align(top_left) mask(#attn.causal)
      : (tensor<1x4x40x16xf32>, tensor<1x2x40x16xf32>, tensor<1x2x40x16xf32>) -> (tensor<1x4x40x16xf32>, tensor<1x4x40xf32>)
  return %o, %lse : tensor<1x4x40x16xf32>, tensor<1x4x40xf32>
}

//--- source.mlir
func.func @it_breaks_source(%q: tensor<1x1x4x1xf32>, %k: tensor<1x1x4x1xf32>, %v: tensor<1x1x4x1xf32>) -> (tensor<1x1x4x1xf32>, tensor<1x1x4xf32>) {
  %o, %lse = attn.softmax %q, %k, %v align(top_left) mask(#attn.causal)
      : (tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>) -> (tensor<1x1x4x1xf32>, tensor<1x1x4xf32>)
  return %o, %lse : tensor<1x1x4x1xf32>, tensor<1x1x4xf32>
}

//--- rewrite.mlir
func.func @it_breaks_rewrite(%q: tensor<1x2x40x16xf32>) -> (tensor<1x2x40x16xf32>, tensor<1x2x40xf32>) {
  %o, %lse = attn.softmax %q, %q, %q align(top_left) mask(#attn.window<left = 3>)
      : (tensor<1x2x40x16xf32>, tensor<1x2x40x16xf32>, tensor<1x2x40x16xf32>) -> (tensor<1x2x40x16xf32>, tensor<1x2x40xf32>)
  return %o, %lse : tensor<1x2x40x16xf32>, tensor<1x2x40xf32>
}

//--- tile.mlir
func.func @it_breaks_tile(%q: tensor<1x2x40x16xf32>) -> (tensor<1x2x40x16xf32>, tensor<1x2x40xf32>) {
  %o, %lse = attn.softmax %q, %q, %q align(top_left)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %far = arith.subi %j, %i : index
        %n = arith.index_cast %far : index to i64
        %x = arith.sitofp %n : i64 to f32
        %y = math.absf %x : f32
        %t = arith.subf %s, %y : f32
        attn.yield %t : f32
      }
      : (tensor<1x2x40x16xf32>, tensor<1x2x40x16xf32>, tensor<1x2x40x16xf32>) -> (tensor<1x2x40x16xf32>, tensor<1x2x40xf32>)
  return %o, %lse : tensor<1x2x40x16xf32>, tensor<1x2x40xf32>
}

//--- llvm.mlir
func.func @it_breaks_llvm(%q: tensor<1x2x40x16xf32>, %k: tensor<1x2x5000x16xf32>) -> (tensor<1x2x40x16xf32>, tensor<1x2x40xf32>) {
  %o, %lse = attn.softmax %q, %k, %k
      : (tensor<1x2x40x16xf32>, tensor<1x2x5000x16xf32>, tensor<1x2x5000x16xf32>) -> (tensor<1x2x40x16xf32>, tensor<1x2x40xf32>)
  return %o, %lse : tensor<1x2x40x16xf32>, tensor<1x2x40xf32>
}
