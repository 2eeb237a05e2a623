// Tiles of AMX: the instructions of the CPU where it has them, else those of the
// emulator, in the very code that runs there. 48 queries by 64 keys.

// REQUIRES: avx512bf16
// RUN: attn-run %s --target=cpu:amx --emit=asm | FileCheck %s
// CHECK: tdpbf16ps

// RUN: %amx-run %s --target=cpu:amx --input=1x1x48x32xbf16=1 --input=1x1x64x32xbf16=4 --input=1x1x64x32xbf16=1 --expect=1x1x48x32xf32=31
// RUN: attn-run %s --device=reference --input=1x1x48x32xbf16=1 --input=1x1x64x32xbf16=4 --input=1x1x64x32xbf16=1 --expect=1x1x48x32xf32=31
// RUN: not %amx-run %s --target=cpu:amx --input=1x1x48x32xbf16=-1 --input=1x1x64x32xbf16=4 --input=1x1x64x32xbf16=1 --expect=1x1x48x32xf32=31

#rows = affine_map<(b, h, i, d) -> (b, h, i, d)>

// Query i is 1 or -1, key j is 4 or -4, by whether i and j are even or odd: the
// logits are 128 or -128, and a query sees the keys that are as it is. Value j is
// j, so that even rows are the mean of 0, 2, ... 62, which is 31, and odd rows that
// of 1, 3, ... 63, which is 32. The last step takes i mod 2 off.
func.func @main(%x: tensor<1x1x48x32xbf16>, %y: tensor<1x1x64x32xbf16>,
                %z: tensor<1x1x64x32xbf16>) -> tensor<1x1x48x32xf32> {
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  %qs = tensor.empty() : tensor<1x1x48x32xbf16>
  %q = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x1x48x32xbf16>) outs(%qs : tensor<1x1x48x32xbf16>) {
    ^bb0(%a: bf16, %out: bf16):
      %i = linalg.index 2 : index
      %r = arith.remui %i, %c2 : index
      %p = arith.cmpi eq, %r, %c0 : index
      %n = arith.negf %a : bf16
      %s = arith.select %p, %a, %n : bf16
      linalg.yield %s : bf16
  } -> tensor<1x1x48x32xbf16>
  %ks = tensor.empty() : tensor<1x1x64x32xbf16>
  %k = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<1x1x64x32xbf16>) outs(%ks : tensor<1x1x64x32xbf16>) {
    ^bb0(%a: bf16, %out: bf16):
      %j = linalg.index 2 : index
      %r = arith.remui %j, %c2 : index
      %p = arith.cmpi eq, %r, %c0 : index
      %n = arith.negf %a : bf16
      %s = arith.select %p, %a, %n : bf16
      linalg.yield %s : bf16
  } -> tensor<1x1x64x32xbf16>
  %vs = tensor.empty() : tensor<1x1x64x32xbf16>
  %v = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%z : tensor<1x1x64x32xbf16>) outs(%vs : tensor<1x1x64x32xbf16>) {
    ^bb0(%a: bf16, %out: bf16):
      %j = linalg.index 2 : index
      %integer = arith.index_cast %j : index to i32
      %float = arith.sitofp %integer : i32 to bf16
      %s = arith.mulf %a, %float : bf16
      linalg.yield %s : bf16
  } -> tensor<1x1x64x32xbf16>
  %o = attn.softmax %q, %k, %v scale(1.0)
      : (tensor<1x1x48x32xbf16>, tensor<1x1x64x32xbf16>, tensor<1x1x64x32xbf16>) -> tensor<1x1x48x32xbf16>
  %rs = tensor.empty() : tensor<1x1x48x32xf32>
  %result = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%o : tensor<1x1x48x32xbf16>) outs(%rs : tensor<1x1x48x32xf32>) {
    ^bb0(%a: bf16, %out: f32):
      %i = linalg.index 2 : index
      %r = arith.remui %i, %c2 : index
      %integer = arith.index_cast %r : index to i32
      %odd = arith.sitofp %integer : i32 to f32
      %wide = arith.extf %a : bf16 to f32
      %s = arith.subf %wide, %odd : f32
      linalg.yield %s : f32
  } -> tensor<1x1x48x32xf32>
  return %result : tensor<1x1x48x32xf32>
}
