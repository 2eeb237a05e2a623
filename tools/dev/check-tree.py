#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks what the layout of the source tree promises.

Prints one line per fault and exits 1 if there is any:
- one pass per file, passes/STAGE/ThePass.cpp, with its record in STAGE.td, its
  flag in the same words, and test/passes/STAGE/the-pass.mlir beside it;
- of runtime/ only the compiler includes LLVM, MLIR and the layers below it;
- lower layers don't include higher ones;
- every source file has its licence line, is at most LINE_LIMIT lines long, and
  holds no left-over marker;
- C++ files are formatted by clang-format 22, where that is installed.
"""

import pathlib
import re
import shutil
import subprocess
import sys

LINE_LIMIT = 450
TD_LINE_LIMIT = 600
# Longer files, each with the reason.
LONG_FILES = {}

SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
SOURCE_SUFFIXES = {".cpp", ".h", ".td", ".py", ".sh"}
# In pieces, so that this file passes its own check.
MARKERS = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"]) + r")\b")
PASS_MACRO = re.compile(r"#define GEN_PASS_DEF_(\w+)")
PASS_RECORD = re.compile(
    r"def\s+(\w+)\s*:\s*(?:Interface)?Pass<\s*\"([^\"]+)\"", re.S)
INCLUDE = re.compile(r"^\s*#include\s+[\"<]([^\">]+)[\">]", re.M)
# What each folder must not include.
LAYERS = {
    "dialect": ("passes/", "runtime/compile/", "tools/"),
    "passes": ("runtime/compile/", "runtime/Engine", "tools/"),
    "runtime": ("tools/",),
}
TWINS = ("-invalid", "-refuse")


def kebab(name):
    """ConvertToLaneForm -> convert-to-lane-form, LowerToLLVM -> lower-to-llvm"""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", name)
    return "-".join(words).lower()


def tracked_files(root):
    listing = None
    if shutil.which("git"):
        listing = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"], capture_output=True, check=False)
    if listing and listing.returncode == 0:
        names = listing.stdout.decode().split("\0")
    else:
        # Without git, or an index, the whole folder counts.
        names = [str(path.relative_to(root)) for path in root.rglob("*")
                 if not re.match(r"build|\.git$",
                                 path.relative_to(root).parts[0])]
    return sorted(root / name for name in set(names)
                  if name and (root / name).is_file())


def check_passes(root, faults):
    flags = {record: (flag, path.relative_to(root))
             for path in sorted(root.glob("passes/**/*.td"))
             for record, flag in PASS_RECORD.findall(path.read_text())}
    macros = {}
    stages = sorted({path.parent for path in root.glob("passes/*/*.cpp")})
    for path in sorted(root.glob("passes/*/*.cpp")):
        names = PASS_MACRO.findall(path.read_text())
        if not names:
            continue
        where = path.relative_to(root)
        if len(names) > 1:
            faults.append(f"{where}: defines {len(names)} passes, expected one")
        expected = path.stem.upper()
        for name in names:
            macros[name] = path
            if name.replace("PASS", "") != expected.replace("PASS", ""):
                faults.append(f"{where}: defines pass {name}, expected the "
                              f"name of the file")
        test = root / "test/passes" / path.parent.name / (
            kebab(path.stem) + ".mlir")
        if not test.is_file():
            faults.append(f"{where}: no test {test.relative_to(root)}")
    for record, (flag, table) in flags.items():
        if record.upper() not in macros:
            faults.append(f"{table}: {record} has no file of its name")
        expected = "attn-" + kebab(record.removesuffix("Pass"))
        if flag != expected:
            faults.append(f"{table}: flag of {record}: expected "
                          f"{expected}, got {flag}")
    tests_root = root / "test/passes"
    known = {(path.parent.name, kebab(path.stem)) for path in macros.values()}
    for path in sorted(tests_root.glob("**/*.mlir")):
        stem = path.stem
        for twin in TWINS:
            stem = stem.removesuffix(twin)
        if (path.parent.name, stem) not in known:
            faults.append(f"{path.relative_to(root)}: no pass of this name in "
                          f"passes/{path.parent.name}")
    if not stages:
        faults.append("passes: no stage found")


def check_includes(root, files, faults):
    for path in files:
        if path.suffix not in (".h", ".cpp"):
            continue
        where = path.relative_to(root)
        includes = INCLUDE.findall(path.read_text())
        for name in includes:
            if name.startswith(LAYERS.get(where.parts[0], ())):
                faults.append(f"{where}: includes {name} of a higher layer")
        # Opening LLVM takes longer than loading code from the cache.
        if where.parts[0] == "runtime" and where.parts[1] != "compile":
            for name in includes:
                if name.startswith(("llvm/", "mlir/", "llvm-c/", "mlir-c/",
                                    "dialect/", "passes/", "runtime/compile/")):
                    faults.append(f"{where}: includes {name} outside of the "
                                  f"compiler")


def check_text(root, files, faults):
    for path in files:
        where = path.relative_to(root)
        script = path.suffix == "" and where.parts[0] in ("dev", ".ci")
        if path.suffix not in SOURCE_SUFFIXES and not script:
            continue
        text = path.read_text()
        lines = text.splitlines()
        if SPDX not in "\n".join(lines[:3]):
            faults.append(f"{where}: no licence line at the top")
        limit = TD_LINE_LIMIT if path.suffix == ".td" else LINE_LIMIT
        if len(lines) > limit and str(where) not in LONG_FILES:
            faults.append(f"{where}: expected at most {limit} lines, got "
                          f"{len(lines)}")
        for number, line in enumerate(lines, 1):
            marker = MARKERS.search(line)
            if marker:
                faults.append(f"{where}:{number}: left-over {marker[0]}")
            if line != line.rstrip() or "\t" in line:
                faults.append(f"{where}:{number}: tab or trailing blank")
    for name in LONG_FILES:
        if not (root / name).is_file():
            faults.append(f"{name}: listed as long, but not there")


def check_format(root, files, faults):
    formatter = shutil.which("clang-format-22")
    if not formatter:
        return
    sources = [path for path in files if path.suffix in (".cpp", ".h")]
    result = subprocess.run(
        [formatter, "--dry-run", *map(str, sources)],
        cwd=root, capture_output=True, text=True, check=False)
    bad = sorted(set(re.findall(r"^(.+?):\d+:\d+: warning", result.stderr, re.M)))
    for name in bad:
        where = pathlib.Path(name).relative_to(root)
        faults.append(f"{where}: not formatted, run ./dev format")
    if result.returncode and not bad:
        faults.append(f"clang-format failed: {result.stderr.strip()}")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                        pathlib.Path(__file__).parents[2]).resolve()
    files = tracked_files(root)
    faults = []
    check_passes(root, faults)
    check_includes(root, files, faults)
    check_text(root, files, faults)
    check_format(root, files, faults)
    for fault in faults:
        print(fault)
    print(f"{len(files)} files, {len(faults)} faults")
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())
