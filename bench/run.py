#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times attention with attn-run and prints shares of this machine's peak.

usage: bench/run.py [--attn-run=PATH] [--runs=N] [--only=TEXT] [--json=FILE]

Each line is one shape: the median time, GFLOP/s counted as a full rectangle
(whatever a mask leaves out), and the share of the multiply-add peak that was
measured between the runs. Shapes of one group alternate, so that the ratios
between them hold on a machine whose speed drifts; a ratio is to the first of
its group. Asserts nothing.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import os

CAUSAL = "align(top_left) mask(#attn.causal)"
WINDOW = "align(top_left) mask(#attn.causal, #attn.window<left = 255>)"


def case(name, shape, clauses="", dtype="f32", target="host", threads=2):
    """A softmax attention of shape (B, H, S, D)."""
    b, h, s, d = shape
    tensor = f"tensor<{b}x{h}x{s}x{d}x{dtype}>"
    text = (f"func.func @main(%q: {tensor}, %k: {tensor}, %v: {tensor})"
            f" -> {tensor} {{\n"
            f"  %o = attn.softmax %q, %k, %v {clauses}"
            f" : ({tensor}, {tensor}, {tensor}) -> {tensor}\n"
            f"  return %o : {tensor}\n}}\n")
    return name, text, target, threads


GROUPS = [
    [case("f32 B1 H8 S2048 D64", (1, 8, 2048, 64)),
     case("f32 B1 H8 S2047 D64", (1, 8, 2047, 64)),
     case("f32 B1 H8 S2048 D80", (1, 8, 2048, 80)),
     case("f32 B1 H8 S2048 D128", (1, 8, 2048, 128)),
     case("bf16 B1 H8 S2048 D64", (1, 8, 2048, 64), dtype="bf16"),
     case("bf16 B1 H8 S2048 D128", (1, 8, 2048, 128), dtype="bf16")],
    [case("f32 B1 H8 S2048 D64, avx2", (1, 8, 2048, 64), target="cpu:avx2"),
     case("f32 B1 H8 S2047 D64, avx2", (1, 8, 2047, 64), target="cpu:avx2"),
     case("f32 B1 H8 S2048 D80, avx2", (1, 8, 2048, 80), target="cpu:avx2")],
    [case("f32 B1 H8 S2048 D64, generic", (1, 8, 2048, 64),
          target="cpu:generic")],
    [case("f32 B1 H4 S4096 D64, full", (1, 4, 4096, 64)),
     case("f32 B1 H4 S4096 D64, causal", (1, 4, 4096, 64), CAUSAL)],
    [case("f32 B1 H2 S8192 D64, full", (1, 2, 8192, 64)),
     case("f32 B1 H2 S8192 D64, window 256", (1, 2, 8192, 64), WINDOW)],
    [case("f32 B8 H12 S128 D32", (8, 12, 128, 32)),
     case("f32 B8 H12 S197 D64", (8, 12, 197, 64))],
]


def measure(attn_run, path, target, threads):
    command = [attn_run, path, f"--target={target}", f"--threads={threads}",
               "--benchmark=3"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"error: {' '.join(command)}\n{result.stderr}")
    return json.loads(result.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attn-run", default="build/bin/attn-run")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help="cases that contain TEXT")
    parser.add_argument("--json", help="also write every sample to FILE")
    options = parser.parse_args()

    print(f"{'case':34} {'ms':>9} {'GFLOP/s':>8} {'of peak':>8} {'ratio':>6}"
          f" {'compile ms':>10}")
    everything = []
    with tempfile.TemporaryDirectory() as folder:
        for group in GROUPS:
            group = [c for c in group if options.only in c[0]]
            samples = {c[0]: [] for c in group}
            for turn in range(options.runs):
                for name, text, target, threads in group:
                    if sys.stderr.isatty():
                        print(f"\r{turn + 1}/{options.runs} {name:40}",
                              end="", file=sys.stderr)
                    path = os.path.join(folder, "case.mlir")
                    with open(path, "w") as file:
                        file.write(text)
                    samples[name].append(
                        measure(options.attn_run, path, target, threads))
            if sys.stderr.isatty():
                print("\r" + " " * 50 + "\r", end="", file=sys.stderr)
            first = None
            for name, runs in samples.items():
                def median(key):
                    return statistics.median(key(r) for r in runs)
                ms = median(lambda r: r["median_ms"])
                first = first or ms
                share = median(lambda r: r["gflops"] / r["peak_gflops"])
                print(f"{name:34} {ms:9.3f} "
                      f"{median(lambda r: r['gflops']):8.1f} {share:8.1%}"
                      f" {ms / first:6.3f}"
                      f" {median(lambda r: r['compile_ms']):10.1f}")
                everything += [{"case": name, **run} for run in runs]
    if options.json:
        with open(options.json, "w") as file:
            json.dump(everything, file, indent=1)


if __name__ == "__main__":
    main()
