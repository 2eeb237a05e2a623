// RUN: attn-opt %s --attn-call-open-mp --verify-diagnostics

// expected-error @below {{redefinition of function 'omp_get_max_threads' of different type}}
llvm.func @omp_get_max_threads() -> i64

func.func @asks() -> index {
  %a = attn.num_workers
  return %a : index
}
