// How many threads a call has that names none: what OMP_NUM_THREADS says, or one
// per CPU that the process may run on. The peak is measured with as many.

// DEFINE: %{one-cpu} = %python -c "import os, sys; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); os.execvp(sys.argv[1], sys.argv[1:])"

// RUN: env OMP_NUM_THREADS=1 attn-run %s --benchmark=1 | FileCheck %s --check-prefix=ONE
// RUN: env OMP_NUM_THREADS=3 attn-run %s --benchmark=1 | FileCheck %s --check-prefix=THREE
// RUN: env OMP_NUM_THREADS=3 attn-run %s --benchmark=1 --threads=2 | FileCheck %s --check-prefix=TWO
// RUN: env OMP_THREAD_LIMIT=2 attn-run %s --benchmark=1 --threads=5 | FileCheck %s --check-prefix=TWO
// RUN: %{one-cpu} %bin/attn-run %s --benchmark=1 2>&1 | FileCheck %s --check-prefix=ALONE

// More than there are is what was asked for, and said.
// RUN: %{one-cpu} %bin/attn-run %s --benchmark=1 --threads=3 2>&1 | FileCheck %s --check-prefixes=MANY,THREE
// RUN: %{one-cpu} %bin/attn-run %s --threads=3 2>&1 | FileCheck %s --check-prefix=SILENT

// RUN: printf 'case x dtype=f32 H=1 S=8 D=8\n' > %t.case
// RUN: env OMP_NUM_THREADS=3 attn-bench --serve < %t.case | FileCheck %s --check-prefix=THREE
// RUN: env OMP_NUM_THREADS=3 attn-bench --serve --threads=2 < %t.case | FileCheck %s --check-prefix=TWO
// RUN: %{one-cpu} %bin/attn-bench --serve < %t.case 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: %{one-cpu} %bin/attn-bench --serve --threads=3 < %t.case 2>&1 | FileCheck %s --check-prefixes=CASE,THREE

// MANY: attn-run: warning: 3 threads, but this process may run on 1 CPUs
// CASE: attn-bench: warning: x: 3 threads, but this process may run on 1 CPUs
// ALONE-NOT: warning
// ONE: "threads": 1,
// ALONE: "threads": 1,
// TWO: "threads": 2,
// THREE: "threads": 3,
// SILENT-NOT: warning

func.func @main(%q: tensor<1x8x64x16xf32>) -> tensor<1x8x64x16xf32> {
  %o = attn.softmax %q, %q, %q : (tensor<1x8x64x16xf32>, tensor<1x8x64x16xf32>, tensor<1x8x64x16xf32>) -> tensor<1x8x64x16xf32>
  return %o : tensor<1x8x64x16xf32>
}
