# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Causal linear attention in PyTorch the usual way: in chunks, of which the
pairs inside are a masked product and everything before is a state.

For the chunk n of rows Q, K and V, with the state S of what came before it:

    O_n = (Q_n K_n^T, below the diagonal) V_n + Q_n S_n
    S_n+1 = S_n + K_n^T V_n

and, where a head forgets a factor exp(g) per token, powers of it in front of
each term. Products are those of whole stacks of chunks, a scan over chunks is
all that is left to do in order. One token at a time is the recurrence itself.
"""

import math
import time

import torch

from problem import Unsupported, load_array

CHUNK = 64
TRIALS = 3


def load(problem):
    torch.set_num_threads(problem["threads"])
    tensors = []
    for name in "qkv":
        tensor = torch.from_numpy(load_array(problem, name))
        if problem["dtype"] == "bf16":
            tensor = tensor.view(torch.bfloat16)
        tensors.append(tensor)
    return tensors


def load_f32(problem, name):
    return torch.from_numpy(load_array({**problem, "dtype": "f32"}, name))


def split(tensor):
    """(B, H, S, D) as (B, H, S / C, C, D)."""
    batch, heads, length, dim = tensor.shape
    return tensor.view(batch, heads, length // CHUNK, CHUNK, dim)


def chunk(q, k, v, scale, inner):
    """`inner` is the type of the products; sums of states are of f32."""
    length = q.shape[2]
    q, k, v = (split(x.to(inner)) for x in (q * scale, k, v))
    states = (k.transpose(-1, -2) @ v).float()
    states = states.cumsum(2) - states
    pairs = (q @ k.transpose(-1, -2)).tril()
    out = pairs @ v + q @ states.to(inner)
    return out.view(out.shape[0], out.shape[1], length, -1)


def chunk_with_decay(q, k, v, decay, scale, inner):
    """`decay` is g, one per head."""
    length = q.shape[2]
    q, k, v = (split(x.to(inner)) for x in (q * scale, k, v))
    steps = torch.arange(CHUNK, dtype=torch.float32)
    g = decay.view(1, -1, 1, 1, 1)
    # What is left of a token of its own chunk, at the chunk's end, and of the
    # state before the chunk.
    gap = steps[:, None] - steps[None, :]
    within = torch.where(gap >= 0, torch.exp(g * gap.clamp(min=0)), 0.0)
    to_end = torch.exp(g * (CHUNK - 1 - steps)[:, None])
    from_start = torch.exp(g * (steps + 1)[:, None])
    added = ((k * to_end.to(inner)).transpose(-1, -2) @ v).float()
    kept = torch.exp(g[:, :, 0] * CHUNK)
    states = torch.empty_like(added)
    state = torch.zeros_like(added[:, :, 0])
    for n in range(added.shape[2]):
        states[:, :, n] = state
        state = torch.addcmul(added[:, :, n], state, kept)
    pairs = (q @ k.transpose(-1, -2)) * within.to(inner)
    out = pairs @ v + (q * from_start.to(inner)) @ states.to(inner)
    return out.view(out.shape[0], out.shape[1], length, -1)


def step(q, k, v, state, factor, scale):
    """One token: its output, and the state with it."""
    state = state * factor + k.transpose(-1, -2).float() * v.float()
    return ((q.float() * scale) @ state).to(q.dtype), state


def factor_of(problem):
    """exp(g), to be broadcast over the states of one token."""
    kind = problem["decay"]
    if not kind:
        return torch.ones(1, 1, 1, 1)
    factor = torch.exp(load_f32(problem, "decay"))
    if kind == "head":
        return factor.view(1, -1, 1, 1)
    return factor.view(*factor.shape[:2], -1, 1)


def choices(problem):
    """Functions that compute the case, with their arguments by name."""
    if problem["op"] != "linear" or not problem["causal"]:
        raise Unsupported("causal linear attention only")
    if problem["query_heads"] != problem["key_heads"]:
        raise Unsupported("no grouped heads")
    q, k, v = load(problem)
    scale = 1 / math.sqrt(problem["key_dim"])
    if problem["queries"] == 1 and problem["state"]:
        arguments = (q, k, v, load_f32(problem, "state"), factor_of(problem),
                     scale)
        return {"step": (step, arguments)}
    if problem["state"]:
        raise Unsupported("a state with one token only")
    if problem["queries"] % CHUNK:
        raise Unsupported(f"whole chunks of {CHUNK} only")
    if problem["decay"] not in ("", "head"):
        raise Unsupported(f"no decay per {problem['decay']}")
    decay = [load_f32(problem, "decay")] if problem["decay"] else []
    function = chunk_with_decay if decay else chunk
    inner = {torch.float32, q.dtype}
    return {f"{function.__name__} in {str(kind).removeprefix('torch.')}":
            (function, (q, k, v, *decay, scale, kind)) for kind in inner}


def prepare(problem, is_compiled):
    """The fastest of the choices, eager or compiled."""
    best = None
    for name, (function, arguments) in choices(problem).items():
        # What was compiled for other cases would make this one dynamic.
        torch.compiler.reset()
        compiled = (torch.compile(function, dynamic=False, fullgraph=True)
                    if is_compiled else function)

        def call(compiled=compiled, arguments=arguments):
            with torch.no_grad():
                return compiled(*arguments)
        call()
        seconds = []
        for _ in range(TRIALS):
            start = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - start)
        if best is None or min(seconds) < best[0]:
            best = min(seconds), call, name
    _, call, name = best

    def to_array(result):
        output = result[0] if isinstance(result, tuple) else result
        return output.float().numpy()
    return call, to_array, name


def prepare_eager(problem):
    return prepare(problem, is_compiled=False)


def prepare_compiled(problem):
    return prepare(problem, is_compiled=True)
