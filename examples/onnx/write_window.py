#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes window/, a node test of ONNX Attention in opset 25.

    write_window.py FOLDER

A query sees one key on its left, itself and two on its right. All keys weigh the
same (q = 0) and V = 0, 1, 2, 3, 4, so that a row is the mean of what it sees.
Files of ONNX are messages of protobuf; the numbers of their fields are those of
onnx.proto.
"""

import pathlib
import struct
import sys

FLOAT, INT = 1, 2  # TensorProto.FLOAT, AttributeProto.INT


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """A field of a message: an integer, a text, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor(name, sizes, elements):
    """A TensorProto of f32."""
    dims = b"".join(field(1, size) for size in sizes)
    data = struct.pack(f"<{len(elements)}f", *elements)
    return dims + field(2, FLOAT) + field(8, name) + field(9, data)


def value_info(name, sizes):
    """A ValueInfoProto of a tensor of f32."""
    shape = b"".join(field(1, field(1, size)) for size in sizes)
    tensor_type = field(1, FLOAT) + field(2, shape)
    return field(1, name) + field(2, field(1, tensor_type))


def attribute(name, number):
    """An AttributeProto of an integer."""
    return field(1, name) + field(3, number) + field(20, INT)


SIZES = [1, 1, 5, 1]
NODE = b"".join(
    [field(1, name) for name in ("Q", "K", "V")]
    + [field(2, "Y"), field(3, "window"), field(4, "Attention")]
    + [field(5, attribute("left_window_size", 1)),
       field(5, attribute("right_window_size", 2))])
GRAPH = b"".join(
    [field(1, NODE), field(2, "window")]
    + [field(11, value_info(name, SIZES)) for name in ("Q", "K", "V")]
    + [field(12, value_info("Y", SIZES))])
# ModelProto: the version of the format, the graph, and opset 25.
MODEL = field(1, 13) + field(7, GRAPH) + field(8, field(2, 25))
FILES = {
    "model.onnx": MODEL,
    "test_data_set_0/input_0.pb": tensor("Q", SIZES, [0] * 5),
    "test_data_set_0/input_1.pb": tensor("K", SIZES, [1] * 5),
    "test_data_set_0/input_2.pb": tensor("V", SIZES, [0, 1, 2, 3, 4]),
    "test_data_set_0/output_0.pb": tensor("Y", SIZES, [1, 1.5, 2.5, 3, 3.5]),
}


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, data in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main()
