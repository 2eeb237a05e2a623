# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that code is compiled in bounded time and memory, whatever sizes it has.

usage: sizes.py ATTN_RUN FOLDER

Each row of the table is a program with a size that somebody may write. For the
CPU and for the reference device it is compiled in a few seconds of processor
time and 500 MB of memory, or refused with the row's message.
"""

import os
import subprocess
import sys

SECONDS = 5
MEGABYTES = 500


def tensor(*sizes, element="f32"):
    return "tensor<" + "".join(f"{size}x" for size in sizes) + element + ">"


def function(arguments, result, body):
    names = ", ".join(f"%{name}: {type_}" for name, type_ in arguments.items())
    return f"func.func @main({names}) -> {result} {{\n  {body}\n  return %o : {result}\n}}\n"


def attend(op, clauses="", b=1, h=1, hkv=None, s="?", skv=None, dk=16, dv=4,
           element="f32"):
    hkv, skv = hkv or h, skv or s
    q = tensor(b, h, s, dk, element=element)
    k = tensor(b, hkv, skv, dk, element=element)
    v = tensor(b, hkv, skv, dv, element=element)
    o = tensor(b, h, s, dv, element=element)
    body = f"%o = attn.{op} %q, %k, %v {clauses} : ({q}, {k}, {v}) -> {o}"
    return function({"q": q, "k": k, "v": v}, o, body)


def favor(features, kind="positive"):
    rows, w = tensor(1, 1, 5, 16), tensor(features, 16)
    body = (f"%o = attn.favor %q, %q, %q, %w kind({kind}) causal "
            f": ({rows}, {rows}, {rows}, {w}) -> {rows}")
    return function({"q": rows, "w": w}, rows, body)


def random_features(rows, dim, orthogonal=""):
    type_ = tensor(rows, dim)
    return function({}, type_,
                    f"%o = attn.random_features seed(7) {orthogonal} : {type_}")


def constant(*sizes):
    type_ = tensor(*sizes)
    return function({}, type_, f"%o = arith.constant dense<2.0> : {type_}")


def matmul(rows, depth, columns):
    a, b, c = tensor(rows, depth), tensor(depth, columns), tensor(rows, columns)
    body = f"%o = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}"
    return function({"a": a, "b": b, "c": c}, c, body)


def bigbird(random):
    mask = (f"#attn.bigbird<block = 64, window = 1, global = 1, "
            f"random = {random}, blocks = 65536, seed = 7>")
    return attend("softmax", f"align(top_left) mask({mask})")


def window(left):
    return attend("softmax",
                  f"align(top_left) mask(#attn.window<left = {left}>)")


def list_of_masks(count):
    masks = ", ".join(f"#attn.window<left = {n}>" for n in range(count))
    return attend("softmax", f"align(top_left) mask({masks})")


def segments(count):
    return attend("linear", f"causal {{attn.segments = {count}}}")


LONG, LONGEST = 10**9, 2**63 - 1

# name, program, part of the message it is refused with, or None
TABLE = [
    ("taylor2 64", attend("linear", "feature(#attn.taylor2) causal", dk=64), None),
    ("taylor2 5000", attend("linear", "feature(#attn.taylor2) causal", dk=5000), None),
    ("taylor2 65536", attend("linear", "feature(#attn.taylor2) causal", dk=65536), None),
    ("taylor2 100000", attend("linear", "feature(#attn.taylor2) causal", dk=100000),
     "query: expected a head dim of at most 65536 for #attn.taylor2, got 100000"),
    ("hedgehog", attend("linear", "feature(#attn.hedgehog) causal", dk=LONG), None),
    ("softmax_features", attend("linear", "feature(#attn.softmax_features)", dk=LONG), None),
    ("cosformer", attend("linear", "feature(#attn.cosformer) causal", dk=LONG), None),
    ("block", attend("linear", f"block({LONG}) causal"), None),
    ("longest block", attend("linear", f"block({LONGEST}) causal"), None),
    ("block of known tokens", attend("linear", f"block({LONGEST}) causal", s=40), None),
    ("segments", segments(1024), None),
    ("tokens", attend("linear", "causal", s=LONG), None),
    ("heads", attend("linear", "causal", h=LONG, s=5), None),
    ("columns", attend("linear", "causal", s=5, dv=LONG), None),
    ("features", attend("linear", "causal", s=5, dk=LONG), None),
    ("queries of a head", attend("linear", "causal", h=LONG, hkv=1, s=1), None),
    ("many features", favor(LONG), None),
    ("many waves", favor(LONG, "trigonometric"), None),
    ("W", random_features(256, 64, "orthogonal"), None),
    ("W of many entries", random_features(2**16, 64), None),
    ("W of many rows", random_features(2**18, 16), None),
    ("W of orthogonal rows", random_features(1290, 1290, "orthogonal"), None),
    ("W of too many rows", random_features(2**24, 1), "expected at most 262144 rows"),
    ("W of too many entries", random_features(4096, 4096),
     "expected at most 4194304 entries"),
    ("W of too many products", random_features(2048, 2048, "orthogonal"),
     "products for orthogonal rows"),
    ("softmax batch", attend("softmax", b=LONG, s=7), None),
    ("softmax heads", attend("softmax", h=LONG, s=7), None),
    ("softmax queries", attend("softmax", s=LONG, skv=7), None),
    ("softmax keys", attend("softmax", s=7, skv=LONG), None),
    ("softmax features", attend("softmax", s=7, dk=LONG), None),
    ("softmax columns", attend("softmax", s=7, dv=LONG), None),
    ("group", attend("gqa", h=LONG, hkv=1, s=1, skv=9), None),
    ("group of bf16", attend("gqa", h=LONG, hkv=1, s=1, skv=9, element="bf16"), None),
    ("window", window(LONGEST), None),
    ("masks", list_of_masks(300), None),
    ("random blocks", bigbird(64), None),
    ("too many random blocks", bigbird(65), "bigbird random: expected 0 to 64, got 65"),
    ("product of many rows", matmul(LONG, 8, 3), None),
    ("product of depth", matmul(3, LONG, 8), None),
    ("product of many columns", matmul(3, 8, LONG), None),
    ("constant", constant(1000, 1000), None),
    ("constant of rows", constant(1000000, 1), None),
    ("constant too large", constant(LONG), "bytes of constants"),
]


def compile_on(attn_run, device, path, output):
    """Exit status, message, seconds and megabytes."""
    command = [attn_run, path, f"--device={device}", "--emit=obj", "-o", output]
    if device == "cpu":
        command.append("--target=cpu:avx512")
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    message = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return (process.returncode, message, usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss / 1024)


def check(attn_run, folder, name, program, refusal):
    path = os.path.join(folder, "sizes.mlir")
    with open(path, "w") as file:
        file.write(program)
    for device in ("cpu", "reference"):
        code, message, seconds, megabytes = compile_on(
            attn_run, device, path, os.path.join(folder, "sizes.o"))
        where = f"{name} on {device}"
        if refusal is None and code:
            yield f"{where}: exit code {code}: {message}"
        if refusal is not None and (code != 2 or refusal not in message):
            yield f"{where}: expected '{refusal}', got {code}: {message}"
        if seconds > SECONDS or megabytes > MEGABYTES:
            yield f"{where}: took {seconds:.1f} s and {megabytes:.0f} MB"


def main():
    attn_run, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    errors = [error for row in TABLE for error in check(attn_run, folder, *row)]
    for error in errors:
        print(f"error: {error}")
    print(f"{len(TABLE)} programs")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
