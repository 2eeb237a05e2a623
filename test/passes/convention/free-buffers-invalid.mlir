// RUN: attn-opt %s --attn-free-buffers --verify-diagnostics

func.func @allocates_in_a_loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{expected an allocation in the entry block}}
    %buffer = memref.alloc() : memref<8xf32>
  }
  return
}
