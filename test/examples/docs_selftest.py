#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs_test.py accepts a true document and refuses each kind of false one."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from docs_test import check_document

FENCE = "```"
TRUE = {
    "command": f"{FENCE}console\n$ echo one; echo 0.25 s; echo 7 ms\none\n"
               f"0.5 s\n12 ms\n{FENCE}\n",
    "skipped lines": f"{FENCE}console\n$ seq 5\n1\n...\n4\n5\n{FENCE}\n",
    "skipped text": f"{FENCE}console\n$ echo a b c\n  a ... c\n{FENCE}\n",
    "IR": f"{FENCE}console\n$ echo '%7:2 = f %8, %x'\n%1:2 = f %2, %x\n{FENCE}\n",
    "continued command": f"{FENCE}console\n$ echo a \\\n    b\na b\n{FENCE}\n",
    "build folder": f"{FENCE}console\n$ echo --build build/x $PWD/build/x\n"
                    f"--build BUILD/x BUILD/x\n{FENCE}\n",
    "no output": f"{FENCE}console\n$ true\n{FENCE}\n",
    "excerpt": f"{FENCE}mlir\nb\n\n  c\n{FENCE}\n",
    "dev command": f"{FENCE}console\n$ ./dev test\n{FENCE}\n",
    "change": f"1. x\n\n   {FENCE}diff\n   --- examples/x.mlir\n   @@\n    a\n"
              f"   +new\n      b\n   {FENCE}\n",
    "changes of one file": f"{FENCE}diff\n--- examples/x.mlir\n@@\n a\n+d\n@@\n"
                           f"-c\n+e\n{FENCE}\n\n{FENCE}diff\n"
                           f"--- examples/x.mlir\n@@\n d\n-  b\n e\n{FENCE}\n",
    "new file": f"{FENCE}diff\n--- examples/y.mlir (new)\n@@\n+a\n+\n+b\n"
                f"{FENCE}\n",
    "link": "[x](examples/x.mlir) [y](https://example.org/y)",
}
FALSE = {
    "output": f"{FENCE}console\n$ echo one\ntwo\n{FENCE}\n",
    "missing output": f"{FENCE}console\n$ echo one\n{FENCE}\n",
    "integer": f"{FENCE}console\n$ echo 3 tiles\n4 tiles\n{FENCE}\n",
    "IR": f"{FENCE}console\n$ echo '%7 = f %x'\n%7 = f %y\n{FENCE}\n",
    "text": f"{FENCE}console\n$ echo a b c\na ... d\n{FENCE}\n",
    "indented block": f"1. x\n\n   {FENCE}console\n   $ echo 1\n   2\n"
                      f"   {FENCE}\n",
    "any output": f"{FENCE}console\n$ seq 5\n...\n{FENCE}\n",
    "any line": f"{FENCE}console\n$ echo 1\n  ... \n{FENCE}\n",
    "any output of the second command":
        f"{FENCE}console\n$ echo 1\n1\n$ seq 5\n...\n...\n{FENCE}\n",
    "no command": f"{FENCE}console\n...\n{FENCE}\n",
    "order": f"{FENCE}console\n$ seq 5\n...\n4\n3\n...\n{FENCE}\n",
    "status": f"{FENCE}console\n$ false\n{FENCE}\n",
    "excerpt": f"{FENCE}cpp\nb\nd\n{FENCE}\n",
    "dev command": f"{FENCE}console\n$ ./dev fly\n{FENCE}\n",
    "change of another line": f"{FENCE}diff\n--- examples/x.mlir\n@@\n d\n+new\n"
                              f"{FENCE}\n",
    "change of another file": f"{FENCE}diff\n--- examples/y.mlir\n@@\n a\n+new\n"
                              f"{FENCE}\n",
    "change of two places": f"{FENCE}diff\n--- examples/z.mlir\n@@\n a\n+new\n"
                            f"{FENCE}\n",
    "new file that is there": f"{FENCE}diff\n--- examples/x.mlir (new)\n@@\n+a\n"
                              f"{FENCE}\n",
    "no diff": f"{FENCE}diff\n--- examples/x.mlir\n@@\na\n{FENCE}\n",
    "link": "[x](examples/y.mlir)",
}


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "examples").mkdir()
        (root / "examples/x.mlir").write_text("a\n  b\nc\n")
        (root / "examples/z.mlir").write_text("a\na\n")
        (root / "dev").write_text("  test     run every test\n")
        for good, cases in ((True, TRUE), (False, FALSE)):
            for name, text in cases.items():
                (root / "doc.md").write_text(
                    text.replace("BUILD", str(root / "b")))
                faults = list(check_document(root, root / "b/bin",
                                             root / "doc.md"))
                if good == bool(faults):
                    print(f"{name}: expected {'no' if good else 'a'} fault, "
                          f"got {faults}")
                    failed += 1
    print(f"{len(TRUE) + len(FALSE)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
