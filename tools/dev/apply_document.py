#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the changes that a document shows.

    apply_document.py DOCUMENT.md    changes the files of this tree

A ```diff block changes files: "--- FILE" starts one, "--- FILE (new)" makes one,
and after each "@@" come lines of it as in a unified diff, " " for those that are
there, "-" for those that go, "+" for those that come. The lines that are there
have to be in the file exactly once, in one piece; there are no line numbers.
"""

import pathlib
import re
import sys
import textwrap

BLOCK = re.compile(r"^( *)```diff\n(.*?)^\1```$", re.M | re.S)
FILE = re.compile(r"--- (\S+)( \(new\))?$")


class Conflict(Exception):
    """A change that does not fit the tree."""


def split_changes(text):
    """(file, is new, hunks) of a block; a hunk is a list of lines."""
    changes = []
    for line in text.splitlines():
        header = FILE.match(line)
        if header:
            changes.append((header[1], bool(header[2]), []))
        elif line == "@@":
            changes[-1][2].append([])
        elif line and line[0] not in " +-":
            raise Conflict(f"expected a line of a diff, got '{line}'")
        else:
            changes[-1][2][-1].append(line or " ")
    return changes


def find_once(lines, piece):
    places = [start for start in range(len(lines) - len(piece) + 1)
              if lines[start:start + len(piece)] == piece]
    if len(places) != 1:
        raise Conflict(f"expected this once, got it {len(places)} times:\n"
                       + "\n".join(piece))
    return places[0]


def apply_block(text, root, files):
    """Applies a block to `files`, lines by name, which are read as needed."""
    for name, is_new, hunks in split_changes(text):
        path = root / name
        if is_new == (name in files or path.exists()):
            raise Conflict(f"{name}: expected {'no' if is_new else 'a'} file")
        if name not in files:
            files[name] = [] if is_new else path.read_text().splitlines()
        for hunk in hunks:
            before = [line[1:] for line in hunk if line[0] != "+"]
            after = [line[1:] for line in hunk if line[0] != "-"]
            start = find_once(files[name], before) if before else 0
            files[name][start:start + len(before)] = after


def changed_files(root, text):
    """The files that the blocks of a document change, as lines by name."""
    files = {}
    for _, block in BLOCK.findall(text):
        apply_block(textwrap.dedent(block), root, files)
    return files


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    try:
        files = changed_files(root, pathlib.Path(sys.argv[1]).read_text())
    except Conflict as conflict:
        print(f"{sys.argv[1]}: {conflict}", file=sys.stderr)
        return 1
    for name, lines in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("\n".join(lines) + "\n")
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
