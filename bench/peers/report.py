# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Table and plot of the times of attn and of peers.

A result is a dictionary: "name", "ms" (partner to median time), "failures"
(partner to reason), "variants" (partner to what was run). A ratio is a peer's
time over attn's: above 1, attn is faster.
"""

import math
from xml.sax.saxutils import escape

COLUMN = 19
# Distinct for colour-blind eyes (Okabe and Ito).
COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7"]


def ratio(result, peer):
    """None where one of the two has no time."""
    if peer not in result["ms"] or "attn" not in result["ms"]:
        return None
    return result["ms"][peer] / result["ms"]["attn"]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def head(width, peers):
    return (f"{'case':{width}} {'attn ms':>10}"
            + "".join(f"{peer + ' ms':>{COLUMN}} {'ratio':>6}"
                      for peer in peers))


def row(result, width, peers):
    """One line, and one more for each partner without a time."""
    attn = result["ms"].get("attn")
    line = f"{result['name']:{width}} " + (
        f"{attn:10.3f}" if attn else f"{'-':>10}")
    for peer in peers:
        share = ratio(result, peer)
        time = result["ms"].get(peer)
        line += f"{time:{COLUMN}.3f}" if time else f"{'-':>{COLUMN}}"
        line += f" {share:6.2f}" if share else f" {'-':>6}"
    reasons = [f"    {partner}: {reason}"
               for partner, reason in result["failures"].items()]
    return "\n".join([line] + reasons)


def summary(results, peers):
    """Per peer: over how many cases, the mean and the least of the ratios."""
    lines = []
    for peer in peers:
        found = [(ratio(result, peer), result["name"]) for result in results
                 if ratio(result, peer)]
        if not found:
            lines.append(f"{peer}: no case that both ran")
            continue
        least, where = min(found)
        lines.append(
            f"{peer}: {len(found)} of {len(results)} cases, geometric mean "
            f"{geometric_mean([r for r, _ in found]):.2f}, least {least:.2f} "
            f"({where})")
    return "\n".join(lines)


def ticks(low, high):
    """1, 2 and 5 times powers of ten, from one at or below `low` to one at or
    above `high`."""
    steps = [m * 10.0 ** e for e in range(-6, 7) for m in (1, 2, 5)]
    first = max(s for s in steps if s <= low * 1.000001)
    last = min(s for s in steps if s >= high * 0.999999)
    return [s for s in steps if first <= s <= last]


class Canvas:
    def __init__(self):
        self.parts = []

    def add(self, tag, content=None, **attributes):
        # SVG writes hyphens where Python can't.
        fields = " ".join(f'{key.replace("_", "-")}="{value}"'
                          for key, value in attributes.items())
        end = "/>" if content is None else f">{escape(content)}</{tag}>"
        self.parts.append(f"<{tag} {fields}{end}")

    def text(self, x, y, content, **attributes):
        self.add("text", content, x=f"{x:.1f}", y=f"{y:.1f}", **attributes)

    def document(self, width, height):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
                f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" '
                f'font-family="sans-serif" font-size="12">\n'
                f'<rect width="100%" height="100%" fill="white"/>\n'
                + "\n".join(self.parts) + "\n</svg>\n")


def plot(results, peers):
    """A dot per case and peer on a logarithmic axis of ratios, as SVG."""
    top, pitch, axis, margin = 92, 20, 560, 16
    shown = [result for result in results
             if any(ratio(result, peer) for peer in peers)]
    ratios = [ratio(result, peer) for result in shown for peer in peers
              if ratio(result, peer)]
    marks = ticks(min(ratios + [0.8]), max(ratios + [1.25]))
    left = margin + 7 * max([len(r["name"]) for r in shown] + [4]) + 10
    span = math.log(marks[-1] / marks[0])

    def place(value):
        return left + axis * math.log(value / marks[0]) / span

    canvas = Canvas()
    canvas.text(margin, 28, "Time of peers over time of attn: to the right of "
                "1, attn is faster", font_size="16", font_weight="bold")
    x = margin + 6
    for peer, colour in zip(peers, COLOURS):
        canvas.add("circle", cx=x, cy=54, r=5, fill=colour)
        canvas.text(x + 11, 58, peer)
        x += 11 + 7 * len(peer) + 26
    bottom = top + pitch * len(shown)
    for mark in marks:
        canvas.add("line", x1=f"{place(mark):.1f}", x2=f"{place(mark):.1f}",
                   y1=top - 6, y2=bottom,
                   stroke="#555555" if mark == 1 else "#dddddd")
        for y in (top - 12, bottom + 16):
            canvas.text(place(mark), y, f"{mark:g}", text_anchor="middle",
                        fill="#555555")
    for index, result in enumerate(shown):
        y = top + pitch * index + pitch / 2
        canvas.add("line", x1=left, x2=left + axis, y1=y, y2=y,
                   stroke="#f0f0f0")
        canvas.text(left - 8, y + 4, result["name"], text_anchor="end")
        for peer, colour in zip(peers, COLOURS):
            value = ratio(result, peer)
            if value:
                canvas.add("circle", cx=f"{place(value):.1f}", cy=y, r=5,
                           fill=colour, fill_opacity="0.85")
    return canvas.document(left + axis + 40, bottom + 32)
