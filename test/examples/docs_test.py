#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs what the documents show.

    docs_test.py SOURCE_ROOT BIN_DIR FILE.md ...

In each document:
- a ```console block holds commands ("$ ...") and the output they print. Every
  command runs from the source root, with build standing for the folder that
  BIN_DIR is in, and its output has to match: line by line, indentation apart. A line "..." stands for
  any lines, "..." in a line for any text, a measured number (with a point or an
  exponent, or before a unit of time) for any number, and a numbered value of IR
  (%12) for any such value. A command that prints something is shown with at
  least one line of it: "..." alone would fit whatever it does. The commands of
  ./dev would start the tests again from inside: of those only the existence is
  checked.
- a ```mlir or ```cpp block is a piece of a file under examples/, apart from
  indentation and blank lines, so that it is compiled there; blocks marked
  ```text or ```sh are not looked at.
- the ```diff blocks fit the tree, as tools/dev/apply_document.py would apply
  them, one after the other.
- a relative link names something that exists.
"""

import pathlib
import re
import subprocess
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools/dev"))
from apply_document import Conflict, changed_files

BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.M | re.S)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")
NUMBER = re.compile(r"\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d+(?= (?:m|u)?s\b)")
VALUE = re.compile(r"%\d+")
# The build folder, but not the end of another word or option.
BUILD = re.compile(r"(?<![\w./-])(?:\$PWD/)?build(?=[/ ])")
TIMEOUT_SECONDS = 120
SHOWN_LINES, SHOWN_COLUMNS = 40, 160


def normalise(line):
    return NUMBER.sub("#", VALUE.sub("%#", line.strip()))


def line_matches(expected, actual):
    pieces = normalise(expected).split("...")
    pattern = ".*".join(re.escape(piece) for piece in pieces)
    return re.fullmatch(pattern, normalise(actual))


def matches(expected, actual):
    """Whether the lines agree, "..." in `expected` standing for any lines."""
    # Every place in `actual` that the lines so far can have led to.
    places = {0}
    for line in expected:
        if line.strip() == "...":
            places = set(range(min(places), len(actual) + 1))
        else:
            places = {place + 1 for place in places if place < len(actual)
                      and line_matches(line, actual[place])}
        if not places:
            return False
    return len(actual) in places


def shorten(text):
    lines = text.splitlines()
    if len(lines) > SHOWN_LINES:
        lines[SHOWN_LINES:] = [f"(and {len(lines) - SHOWN_LINES} more lines)"]
    return "\n".join(line[:SHOWN_COLUMNS] for line in lines)


def split_console(text):
    """The (command, output lines) pairs of a console block."""
    pairs = []
    for line in text.splitlines():
        if line.startswith("$ "):
            pairs.append([line[2:], []])
        elif pairs and not pairs[-1][1] and pairs[-1][0].endswith("\\"):
            pairs[-1][0] = pairs[-1][0][:-1] + line.strip()
        elif pairs:
            pairs[-1][1].append(line)
    return pairs


def says_nothing(expected):
    """Whether the lines fit every output."""
    return bool(expected) and not "".join(expected).strip(" .")


def check_console(root, bin_dir, text):
    if not split_console(text):
        yield f"a console block without a command:\n{text}"
    for command, expected in split_console(text):
        if command.startswith("./dev "):
            name = command.split()[1]
            if f"  {name} " not in (root / "dev").read_text():
                yield f"{command}: ./dev has no command {name}"
            continue
        if says_nothing(expected):
            yield f"{command}: expected a line of the output, got '...' alone"
        run = subprocess.run(
            BUILD.sub(str(bin_dir.parent), command), shell=True, cwd=root,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_SECONDS,
            check=False)
        actual = run.stdout.splitlines()
        if run.returncode:
            yield f"{command}: exit status {run.returncode}:\n{shorten(run.stdout)}"
        elif not matches(expected, actual):
            yield (f"{command}: the output is not what the document shows:\n"
                   f"{shorten(run.stdout)}")


def code_lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def check_excerpt(root, text):
    piece = code_lines(text)
    for path in sorted((root / "examples").rglob("*")):
        if path.suffix not in (".mlir", ".cpp"):
            continue
        lines = code_lines(path.read_text())
        if any(lines[start:start + len(piece)] == piece
               for start in range(len(lines))):
            return
    yield f"no file under examples/ contains this block:\n{text}"


def check_document(root, bin_dir, path):
    text = path.read_text()
    for _, kind, block in BLOCK.findall(text):
        block = textwrap.dedent(block)
        if kind == "console":
            yield from check_console(root, bin_dir, block)
        elif kind in ("mlir", "cpp"):
            yield from check_excerpt(root, block)
    try:
        changed_files(root, text)
    except Conflict as conflict:
        yield str(conflict)
    for target in LINK.findall(BLOCK.sub("", text)):
        if "://" not in target and not (path.parent / target).exists():
            yield f"link to {target}, which does not exist"


def main():
    root, bin_dir = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
    documents = [pathlib.Path(name).resolve() for name in sys.argv[3:]]
    faults = 0
    for path in documents:
        for fault in check_document(root, bin_dir, path):
            print(f"{path.relative_to(root)}: {fault}")
            faults += 1
    print(f"{len(documents)} documents, {faults} faults")
    return 1 if faults or not documents else 0


if __name__ == "__main__":
    sys.exit(main())
