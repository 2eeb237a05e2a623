#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replaces bytes of a file, once: replace.py OLD_HEX NEW_HEX FILE"""

import pathlib
import sys

old, new = (bytes.fromhex(text) for text in sys.argv[1:3])
path = pathlib.Path(sys.argv[3])
data = path.read_bytes()
assert data.count(old) == 1, data.count(old)
path.write_bytes(data.replace(old, new))
