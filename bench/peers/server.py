# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the cases of a peer on request, as attn-bench --serve does for attn.

usage: server.py sdpa|flex|onnxruntime|chunk|chunk-compiled

'case JSON' prepares a case: the answer of attn-bench to its 'case', and the
folder with the operands, q.npy, k.npy, v.npy and more. 'run' takes a turn, 'write PATH' writes the
output as f32. Each is answered by a line of JSON.
"""

import json
import logging
import os
import sys
import time

import numpy

from problem import Unsupported, short

TURN_SECONDS = 0.05


class Server:
    def __init__(self, prepare):
        """`prepare` makes of a problem the pair (call, variant); the call
        returns the output, which output() makes an array of."""
        self.prepare = prepare
        self.call = None
        self.calls = 1

    def case(self, text):
        self.call = None
        start = time.perf_counter()
        self.call, self.output, variant = self.prepare(json.loads(text))
        self.call()
        first = time.perf_counter() - start
        start = time.perf_counter()
        self.call()
        seconds = time.perf_counter() - start
        self.calls = max(1, min(10000, round(TURN_SECONDS / seconds + 0.5)))
        return {"variant": variant, "first_call_ms": first * 1e3,
                "calls_per_turn": self.calls}

    def run(self):
        self.call()
        start = time.perf_counter()
        for _ in range(self.calls):
            self.call()
        return {"ms": (time.perf_counter() - start) / self.calls * 1e3}

    def write(self, path):
        numpy.save(path, self.output(self.call()))
        return {"files": [path]}

    def answer(self, line):
        command, _, rest = line.rstrip("\n").partition(" ")
        try:
            if command == "case":
                return self.case(rest)
            if self.call and command == "run":
                return self.run()
            if self.call and command == "write":
                return self.write(rest)
            return {"error": f"expected a case, or run or write after one, "
                             f"got '{command}'"}
        except Unsupported as reason:
            return {"error": f"unsupported: {reason}"}
        # Whatever a peer throws is its result for this case.
        except Exception as error:  # pylint: disable=broad-except
            return {"error": short(error)}


def main():
    # Libraries print where they like; answers have a pipe of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    logging.disable(logging.WARNING)
    peer = sys.argv[1]
    if peer == "onnxruntime":
        import onnx_peer
        prepare = onnx_peer.prepare
    elif peer.startswith("chunk"):
        import linear_peer
        prepare = {"chunk": linear_peer.prepare_eager,
                   "chunk-compiled": linear_peer.prepare_compiled}[peer]
    else:
        import torch_peer
        prepare = {"sdpa": torch_peer.prepare_sdpa,
                   "flex": torch_peer.prepare_flex}[peer]
    server = Server(prepare)
    for line in sys.stdin:
        print(json.dumps(server.answer(line)), file=answers, flush=True)


if __name__ == "__main__":
    main()
