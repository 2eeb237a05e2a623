#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the table of reported faults.

    cases_test.py DOCUMENT.md BIN_DIR

The document numbers faults A01, A02 ... A54. Each number is in one row of the
table or in the paragraph behind it that says what there is no test of. A row
names its tests as `program:Name`: the program lists a test of that name, and the
name starts with the number. No program of the table has a numbered test that the
table lacks.
"""

import pathlib
import re
import subprocess
import sys

COUNT = 54
SECTION = re.compile(r"^## Reported faults\n(.*?)(?=^## |\Z)", re.M | re.S)
ROW = re.compile(r"^\| (A\d\d) \|.*\| ([^|]+) \|$", re.M)
TEST = re.compile(r"`([\w-]+):(\w+)`")
NUMBERS = re.compile(r"\bA(\d\d)(?:\s+to\s+A(\d\d))?\b")


def list_tests(program):
    """The names of the tests of a GoogleTest program, without parameters."""
    listing = subprocess.run(
        [program, "--gtest_list_tests"], capture_output=True, text=True,
        check=True).stdout
    return {line.split("#")[0].strip().split("/")[0]
            for line in listing.splitlines() if line.startswith("  ")}


def numbers_in(name):
    """A22_A24_Refused -> A22, A24"""
    return re.match(r"(?:A\d\d_)*", name)[0].split("_")[:-1]


def check_rows(rows, tests_of):
    """Faults of the rows; `tests_of` maps a program to its tests."""
    named = set()
    for number, tests in rows:
        if not TEST.search(tests):
            yield f"{number}: expected `program:Name`, got {tests}"
        for program, name in TEST.findall(tests):
            named.add((program, name))
            if name not in tests_of(program):
                yield f"{number}: {program} has no test {name}"
            if number not in numbers_in(name):
                yield f"{number}: expected a test of that number, got {name}"
    for program in sorted({program for program, _ in named}):
        for name in sorted(tests_of(program)):
            if numbers_in(name) and (program, name) not in named:
                yield f"{program}:{name} is in no row"


def check_numbers(rows, rest):
    untested = set()
    for first, last in NUMBERS.findall(rest):
        untested.update(range(int(first), int(last or first) + 1))
    for number in range(1, COUNT + 1):
        name = f"A{number:02}"
        times = [row for row, _ in rows].count(name) + (number in untested)
        if times != 1:
            yield f"{name}: expected once, got {times} times"


def check(text, tests_of):
    section = SECTION.search(text)
    if not section:
        yield "no section 'Reported faults'"
        return
    rows = ROW.findall(section[1])
    rest = "\n".join(line for line in section[1].splitlines()
                     if not line.startswith("|"))
    yield from check_rows(rows, tests_of)
    yield from check_numbers(rows, rest)


def main():
    document, folder = map(pathlib.Path, sys.argv[1:3])
    known = {}

    def tests_of(program):
        if program not in known:
            path = folder / program
            known[program] = list_tests(path) if path.is_file() else set()
        return known[program]

    faults = list(check(document.read_text(), tests_of))
    for fault in faults:
        print(fault)
    print(f"{document.name}: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
