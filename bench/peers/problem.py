# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all peers need of a case."""

import os

import numpy


class Unsupported(Exception):
    """The peer has no way to express such a case."""


def load_array(problem, name):
    """An array of f32 or f16, or of u16 that are bit patterns of bf16."""
    array = numpy.load(os.path.join(problem["folder"], name + ".npy"))
    return array.view(numpy.uint16) if problem["dtype"] == "bf16" else array


def short(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:200]
