#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the node tests of ONNX that are about attention.

    make_node_tests.py FOLDER

The package onnx has no files of tests, but the code that makes them: models and
data with fixed seeds. `python -m onnx.backend.test.cmd_tools generate-data` runs
it for all operators, which takes minutes and other packages; this runs it for
few. Each test is a folder, as ONNX lays it out:

    FOLDER/test_NAME/model.onnx
    FOLDER/test_NAME/test_data_set_0/input_0.pb ... output_0.pb ...
"""

import importlib
import pathlib
import shutil
import sys

import onnx
import onnx.backend.test.case.node as node_tests
from onnx import numpy_helper

OPERATORS = ["attention", "flexattention", "rotaryembedding"]


def write_tensors(folder, kind, values, declared):
    for number, (value, argument) in enumerate(
            zip(values, declared, strict=True)):
        if not isinstance(value, onnx.TensorProto):
            value = numpy_helper.from_array(value, argument.name)
        (folder / f"{kind}_{number}.pb").write_bytes(value.SerializeToString())


def write_test(folder, case):
    graph = case.model.graph
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for number, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        write_tensors(data, "input", inputs, graph.input)
        write_tensors(data, "output", outputs, graph.output)


def main():
    folder = pathlib.Path(sys.argv[1])
    for operator in OPERATORS:
        # Importing a module of tests makes them.
        importlib.import_module(f"{node_tests.__name__}.{operator}")
    # What operators are made of is a test of other operators.
    cases = [case for case in node_tests._NodeTestCases
             if "_expanded" not in case.name]
    shutil.rmtree(folder, ignore_errors=True)
    for case in cases:
        write_test(folder / case.name, case)
    print(f"{len(cases)} node tests of onnx {onnx.__version__} in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
