// A captured integer of more than 32 bits, whose last 32 are another number,
// makes the region compute in 64 bits, whether it is a constant or only known
// when the function is called: min(j, 2^32 + 1) is j, not min(j, 1). Row r sees
// the keys 0 to r, and the mean of the values 0, 1, 2, 3 up to r is r / 2.

// RUN: attn-run %s --function=constant --input=q=1x1x4x1xf32=0 --input=v=1x1x4x1xf32=0,1,2,3 \
// RUN:   --expect=1x1x4x1xf32=0,0.5,1,1.5 | FileCheck %s
// RUN: attn-run %s --function=scalar --input=q=1x1x4x1xf32=0 --input=v=1x1x4x1xf32=0,1,2,3 \
// RUN:   --input=n=i64=4294967297 --expect=1x1x4x1xf32=0,0.5,1,1.5 | FileCheck %s
// RUN: attn-run %s --function=index --input=q=1x1x4x1xf32=0 --input=v=1x1x4x1xf32=0,1,2,3 \
// RUN:   --input=n=index=4294967297 --expect=1x1x4x1xf32=0,0.5,1,1.5 | FileCheck %s
// RUN: attn-run %s --function=scalar --input=q=1x1x4x1xf32=0 --input=v=1x1x4x1xf32=0,1,2,3 \
// RUN:   --input=n=i64=1 --expect=1x1x4x1xf32=0,1.5,1.5,1.5 | FileCheck %s

// CHECK: ok

func.func @constant(%q: tensor<1x1x4x1xf32>, %v: tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32> {
  %o = attn.softmax %q, %q, %v align(top_left)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %n = arith.constant 4294967297 : i64
        %j64 = arith.index_cast %j : index to i64
        %i64 = arith.index_cast %i : index to i64
        %x = arith.minsi %j64, %n : i64
        %p = arith.cmpi sle, %x, %i64 : i64
        attn.yield %p : i1
      }
      : (tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32>
  return %o : tensor<1x1x4x1xf32>
}

func.func @scalar(%q: tensor<1x1x4x1xf32>, %v: tensor<1x1x4x1xf32>, %n: i64) -> tensor<1x1x4x1xf32> {
  %o = attn.softmax %q, %q, %v align(top_left)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %j64 = arith.index_cast %j : index to i64
        %i64 = arith.index_cast %i : index to i64
        %x = arith.minsi %j64, %n : i64
        %p = arith.cmpi sle, %x, %i64 : i64
        attn.yield %p : i1
      }
      : (tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32>
  return %o : tensor<1x1x4x1xf32>
}

func.func @index(%q: tensor<1x1x4x1xf32>, %v: tensor<1x1x4x1xf32>, %n: index) -> tensor<1x1x4x1xf32> {
  %o = attn.softmax %q, %q, %v align(top_left)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %x = arith.minsi %j, %n : index
        %p = arith.cmpi sle, %x, %i : index
        attn.yield %p : i1
      }
      : (tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32>
  return %o : tensor<1x1x4x1xf32>
}
