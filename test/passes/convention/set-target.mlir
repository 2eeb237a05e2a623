// RUN: attn-opt %s --split-input-file --attn-set-target=target=cpu:avx2 | FileCheck %s
// RUN: attn-opt %s --split-input-file --attn-set-target=target=host | FileCheck %s --check-prefix=HOST
// RUN: not attn-opt %s --attn-set-target=target=cpu:z80 2>&1 | FileCheck %s --check-prefix=INVALID

// INVALID: option 'target': expected host or one of cpu:generic, cpu:avx2, cpu:avx512, cpu:avx512bf16, cpu:amx, got 'cpu:z80'

// CHECK: module @records_the_option attributes {attn.target = "cpu:avx2"}
// HOST:  module @records_the_option attributes {attn.target = "cpu:{{generic|avx2|avx512|avx512bf16|amx}}"}
module @records_the_option {
}

// -----

// The default does not overrule the target that a dump was made for.

// CHECK: module @has_a_record attributes {attn.target = "cpu:avx2"}
// HOST:  module @has_a_record attributes {attn.target = "cpu:generic"}
module @has_a_record attributes {attn.target = "cpu:generic"} {
}
