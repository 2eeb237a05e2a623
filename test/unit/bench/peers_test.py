# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of bench/peers that need no peer: table, plot, and the protocol,
spoken with attn-bench and with processes that misbehave.

usage: peers_test.py SOURCE_ROOT ATTN_BENCH [PYTHON]

Some need numpy. PYTHON, if it is there, is one that has it, for where this one has
none.
"""

import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock as mock
import xml.etree.ElementTree

ROOT, ATTN_BENCH = sys.argv[1:3]
sys.path.insert(0, ROOT + "/bench/peers")

try:
    import check  # noqa: E402
    import numpy
    import peers  # noqa: E402
except ImportError:
    numpy = None
    # Without that argument, so that this happens once.
    if os.path.exists("".join(sys.argv[3:])):
        os.execv(sys.argv[3], [sys.argv[3], "-B", *sys.argv[:3]])
    print("some tests are skipped: no numpy")
import report  # noqa: E402
from partner import Partner, PartnerError  # noqa: E402

RESULTS = [
    {"name": "prefill", "ms": {"attn": 10.0, "sdpa": 20.0, "flex": 5.0},
     "failures": {}},
    {"name": "decode", "ms": {"attn": 0.5, "sdpa": 4.0},
     "failures": {"flex": "unsupported: one query"}},
    {"name": "broken", "ms": {"sdpa": 1.0}, "failures": {"attn": "no memory"}},
]
PEERS = ["sdpa", "flex"]


def python(code):
    return Partner([sys.executable, "-c", code], timeout=20)


@unittest.skipUnless(numpy, "needs numpy")
class Options(unittest.TestCase):
    def test_pictures_are_svg(self):
        message = io.StringIO()
        arguments = ["peers.py", "--attn-bench=b", "--cases=c", "--plot=p.png"]
        with mock.patch.object(sys, "argv", arguments), \
                contextlib.redirect_stderr(message), \
                self.assertRaises(SystemExit):
            peers.parse_options()
        self.assertIn("--plot: expected a file name that ends in .svg, as "
                      "pictures are SVG, got 'p.png'", message.getvalue())


class Report(unittest.TestCase):
    def test_rows(self):
        width = 8
        columns = report.head(width, PEERS)
        self.assertEqual(columns.split(), ["case", "attn", "ms", "sdpa", "ms",
                                           "ratio", "flex", "ms", "ratio"])
        full = report.row(RESULTS[0], width, PEERS)
        self.assertEqual(len(full), len(columns))
        self.assertEqual(full.split(), ["prefill", "10.000", "20.000", "2.00",
                                        "5.000", "0.50"])
        line, reason = report.row(RESULTS[1], width, PEERS).split("\n")
        self.assertEqual(line.split(),
                         ["decode", "0.500", "4.000", "8.00", "-", "-"])
        self.assertEqual(reason, "    flex: unsupported: one query")
        line, reason = report.row(RESULTS[2], width, PEERS).split("\n")
        self.assertEqual(line.split(), ["broken", "-", "1.000", "-", "-", "-"])
        self.assertEqual(reason, "    attn: no memory")

    def test_summary(self):
        # The geometric mean of 2 and 8 is 4.
        self.assertEqual(
            report.summary(RESULTS, PEERS + ["none"]).split("\n"),
            ["sdpa: 2 of 3 cases, geometric mean 4.00, least 2.00 (prefill)",
             "flex: 1 of 3 cases, geometric mean 0.50, least 0.50 (prefill)",
             "none: no case that both ran"])

    def test_ticks(self):
        self.assertEqual(report.ticks(0.7, 8), [0.5, 1, 2, 5, 10])
        self.assertEqual(report.ticks(1, 2), [1, 2])

    def test_plot(self):
        root = xml.etree.ElementTree.fromstring(report.plot(RESULTS, PEERS))
        texts = [node.text for node in root.iter() if node.text]
        self.assertIn("prefill", texts)
        self.assertIn("decode", texts)
        self.assertNotIn("broken", texts)
        circles = [float(node.get("cx")) for node in root.iter()
                   if node.tag.endswith("circle")]
        # Two in the legend; then 2 and 0.5, and 8: on a logarithmic axis, 8 is
        # as far from 2 as 2 from 0.5.
        self.assertEqual(len(circles), 5)
        prefill, flex, decode = circles[2:]
        self.assertAlmostEqual(decode - prefill, prefill - flex, delta=0.3)
        self.assertGreater(prefill, flex)
        # Nothing to draw is no fault.
        xml.etree.ElementTree.fromstring(report.plot([], PEERS))


@unittest.skipUnless(numpy, "needs numpy")
class Check(unittest.TestCase):
    PROBLEM = {"batch": 1, "query_heads": 2, "key_heads": 1, "queries": 2,
               "keys": 3, "causal": True, "window": 2, "softcap": 0}

    def test_rows_by_hand(self):
        # All logits are 0. The queries stand at keys 1 and 2 and see two keys.
        q = numpy.zeros((1, 2, 2, 4))
        k = numpy.ones((1, 1, 3, 4))
        v = numpy.array([2.0, 4.0, 10.0]).reshape(1, 1, 3, 1)
        right = numpy.array([3.0, 7.0] * 2).reshape(1, 2, 2, 1)
        wrong = right.copy()
        # Squares of all values add up to 2 (9 + 49) = 116.
        wrong[0, 1, 1, 0] += 1.16
        errors = check.relative_error(
            self.PROBLEM, (q, k, v),
            {"right": right, "wrong": wrong, "nan": right * numpy.nan})
        self.assertEqual(errors["right"], 0)
        self.assertAlmostEqual(errors["wrong"], (1.16 ** 2 / 116) ** 0.5)
        self.assertFalse(errors["nan"] <= 1)

    def test_softcap(self):
        q = numpy.full((1, 1), 6.0)
        k = numpy.array([[1.0], [-1.0]])
        v = numpy.array([[1.0], [0.0]])
        problem = {**self.PROBLEM, "queries": 1, "keys": 2, "causal": False,
                   "window": 0, "softcap": 2.0}
        capped = 2 * numpy.tanh(3.0)
        self.assertAlmostEqual(check.expected_row(problem, q, k, v, 0)[0],
                               1 / (1 + numpy.exp(-2 * capped)))

    # One feature, one value: o_t = q_t s_t with s_t = f s_(t-1) + k_t v_t.
    LINEAR = {"op": "linear", "batch": 1, "query_heads": 1, "key_heads": 1,
              "queries": 3, "keys": 3, "causal": True}

    def linear(self, problem, expected, q=(1.0, 2.0, 3.0), **clauses):
        """The relative error of `expected` for k = 1 and v = 1, 10, 100."""
        column = (1, 1, 3, 1)
        tensors = (numpy.array(q).reshape(column), numpy.ones(column),
                   numpy.array([1.0, 10.0, 100.0]).reshape(column))
        output = numpy.array(expected).reshape(column)
        return check.relative_error({**self.LINEAR, **problem}, tensors,
                                    {"o": output}, clauses)["o"]

    def test_linear(self):
        self.assertEqual(self.linear({}, [1.0, 22.0, 333.0]), 0)
        self.assertGreater(self.linear({}, [1.0, 22.0, 334.0]), 1e-3)
        self.assertEqual(
            self.linear({"causal": False}, [111.0, 222.0, 333.0]), 0)

    def test_linear_with_decay(self):
        half = numpy.log(0.5)
        # States 1, 10.5 and 105.25.
        expected = [1.0, 21.0, 315.75]
        for decay in (numpy.array([half]), numpy.full((1, 1, 3), half),
                      numpy.full((1, 1, 3, 1), half)):
            self.assertLess(self.linear({}, expected, decay=decay), 1e-15)
        # The first token halves the state before it, the last one forgets all
        # but itself: 4, 14 and 100.
        decay = numpy.array([half, 0.0, -100.0]).reshape(1, 1, 3)
        state = numpy.full((1, 1, 1, 1), 6.0)
        self.assertLess(self.linear({}, [4.0, 28.0, 300.0], decay=decay,
                                    state=state), 1e-15)

    def test_bf16_is_widened(self):
        # 0x3fc0 is 1.5, 0xc000 is -2.
        bits = numpy.array([0x3fc0, 0xc000], numpy.uint16).view("V2")
        self.assertEqual(list(check.widen(bits)), [1.5, -2.0])


@unittest.skipUnless(numpy, "needs numpy")
class Lines(unittest.TestCase):
    TEXT = """# What peers can run, and what not.
[group]
a dtype=f32 H=1 S=8 D=8
b op=linear dtype=f32 H=1 S=8 D=8 causal  # chunks
c op=linear dtype=f32 H=1 S=8 D=8 causal delta
d op=linear dtype=f32 H=1 S=8 D=8 form=chunk
e op=favor dtype=f32 H=1 S=8 D=8 M=8
f dtype=f32 H=1 S=8 D=8 target=cpu:avx2
"""

    def test_lines_for_peers(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cases.txt"
            path.write_text(self.TEXT)
            lines = list(peers.read_lines([path], ""))
            self.assertEqual([line.split()[0] for line in lines], ["a", "b"])
            self.assertEqual([peers.op_of(line) for line in lines],
                             ["softmax", "linear"])
            self.assertEqual(list(peers.read_lines([path], "b")), lines[1:])


class Protocol(unittest.TestCase):
    def test_attn_bench(self):
        partner = Partner([ATTN_BENCH, "--serve", "--threads=1"], timeout=100)
        with self.assertRaisesRegex(PartnerError, "S: expected an integer"):
            partner.ask("case a dtype=f32 H=2 S=x D=8")
        problem = partner.ask("case a dtype=f32 H=2 S=8 D=8 causal")
        self.assertEqual((problem["queries"], problem["causal"]), (8, True))
        self.assertGreater(partner.ask("run")["ms"], 0)
        partner.close()

    def test_a_partner_that_dies_is_started_again(self):
        partner = python("import sys\n"
                         "print('{}', flush=True)\n"
                         "for line in sys.stdin: sys.exit(3)")
        self.assertEqual(partner.ask("case 1"), {})
        with self.assertRaisesRegex(PartnerError, "exited with 3|is gone"):
            partner.ask("run")
        with self.assertRaisesRegex(PartnerError, "gone"):
            partner.ask("run")
        self.assertEqual(partner.ask("case 2"), {})
        partner.close()

    def test_a_signal_is_named(self):
        partner = python("import os; input(); os.kill(os.getpid(), 9)")
        with self.assertRaisesRegex(PartnerError, "ended by signal 9"):
            partner.ask("case 1")
        partner.close()

    def test_no_answer(self):
        partner = python("import time; time.sleep(60)")
        partner.timeout = 0.2
        with self.assertRaisesRegex(PartnerError, "no answer within 0.2 s"):
            partner.ask("case 1")
        partner.close()

    def test_no_json(self):
        partner = python("import sys; print('hello', flush=True); sys.stdin.read()")
        with self.assertRaisesRegex(PartnerError, "expected JSON, got 'hello'"):
            partner.ask("case 1")
        partner.close()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
