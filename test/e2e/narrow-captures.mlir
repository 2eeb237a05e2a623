// A captured bf16 that is compared, on devices that compute in f32 and in f64.
// LLVM would compare it as bf16, and round to bf16 by a library what it was
// itself. Logits are min(max(-1, x), 0) with x = 1/2, -3, so the weights are
// 1 and 1/e, and the mean of the values 1, 0 is e / (e + 1).

// RUN: attn-run %s --device=reference --input=q=1x1x1x1xf32=-1 --input=k=1x1x2x1xf32=1 \
// RUN:   --input=v=1x1x2x1xf32=1,0 --input=x=2xbf16=0.5,-3 --expect=1x1x1x1xf32=0.7310586 | FileCheck %s
// RUN: attn-run %s --target=cpu:generic --input=q=1x1x1x1xf32=-1 --input=k=1x1x2x1xf32=1 \
// RUN:   --input=v=1x1x2x1xf32=1,0 --input=x=2xbf16=0.5,-3 --expect=1x1x1x1xf32=0.7310586 | FileCheck %s

// CHECK: ok

// One that is gathered, whose elements LLVM would carry from block to block as
// f32 and round again. Row 0 has logits min(1, 1/2) and min(1/4, 1/2), row 1 has
// -1/2 twice, so the weights of the value 1 are 1 / (1 + exp(-1/4)) and 1/2.

// RUN: attn-run %s --function=gathered --device=reference --input=q=1x1x2x1xf32=1,1 --input=k=1x1x2x1xf32=1,0.25 \
// RUN:   --input=v=1x1x2x1xf32=1,0 --input=x=1x2xbf16=0.5,-0.5 --expect=1x1x2x1xf32=0.5621765,0.5 | FileCheck %s
// RUN: attn-run %s --function=gathered --target=cpu:generic --input=q=1x1x2x1xf32=1,1 --input=k=1x1x2x1xf32=1,0.25 \
// RUN:   --input=v=1x1x2x1xf32=1,0 --input=x=1x2xbf16=0.5,-0.5 --expect=1x1x2x1xf32=0.5621765,0.5 | FileCheck %s

func.func @main(%q: tensor<1x1x1x1xf32>, %k: tensor<1x1x2x1xf32>, %v: tensor<1x1x2x1xf32>, %x: tensor<2xbf16>)
    -> tensor<1x1x1x1xf32> {
  %o = attn.softmax %q, %k, %v
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %n = tensor.extract %x[%j] : tensor<2xbf16>
        %w = arith.extf %n : bf16 to f32
        %m = arith.maximumf %s, %w : f32
        %zero = arith.subf %s, %s : f32
        %t = arith.minimumf %m, %zero : f32
        attn.yield %t : f32
      }
      : (tensor<1x1x1x1xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>) -> tensor<1x1x1x1xf32>
  return %o : tensor<1x1x1x1xf32>
}

func.func @gathered(%q: tensor<1x1x?x1xf32>, %k: tensor<1x1x?x1xf32>, %v: tensor<1x1x?x1xf32>, %x: tensor<1x?xbf16>)
    -> tensor<1x1x?x1xf32> {
  %o = attn.softmax %q, %k, %v align(top_left)
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %d = arith.subi %i, %j : index
        %n = tensor.extract %x[%d, %i] : tensor<1x?xbf16>
        %w = arith.extf %n : bf16 to f32
        %t = arith.minnumf %s, %w : f32
        attn.yield %t : f32
      }
      : (tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32>) -> tensor<1x1x?x1xf32>
  return %o : tensor<1x1x?x1xf32>
}
