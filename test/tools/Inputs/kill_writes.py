# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills attn-run at random moments while it writes a result and an entry of the
cache. usage: kill_writes.py FOLDER KILLS

After each kill the result is the file of before or the new one, whole, and a
run with the same cache gives the right result."""

import os
import random
import shutil
import subprocess
import sys
import time

folder, kills = sys.argv[1], int(sys.argv[2])
source = os.path.join(folder, "add.mlir")
cache = os.path.join(folder, "cache")
output = os.path.join(folder, "o.npy")
with open(source, "w") as file:
    file.write(
        """#row = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel", "parallel"]}
      outs(%x : tensor<?x?xf32>) {
  ^bb0(%e: f32):
    %d = arith.addf %e, %e : f32
    linalg.yield %d : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
"""
    )


def command(seed, to):
    return ["attn-run", source, "--input=2000x1500xf32", f"--seed={seed}",
            f"--cache-dir={cache}", f"--output=@{to}"]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def run(seed, to):
    subprocess.run(command(seed, to), check=True, stdout=subprocess.DEVNULL)
    return read(to)


first = run(1, output)
shutil.rmtree(cache)
start = time.time()
second = run(2, os.path.join(folder, "second.npy"))
seconds = time.time() - start
if first == second:
    sys.exit("expected results that differ")

random.seed(0)
written = 0
for _ in range(kills):
    shutil.rmtree(cache, ignore_errors=True)
    shutil.copy(os.path.join(folder, "second.npy"), output)
    process = subprocess.Popen(command(1, output), stdout=subprocess.DEVNULL)
    time.sleep(random.uniform(0, 1.2 * seconds))
    process.kill()
    process.wait()
    found = read(output)
    if found not in (first, second):
        sys.exit(f"{output}: neither the file of before nor the new one")
    written += found == first
    if run(2, os.path.join(folder, "after.npy")) != second:
        sys.exit("a wrong result after a kill")
print(f"{kills} kills, {written} results written, all whole")
