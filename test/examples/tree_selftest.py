#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tools/dev/check-tree.py accepts a good tree and names each kind of fault."""

import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).parents[2] / "tools/dev/check-tree.py"
SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
GOOD = {
    "passes/tile/Tile.td": f'// {SPDX}\ndef TileQuery : Pass<"attn-tile-query"> {{'
                        "\n}\n",
    "passes/tile/TileQuery.cpp": f"// {SPDX}\n#define GEN_PASS_DEF_TILEQUERY\n",
    "test/passes/tile/tile-query.mlir": "",
    "test/passes/tile/tile-query-invalid.mlir": "",
    "runtime/Engine.h": f'// {SPDX}\n#include "runtime/Tensor.h"\n',
    "runtime/compile/Compiler.cpp":
        f'// {SPDX}\n#include "llvm/ADT/StringRef.h"\n',
}
# The file to change, its new text (None removes it), and words of the fault.
BAD = [
    ("test/passes/tile/tile-query.mlir", None, "no test"),
    ("test/passes/cpu/tile-query.mlir", "", "no pass of this name"),
    ("test/passes/tile/other-invalid.mlir", "", "no pass of this name"),
    ("passes/tile/TileQuery.cpp",
     f"// {SPDX}\n#define GEN_PASS_DEF_TILEKEYS\n", "name of the file"),
    ("passes/tile/TileQuery.cpp",
     f"// {SPDX}\n#define GEN_PASS_DEF_TILEQUERY\n"
     "#define GEN_PASS_DEF_TILEKEYS\n", "expected one"),
    ("passes/tile/Tile.td",
     f'// {SPDX}\ndef TileQuery : Pass<"attn-tile-queries"> {{\n}}\n',
     "expected attn-tile-query"),
    ("passes/tile/Tile.td",
     GOOD["passes/tile/Tile.td"] + 'def Gone : Pass<"attn-gone"> {\n}\n',
     "no file of its name"),
    ("runtime/Engine.h",
     f'// {SPDX}\n#include "llvm/ADT/StringRef.h"\n', "outside of the compiler"),
    ("runtime/code/Loader.cpp",
     f'// {SPDX}\n#include "runtime/compile/Compiler.h"\n',
     "outside of the compiler"),
    ("dialect/Attn.h", f'// {SPDX}\n#include "passes/Passes.h"\n',
     "higher layer"),
    ("runtime/Engine.h", "int a;\n", "no licence line"),
    ("runtime/Engine.h", f"// {SPDX}\n// TO" + "DO\n", "left-over"),
    ("runtime/Engine.h", f"// {SPDX}\n" + "int a;\n" * 500, "at most"),
    ("runtime/Engine.h", f"// {SPDX}\nint a; \n", "trailing blank"),
]


def check(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        run = subprocess.run([sys.executable, "-B", SCRIPT, folder],
                             capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr


def main():
    failed = 0
    status, output = check(GOOD)
    if status:
        print(f"the good tree: {output}")
        failed += 1
    for name, text, words in BAD:
        files = dict(GOOD)
        if text is None:
            del files[name]
        else:
            files[name] = text
        status, output = check(files)
        if status != 1 or words not in output:
            print(f"{name}: expected '{words}', got {output}")
            failed += 1
    print(f"{len(BAD) + 1} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
