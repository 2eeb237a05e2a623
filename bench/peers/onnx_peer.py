# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The attention operators of onnxruntime's CPU provider.

A case may fit several: the fastest counts. The layout of the operands is what
the operator takes and is made beforehand.
"""

import time

import numpy
import onnxruntime
from onnx import TensorProto, helper

from problem import Unsupported, load_array, short

TRIALS = 3


def run_model(problem, node, feeds, outputs, opsets, shared=()):
    """A call of a model with one node. `outputs` maps names to shapes; those
    that `shared` maps to an input are that input's memory."""
    types = {numpy.dtype(numpy.float32): TensorProto.FLOAT,
             numpy.dtype(numpy.int32): TensorProto.INT32}
    graph = helper.make_graph(
        [node], "attention",
        [helper.make_tensor_value_info(name, types[array.dtype], array.shape)
         for name, array in feeds.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
         for name, shape in outputs.items()])
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid(*opset) for opset in opsets],
        ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = problem["threads"]
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(array)
              for name, array in feeds.items()}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for name, shape in outputs.items():
        if name in shared:
            values[name] = values[shared[name]]
        else:
            values[name] = onnxruntime.OrtValue.ortvalue_from_numpy(
                numpy.zeros(shape, numpy.float32))
        binding.bind_ortvalue_output(name, values[name])

    def call():
        session.run_with_iobinding(binding)
        return values["o"]
    return call


def sizes(problem):
    return [problem[name] for name in ("batch", "query_heads", "key_heads",
                                       "queries", "keys", "key_dim",
                                       "value_dim")]


def tokens_first(array):
    """(B, H, S, D) as (B, S, H D)."""
    batch, heads, length, dim = array.shape
    return numpy.ascontiguousarray(
        array.transpose(0, 2, 1, 3)).reshape(batch, length, heads * dim)


def heads_first(problem, output):
    batch, heads, _, queries, _, _, value_dim = sizes(problem)
    return output.numpy().reshape(batch, queries, heads,
                                  value_dim).transpose(0, 2, 1, 3)


def multi_head(problem, q, k, v):
    batch, heads, key_heads, queries, keys, _, value_dim = sizes(problem)
    isolated = problem["queries"] == 1 and not problem["window"]
    if heads != key_heads:
        raise Unsupported("no grouped heads")
    if problem["softcap"] or problem["window"]:
        raise Unsupported("no softcap, no window")
    causal = problem["causal"] and not isolated
    if causal and queries != keys:
        raise Unsupported("causal only for as many queries as keys")
    node = helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["o"],
                            domain="com.microsoft", num_heads=heads,
                            unidirectional=int(causal))
    call = run_model(
        problem, node,
        {"q": tokens_first(q), "k": tokens_first(k), "v": tokens_first(v)},
        {"o": (batch, queries, heads * value_dim)},
        [("", 21), ("com.microsoft", 1)])
    return call, lambda output: heads_first(problem, output)


def group_query(problem, q, k, v):
    """Causal by definition. Older keys are in a cache that is extended in
    place; the operator appends the newest ones to it."""
    batch, heads, key_heads, queries, keys, dim, value_dim = sizes(problem)
    if not (problem["causal"] or problem["window"] or queries == 1):
        raise Unsupported("causal only")
    if dim != value_dim or queries > keys:
        raise Unsupported("other sizes")
    past = keys - queries
    attributes = {}
    if problem["window"]:
        attributes["local_window_size"] = problem["window"]
    if problem["softcap"]:
        attributes["softcap"] = problem["softcap"]
    node = helper.make_node(
        "GroupQueryAttention",
        ["q", "k", "v", "past_k", "past_v", "last", "total"],
        ["o", "present_k", "present_v"], domain="com.microsoft",
        num_heads=heads, kv_num_heads=key_heads, **attributes)
    feeds = {"q": tokens_first(q), "k": tokens_first(k[:, :, past:]),
             "v": tokens_first(v[:, :, past:]),
             "past_k": k.copy(), "past_v": v.copy(),
             "last": numpy.full((batch,), keys - 1, numpy.int32),
             "total": numpy.full((1,), keys, numpy.int32)}
    cache = (batch, key_heads, keys, dim)
    call = run_model(problem, node, feeds,
                     {"o": (batch, queries, heads * dim), "present_k": cache,
                      "present_v": cache},
                     [("", 21), ("com.microsoft", 1)],
                     {"present_k": "past_k", "present_v": "past_v"})
    return call, lambda output: heads_first(problem, output)


def standard(problem, q, k, v):
    """Attention of the standard set, from version 23 on."""
    batch, heads, _, queries, keys, _, value_dim = sizes(problem)
    if problem["window"]:
        raise Unsupported("no window")
    causal = problem["causal"] and queries > 1
    if causal and queries != keys:
        raise Unsupported("causal only for as many queries as keys")
    attributes = {"softcap": problem["softcap"]} if problem["softcap"] else {}
    node = helper.make_node("Attention", ["q", "k", "v"], ["o"],
                            is_causal=int(causal), **attributes)
    call = run_model(problem, node, {"q": q, "k": k, "v": v},
                     {"o": (batch, heads, queries, value_dim)}, [("", 23)])
    return call, lambda output: output.numpy()


def prepare(problem):
    if problem["dtype"] != "f32":
        raise Unsupported(f"no {problem['dtype']} on the CPU")
    tensors = [load_array(problem, name) for name in "qkv"]
    best, reasons = None, []
    for name, make in (("MultiHeadAttention", multi_head),
                       ("GroupQueryAttention", group_query),
                       ("Attention", standard)):
        try:
            call, output = make(problem, *tensors)
            call()
            seconds = []
            for _ in range(TRIALS):
                start = time.perf_counter()
                call()
                seconds.append(time.perf_counter() - start)
        except Unsupported as reason:
            if str(reason) not in reasons:
                reasons.append(str(reason))
            continue
        except Exception as error:  # pylint: disable=broad-except
            reasons.append(f"{name}: {short(error)}")
            continue
        if best is None or min(seconds) < best[0]:
            best = min(seconds), call, output, name
    if best is None:
        raise Unsupported("; ".join(reasons))
    return best[1:]
