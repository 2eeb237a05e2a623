// RUN: attn-opt %s --attn-free-buffers | FileCheck %s

// CHECK-LABEL: func @frees_after_the_last_use_of_a_view
// CHECK:         %[[BUFFER:.*]] = memref.alloc
// CHECK:         %[[VIEW:.*]] = memref.subview %[[BUFFER]]
// CHECK:         memref.store %{{.*}}, %[[BUFFER]]
// CHECK-NEXT:    memref.load %[[VIEW]]
// CHECK-NEXT:    memref.dealloc %[[BUFFER]]
// CHECK-NEXT:    return
func.func @frees_after_the_last_use_of_a_view(%x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %buffer = memref.alloc() : memref<8xf32>
  %view = memref.subview %buffer[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  memref.store %x, %buffer[%c0] : memref<8xf32>
  %y = memref.load %view[%c0] : memref<4xf32, strided<[1], offset: 4>>
  return %y : f32
}

// CHECK-LABEL: func @leaves_what_is_freed
// CHECK:         memref.dealloc
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @leaves_what_is_freed() {
  %buffer = memref.alloc() : memref<8xf32>
  memref.dealloc %buffer : memref<8xf32>
  return
}
