#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares attn with other implementations of attention on this machine.

All run the same cases on the same numbers with the same number of threads,
each in a process of its own. They take turns; a figure is the median over the
turns. Every output is checked against the definition, see check.py. A peer that
can't run a case says why in the table.

  sdpa         torch.nn.functional.scaled_dot_product_attention
  flex         torch's flex_attention, compiled
  onnxruntime  the fastest of its attention operators that fit
  chunk        linear attention in chunks, written with torch's products
  chunk-compiled  the same under torch.compile
"""

import argparse
import json
import pathlib
import re
import statistics
import sys
import tempfile
import time

import numpy

import check
import report
from partner import Partner, PartnerError

# The ops that each has, as words of a case; softmax has none of its own.
PEERS = {"sdpa": "softmax", "flex": "softmax", "onnxruntime": "softmax",
         "chunk": "linear", "chunk-compiled": "linear"}
# Cases with these words are of attn alone.
OWN_WORDS = {"target", "form", "chunk", "delta", "transition", "bonus",
             "feature", "normalize", "score", "keep"}
# Threads spin for a while when their work is done: LLVM's OpenMP for 200 ms.
# Nobody should have to share the cores with those of the one before.
PAUSE_SECONDS = 0.25
TIMEOUT_SECONDS = 900
HERE = pathlib.Path(__file__).resolve().parent


def op_of(line):
    """linear, favor, or softmax, of which op=gqa is a case, too."""
    found = re.search(r"\sop=(linear|favor)\b", line)
    return found.group(1) if found else "softmax"


def read_lines(paths, pattern):
    """The lines of cases whose name matches; attn-bench parses them. Those
    that no peer could run are left out."""
    for path in paths:
        for line in path.read_text().splitlines():
            line = line.partition("#")[0].strip()
            if not line or line.startswith("["):
                continue
            name, *words = line.split()
            keys = {word.partition("=")[0] for word in words}
            if (op_of(line) in PEERS.values() and not keys & OWN_WORDS
                    and re.search(pattern, name)):
                yield line


def say(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def prepare(line, partners, folder, result):
    """Lets all prepare the case and checks what they compute; returns those
    that can take turns. None where attn can't run the case."""
    problem = partners["attn"].ask("case " + line)
    partners["attn"].ask("write " + folder)
    tensors = [numpy.load(f"{folder}/{name}.npy", mmap_mode="r")
               for name in "qkv"]
    clauses = {name: numpy.load(f"{folder}/{name}.npy", mmap_mode="r")
               for name in ("decay", "state") if problem[name]}
    outputs = {"attn": numpy.load(f"{folder}/o.npy", mmap_mode="r")}
    result["problem"] = problem
    for name, partner in partners.items():
        if name == "attn" or PEERS[name] != op_of(line):
            continue
        say(f"{result['name']}: {name} prepares")
        try:
            info = partner.ask(
                "case " + json.dumps({**problem, "folder": folder}))
            partner.ask(f"write {folder}/{name}.npy")
            outputs[name] = numpy.load(f"{folder}/{name}.npy", mmap_mode="r")
            result["variants"][name] = info["variant"]
            result["first_call_ms"][name] = info["first_call_ms"]
        except PartnerError as error:
            result["failures"][name] = str(error)
    result["errors"] = check.relative_error(problem, tensors, outputs,
                                            clauses)
    bound = check.TOLERANCES[problem["dtype"]]
    for name, error in result["errors"].items():
        # Not "error > bound": NaN must fail.
        if not error <= bound:
            result["failures"][name] = (
                f"wrong: relative error {error:.2g}, tolerance {bound:g}")
    return [name for name in outputs if name not in result["failures"]]


def measure(line, partners, runs):
    result = {"name": line.split()[0], "ms": {}, "samples": {}, "failures": {},
              "variants": {}, "first_call_ms": {}}
    with tempfile.TemporaryDirectory() as folder:
        try:
            able = prepare(line, partners, folder, result)
        except PartnerError as error:
            result["failures"]["attn"] = str(error)
            return result
        for turn in range(runs):
            # Nobody is always the one after the same other.
            for name in able[turn % len(able):] + able[:turn % len(able)]:
                if name in result["failures"]:
                    continue
                say(f"{result['name']}: turn {turn + 1} of {runs}, {name}")
                time.sleep(PAUSE_SECONDS)
                try:
                    answer = partners[name].ask("run")
                    result["samples"].setdefault(name, []).append(answer["ms"])
                except PartnerError as error:
                    result["failures"][name] = str(error)
    result["ms"] = {name: statistics.median(samples)
                    for name, samples in result["samples"].items()
                    if name not in result["failures"]}
    return result


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attn-bench", required=True, type=pathlib.Path)
    parser.add_argument("--cases", action="append", required=True,
                        type=pathlib.Path, help="a case file of attn-bench")
    parser.add_argument("--filter", default="", metavar="REGEX",
                        help="only cases whose name has a match")
    parser.add_argument("--threads", type=int, default=0,
                        help="of cases that name none; 0: what OMP_NUM_THREADS "
                        "says, or one per CPU that may be used")
    parser.add_argument("--runs", type=int, default=5, help="turns per case")
    parser.add_argument("--peers", default=",".join(PEERS),
                        help="some of " + ",".join(PEERS)
                        + "; default: those that have the op of a case")
    parser.add_argument("--json", type=pathlib.Path, help="write all samples")
    parser.add_argument("--plot", type=pathlib.Path,
                        help="write a plot of the ratios as SVG")
    options = parser.parse_args()
    options.peers = options.peers.split(",")
    for peer in options.peers:
        if peer not in PEERS:
            parser.error(f"--peers: expected some of {','.join(PEERS)}, got "
                         f"'{peer}'")
    if options.plot and options.plot.suffix not in ("", ".svg"):
        parser.error("--plot: expected a file name that ends in .svg, as "
                     f"pictures are SVG, got '{options.plot}'")
    if options.runs < 1:
        parser.error(f"--runs: expected at least 1, got {options.runs}")
    return options


def main():
    options = parse_options()
    lines = list(read_lines(options.cases, options.filter))
    if not lines:
        sys.exit("error: expected a case for peers that matches "
                 f"'{options.filter}', got none")
    partners = {"attn": Partner([options.attn_bench, "--serve",
                                 f"--threads={options.threads}"],
                                TIMEOUT_SECONDS)}
    options.peers = [peer for peer in options.peers
                     if any(op_of(line) == PEERS[peer] for line in lines)]
    for peer in options.peers:
        partners[peer] = Partner([sys.executable, "-B", HERE / "server.py",
                                  peer], TIMEOUT_SECONDS)
    width = max(len(line.split()[0]) for line in lines)
    print(report.head(width, options.peers), flush=True)
    results = []
    for line in lines:
        results.append(measure(line, partners, options.runs))
        say("")
        print(report.row(results[-1], width, options.peers), flush=True)
        if options.json:
            options.json.write_text(json.dumps(results, indent=1) + "\n")
    print(report.summary(results, options.peers))
    if options.plot:
        options.plot.write_text(report.plot(results, options.peers))
    for partner in partners.values():
        partner.close()
    wrong = [r["name"] for r in results if "attn" in r["failures"]]
    sys.exit(f"error: attn failed in {', '.join(wrong)}" if wrong else 0)


if __name__ == "__main__":
    main()
