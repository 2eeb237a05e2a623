# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether an output is attention, softmax or linear: some rows from the
definition, in f64."""

import math

import numpy

# Bounds on the root mean square of the error over that of the row values. The
# inner type of f16 and bf16 attention differs: weights may be rounded to it.
TOLERANCES = {"f32": 1e-5, "bf16": 1e-2, "f16": 2e-3}
ROWS = 24


def widen(array):
    """f64 of an array as np.load gives it; bf16 comes as two opaque bytes."""
    if array.dtype.kind == "V":
        bits = array.view(numpy.uint16).astype(numpy.uint32) << 16
        array = bits.view(numpy.float32)
    return array.astype(numpy.float64)


def expected_row(problem, q, k, v, row):
    """Row `row` of one head; q, k and v are matrices."""
    logits = k @ q[row] / math.sqrt(q.shape[1])
    cap = problem["softcap"]
    if cap:
        logits = cap * numpy.tanh(logits / cap)
    position = row + problem["keys"] - problem["queries"]
    keys = numpy.arange(problem["keys"])
    if problem["causal"] or problem["window"]:
        logits[keys > position] = -math.inf
    if problem["window"]:
        logits[keys <= position - problem["window"]] = -math.inf
    weights = numpy.exp(logits - logits.max())
    return weights @ v / weights.sum()


def expected_linear_row(problem, q, k, v, row, decay=None, state=None):
    """Row `row` of one head of linear attention. `decay` is one number, or has
    a row for each token; `state` is what came before the first."""
    last = row + 1 if problem["causal"] else problem["keys"]
    k, v = k[:last], v[:last]
    query = q[row] / math.sqrt(q.shape[1])
    expected = 0
    if decay is not None:
        # Of a token, and maybe of its features.
        steps = numpy.atleast_1d(decay)
        steps = steps.reshape(len(steps), -1)
        steps = steps[:last] if decay.ndim else steps.repeat(last, axis=0)
        sums = numpy.cumsum(steps, axis=0)
        k = k * numpy.exp(sums[-1] - sums)
        if state is not None:
            state = state * numpy.exp(sums[-1])[:, None]
    if state is not None:
        expected = query @ state
    return expected + (k @ query) @ v


def relative_error(problem, tensors, outputs, clauses=None):
    """The relative error of each of `outputs` (name to B x H x S x D array) in
    rows spread over the first and the last head. `clauses` are the arrays
    beside q, k and v of linear attention."""
    q, k, v = tensors
    rows = sorted({round(r) for r in numpy.linspace(
        0, problem["queries"] - 1, min(ROWS, problem["queries"]))})
    group = problem["query_heads"] // problem["key_heads"]
    squares, errors = 0.0, dict.fromkeys(outputs, 0.0)
    last = (problem["batch"] - 1, problem["query_heads"] - 1)
    for b, h in {(0, 0), last}:
        head = h // group
        matrices = (widen(q[b, h]), widen(k[b, head]), widen(v[b, head]))
        extra = {name: widen(array[head] if array.ndim == 1
                             else array[b, head])
                 for name, array in (clauses or {}).items()}
        for row in rows:
            if problem.get("op") == "linear":
                expected = expected_linear_row(problem, *matrices, row,
                                               **extra)
            else:
                expected = expected_row(problem, *matrices, row)
            squares += float(expected @ expected)
            for name, output in outputs.items():
                difference = widen(output[b, h, row]) - expected
                errors[name] += float(difference @ difference)
    return {name: math.sqrt(error / squares) for name, error in errors.items()}
