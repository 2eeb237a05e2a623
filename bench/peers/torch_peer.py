# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's scaled_dot_product_attention and its compiled flex_attention."""

import torch
from torch.nn import functional
from torch.nn.attention import flex_attention

from problem import Unsupported, load_array


def load(problem):
    torch.set_num_threads(problem["threads"])
    tensors = []
    for name in "qkv":
        tensor = torch.from_numpy(load_array(problem, name))
        if problem["dtype"] == "bf16":
            tensor = tensor.view(torch.bfloat16)
        tensors.append(tensor)
    return tensors


def to_array(output):
    return output.float().numpy()


def keep_rule(problem):
    """Which keys a query sees, or None for all. The last query stands at the
    last key, so that a single causal query sees everything."""
    causal, window = problem["causal"], problem["window"]
    shift = problem["keys"] - problem["queries"]
    if window and window < problem["keys"]:
        return lambda b, h, i, j: (j <= i + shift) & (j > i + shift - window)
    if (causal or window) and problem["queries"] > 1:
        return lambda b, h, i, j: j <= i + shift
    return None


def prepare_sdpa(problem):
    if problem["softcap"]:
        raise Unsupported("no softcap")
    q, k, v = load(problem)
    options = {"enable_gqa": problem["query_heads"] != problem["key_heads"]}
    keep = keep_rule(problem)
    variant = "full"
    if keep and not problem["window"] and problem["queries"] == problem["keys"]:
        options["is_causal"] = True
        variant = "is_causal"
    elif keep:
        rows = torch.arange(problem["queries"])[:, None]
        columns = torch.arange(problem["keys"])[None, :]
        options["attn_mask"] = keep(0, 0, rows, columns)
        variant = "attn_mask"

    def call():
        with torch.no_grad():
            return functional.scaled_dot_product_attention(q, k, v, **options)
    return call, to_array, variant


def prepare_flex(problem):
    q, k, v = load(problem)
    options = {"enable_gqa": problem["query_heads"] != problem["key_heads"]}
    keep = keep_rule(problem)
    variant = []
    if keep:
        options["block_mask"] = flex_attention.create_block_mask(
            keep, None, None, problem["queries"], problem["keys"],
            device="cpu")
        variant.append("block_mask")
    if problem["softcap"]:
        cap = problem["softcap"]
        options["score_mod"] = (
            lambda score, b, h, i, j: cap * torch.tanh(score / cap))
        variant.append("score_mod")
    # What was compiled for other cases would make this one dynamic.
    torch.compiler.reset()
    compiled = torch.compile(flex_attention.flex_attention, dynamic=False,
                             fullgraph=True)

    def call():
        with torch.no_grad():
            return compiled(q, k, v, **options)
    return call, to_array, " ".join(variant) or "full"
