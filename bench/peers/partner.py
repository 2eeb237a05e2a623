# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A process that runs cases on request: one line in, one line of JSON out.

attn-bench --serve and server.py speak the same protocol, so that all take
turns and each has its own thread pool, which is idle while others run.
"""

import json
import select
import subprocess
import time


class PartnerError(Exception):
    """The partner refused a request, or is gone."""


class Partner:
    def __init__(self, command, timeout):
        self.command = command
        self.timeout = timeout
        self.process = None

    def ask(self, request):
        """The answer to a request; a partner that died is started anew at the
        next 'case'."""
        if self.process is None or self.process.poll() is not None:
            if not request.startswith("case "):
                raise PartnerError("the process is gone")
            self.start()
        try:
            self.process.stdin.write(request.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            # The other end of the pipe is closed.
            raise PartnerError(self.end()) from None
        line = self.read_line().decode(errors="replace").rstrip("\n")
        try:
            answer = json.loads(line)
        except ValueError:
            raise PartnerError(f"expected JSON, got '{line}'") from None
        if "error" in answer:
            raise PartnerError(answer["error"])
        return answer

    def start(self):
        self.close()
        # No buffer of Python's own: select() would not see what is in it.
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            bufsize=0)

    def read_line(self):
        line = b""
        deadline = time.monotonic() + self.timeout
        while not line.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [],
                                              left)[0]:
                self.process.kill()
                self.process.wait()
                raise PartnerError(f"no answer within {self.timeout} s")
            piece = self.process.stdout.readline()
            if not piece:
                raise PartnerError(self.end())
            line += piece
        return line

    def end(self):
        """Waits for a process that has closed its pipes; says how it ended."""
        code = self.process.wait()
        if code < 0:
            return f"ended by signal {-code}"
        return f"exited with {code}"

    def close(self):
        if self.process is None:
            return
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            # It has gone before.
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.process = None
