# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that attention needs no memory that grows with the product of lengths.

usage: memory.py ATTN_RUN FILE.mlir

Peak resident memory at S = 32768 less that at S = 1024, less the difference of
the operands and the result, is at most 1.5 times K and V plus 8 MB per thread.
A buffer of scores would be 4 GB.
"""

import os
import subprocess
import sys

THREADS = 2
HEAD_DIM = 64
MEGABYTE = 1 << 20


def tensor_bytes(length):
    return length * HEAD_DIM * 4


def peak_memory(attn_run, path, length):
    shape = f"1x1x{length}x{HEAD_DIM}xf32=normal(0,1)"
    command = [attn_run, path, f"--threads={THREADS}"] + [f"--input={shape}"] * 3
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"error: {command} exited with {process.returncode}")
    return usage.ru_maxrss * 1024


def main():
    attn_run, path = sys.argv[1:]
    small, large = 1024, 32768
    grown = peak_memory(attn_run, path, large) - peak_memory(attn_run, path, small)
    operands = 4 * (tensor_bytes(large) - tensor_bytes(small))
    extra = grown - operands
    limit = 1.5 * 2 * tensor_bytes(large) + 8 * MEGABYTE * THREADS
    print(f"extra {extra / MEGABYTE:.1f} MB, limit {limit / MEGABYTE:.1f} MB")
    if extra > limit:
        sys.exit("error: memory grows with more than the operands")


if __name__ == "__main__":
    main()
