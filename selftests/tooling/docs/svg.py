# SPDX-License-Identifier: GPL-2.0-only
"""What pictures of docs/ are drawn with, here and in ../../system/bench. Text that would be cut off, or lies over other text, is an error."""
import html

INK, FAINT, GRID = "#1f2328", "#57606a", "#d0d7de"
WIDE, BOLD = 0.62, 0.70     # of a character, in heights of the font: DejaVu Sans, the widest of those that viewers take
HEADS = {"#cf222e": "trap", "#1a7f37": "map", "#8250df": "call", "#24292f": "host", FAINT: "faint"}


def length(words, size=13, bold=False):
    return len(words) * size * (BOLD if bold else WIDE)


class Picture:
    def __init__(self, width, height, title):
        """@title: what is seen, for who does not see it; first of all it names the picture"""
        self.width, self.height, self.title, self.parts, self.places = width, height, title, [], []

    def text(self, x, y, words, size=13, anchor="start", bold=False, colour=INK):
        left = x - {"start": 0, "middle": 0.5, "end": 1}[anchor] * length(words, size, bold)
        right = left + length(words, size, bold)
        if left < 0 or right > self.width or not size <= y <= self.height:
            raise ValueError(f"{self.title}: cut off: {words}")
        if over := [w for l, r, t, b, w in self.places if left < r - size and right > l + size and y - size * 0.7 < b and y > t]:
            raise ValueError(f"{self.title}: {words} lies over {over[0]}")
        self.places.append((left, right, y - size * 0.7, y, words))
        self.parts.append(f'<text x="{x:g}" y="{y:g}" font-size="{size}"' + f' text-anchor="{anchor}"' * (anchor != "start") +
                          ' font-weight="bold"' * bold + f' fill="{colour}">{html.escape(words, quote=False)}</text>')

    def box(self, x, y, width, height, fill, stroke="none", round=0, thick=1.0, dashes="", opacity=1.0):
        self.parts.append(f'<rect x="{x:.4g}" y="{y:.4g}" width="{width:.4g}" height="{height:.4g}" fill="{fill}"' + f' rx="{round}"' * bool(round) +
                          f' stroke="{stroke}" stroke-width="{thick:g}"' * (stroke != "none") + f' stroke-dasharray="{dashes}"' * bool(dashes) +
                          f' fill-opacity="{opacity:g}"' * (opacity < 1) + "/>")

    def line(self, points, colour=GRID, thick=1.0, dashes="", ends=""):
        """@ends: ">" an arrow's head at the last point, "<>" at both"""
        at = " ".join(f"{x:.4g},{y:.4g}" for x, y in points)
        self.parts.append(f'<polyline points="{at}" fill="none" stroke="{colour}" stroke-width="{thick:g}"' + f' stroke-dasharray="{dashes}"' * bool(dashes) +
                          f' marker-end="url(#{HEADS.get(colour)})"' * (">" in ends) + f' marker-start="url(#{HEADS.get(colour)})"' * ("<" in ends) + "/>")

    def legend(self, x, y, entries, size=12):
        """a row of (colour, words); goes on in the next line if there is no room. Returns the last line's y"""
        left = x
        for colour, words in entries:
            if x + 16 + length(words, size) > self.width - 8 and x > left:
                x, y = left, y + size + 6
            self.box(x, y - size + 3, 10, 10, colour)
            self.text(x + 15, y + 1, words, size)
            x += 15 + length(words, size) + 16
        return y

    def __str__(self):
        title, heads = html.escape(self.title, quote=False), ""
        for colour, name in HEADS.items():
            if f"url(#{name})" in "".join(self.parts):
                heads += (f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse"'
                          f' orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>\n')
        return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{self.width}" height="{self.height}"'
                          f' viewBox="0 0 {self.width} {self.height}" font-family="DejaVu Sans, Verdana, sans-serif">', f"<title>{title}</title>",
                          *([f"<defs>{heads}</defs>"] if heads else []), f'<rect width="{self.width}" height="{self.height}" fill="#ffffff"/>',
                          *self.parts, "</svg>", ""])


def decades(low, high):
    """ticks of a logarithmic axis: (value, whether it has a number): 1 and its twofold and fivefold have"""
    value = 10.0 ** -6
    while value < high * 1.0001:
        for n in range(1, 10):
            if low * 0.9999 <= n * value <= high * 1.0001:
                yield n * value, n in (1, 2, 5)
        value *= 10


def around(values):
    """the ends of a logarithmic axis that holds the values: 1, 2 or 5 of a decade"""
    named = [v for v, number in decades(min(values) / 10, max(values) * 10) if number]
    return max(v for v in named if v <= min(values)), min(v for v in named if v >= max(values))
