// One line of JSON with every field that --benchmark promises.

// RUN: attn-run %s --benchmark=3 --threads=1 > %t.json
// RUN: %python -c "import json,sys; r = json.load(open(sys.argv[1])); \
// RUN:   assert r['function'] == 'main' and r['threads'] == 1; \
// RUN:   assert 0 < r['min_ms'] <= r['median_ms'] and r['compile_ms'] > 0; \
// RUN:   flops = 2 * 2 * 4 * 64 * 96 * (32 + 32); \
// RUN:   assert abs(r['gflops'] * r['median_ms'] * 1e6 / flops - 1) < 1e-3; \
// RUN:   size = 4 * 2 * 4 * 32 * (64 + 96 + 96 + 64); \
// RUN:   assert abs(r['gbytes_per_s'] * r['median_ms'] * 1e6 / size - 1) < 1e-3; \
// RUN:   assert r['peak_gflops'] > 0 and r['peak_gbytes_per_s'] > 0; \
// RUN:   assert set(r['tiles']) == {'skipped', 'plain', 'masked'}" %t.json

// The peak is that of the fastest instruction for the operands' type, as in
// attn-bench. Some processors do as many operations of bf16 with multiply-adds
// of f32 as with products of pairs.
// RUN: sed 's/f32/bf16/g' %s | sed '/RUN:/d' > %t-bf16.mlir
// RUN: attn-run %t-bf16.mlir --benchmark=1 | FileCheck %s --check-prefix=BF16
// RUN: attn-run %s --benchmark=1 | FileCheck %s --check-prefix=F32
// BF16: "peak_unit": "{{amx bf16|avx512 bf16 dot|avx512 fma|avx2 fma|sse}}"
// F32: "peak_unit": "{{avx512 fma|avx2 fma|sse}}"

// Timing and checking in one run.
// RUN: attn-run %s --benchmark=2 --check | FileCheck %s
// CHECK: check o: ok
// CHECK-NEXT: {"function": "main", "device": "cpu", "target": "cpu:

// The reference device has no tiles.
// RUN: attn-run %s --benchmark=1 --device=reference | FileCheck %s --check-prefix=REF
// REF: "tiles": null}

func.func @main(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>,
                %v: tensor<2x4x96x32xf32>) -> tensor<2x4x64x32xf32> {
  %o = attn.softmax %q, %k, %v align(bottom_right) mask(#attn.causal)
      : (tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>, tensor<2x4x96x32xf32>)
      -> tensor<2x4x64x32xf32>
  return %o : tensor<2x4x64x32xf32>
}
