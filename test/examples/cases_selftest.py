#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cases_test.py accepts a true table and refuses each kind of false one."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cases_test import check

TESTS = {"p-test": {"A01_A02_Both", "A03_Own", "Other"}, "q-test": {"A03_More"}}
TRUE = """## Reported faults

| id | reported as | what | tests |
|---|---|---|---|
| A01 | x | y | `p-test:A01_A02_Both` |
| A02 | x | y | `p-test:A01_A02_Both` |
| A03 | x | y | `p-test:A03_Own`, `q-test:A03_More` |

There is no test of A04
to A53, nor of A54.

## Next
"""
FALSE = {
    "no section": ("## Reported faults", "## Faults"),
    "missing number": ("A04\n", "A05\n"),
    "number twice": ("A04\n", "A03\n"),
    "row twice": ("| A03 |", "| A02 |"),
    "missing test": ("p-test:A03_Own", "p-test:A03_Gone"),
    "missing program": ("q-test:A03_More", "r-test:A03_More"),
    "other number": ("`q-test:A03_More`", "`p-test:A01_A02_Both`"),
    "no test": ("`p-test:A03_Own`, `q-test:A03_More`", "none"),
    "no row": ("`p-test:A03_Own`, ", ""),
}


def main():
    failed = 0
    for name, change in {"true": ("", ""), **FALSE}.items():
        text = TRUE.replace(*change) if change[0] else TRUE
        faults = list(check(text, lambda program: TESTS.get(program, set())))
        if bool(faults) != (name != "true"):
            print(f"{name}: got {faults}")
            failed += 1
    print(f"{len(FALSE) + 1} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
