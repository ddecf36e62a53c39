"""A few drawing primitives. A drawing is complete in itself, so that it works in a page and as a file."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

INK = "#1a1a1a"
QUIET = "#5c5c5c"
RULE = "#d4d4d4"
BLUE = "#0072B2"
VERMILLION = "#B84A00"
GREY = "#7a7a7a"
AMBER = "#9A6700"
SKY = "#56B4E9"
FONT = "'Source Sans 3', 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
RAMP = ("#f4f8fc", "#d3e3f1", "#a6c8e3", "#6ba3cf", "#337ab5", "#0d4f8b", "#08305c")
"""Light to dark in one hue: readable without colour vision and in grey print."""


@dataclass
class Drawing:
    """An SVG of a given size, in pixels, with a title and a description for those who do not see it."""

    name: str
    width: float
    height: float
    title: str
    description: str
    parts: list[str] = field(default_factory=list)

    def text(
        self, x: float, y: float, words: str, *, size: float = 13, anchor: str = "start", colour: str = INK,
        weight: int = 400, turn: float = 0,
    ) -> None:
        """A line of text with its baseline at (x, y), turned by so many degrees."""
        turned = f' transform="rotate({turn:g} {x:.1f} {y:.1f})"' if turn else ""
        bold = f' font-weight="{weight}"' if weight != 400 else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}" fill="{colour}"{bold}{turned}>'
            f"{escape(words)}</text>"
        )

    def line(
        self, x1: float, y1: float, x2: float, y2: float, *, colour: str = INK, width: float = 1, dashes: str = ""
    ) -> None:
        """A straight line."""
        broken = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width:g}"{broken}/>'
        )

    def box(
        self, x: float, y: float, width: float, height: float, *, fill: str, edge: str = "none", tip: str = ""
    ) -> None:
        """A rectangle; `tip` is shown when pointed at."""
        title = f"<title>{escape(tip)}</title>" if tip else ""
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(0.0, width):.1f}" height="{max(0.0, height):.1f}" '
            f'fill="{fill}" stroke="{edge}">{title}</rect>'
        )

    def dot(self, x: float, y: float, *, colour: str, shape: str = "circle", tip: str = "") -> None:
        """A mark: circle (filled), ring (open circle) or diamond; shape and not colour alone tells roles apart."""
        title = f"<title>{escape(tip)}</title>" if tip else ""
        if shape == "diamond":
            corners = f"{x:.1f},{y - 6:.1f} {x + 6:.1f},{y:.1f} {x:.1f},{y + 6:.1f} {x - 6:.1f},{y:.1f}"
            self.parts.append(f'<polygon points="{corners}" fill="{colour}">{title}</polygon>')
            return
        fill = "#ffffff" if shape == "ring" else colour
        self.parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.6" fill="{fill}" stroke="{colour}" stroke-width="1.8">'
            f"{title}</circle>"
        )

    def render(self) -> str:
        """The SVG element."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'width="{self.width:g}" height="{self.height:g}" style="--w:{self.width:g}" role="img" '
            f'aria-labelledby="{self.name}-title {self.name}-desc" font-family="{FONT}">'
            f'<title id="{self.name}-title">{escape(self.title)}</title>'
            f'<desc id="{self.name}-desc">{escape(self.description)}</desc>{"".join(self.parts)}</svg>'
        )


def shade(share: float) -> str:
    """Colour of a share between 0 and 1 on the ramp."""
    place = min(max(share, 0.0), 1.0) * (len(RAMP) - 1)
    low = min(int(place), len(RAMP) - 2)
    part = place - low
    one, two = (tuple(int(RAMP[i][j : j + 2], 16) for j in (1, 3, 5)) for i in (low, low + 1))
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(one, two, strict=True))


def on_shade(share: float) -> str:
    """Ink that can be read on that colour."""
    return "#ffffff" if share > 0.58 else INK


def width_of(words: str, size: float = 13) -> float:
    """About how wide a text is drawn, in pixels."""
    return 0.54 * size * len(words)


def widest(texts: Sequence[str], size: float = 13) -> float:
    """The width of the widest of some texts."""
    return max((width_of(text, size) for text in texts), default=0.0)


def shortened(words: str, limit: int) -> str:
    """A text cut to `limit` characters with an ellipsis."""
    return words if len(words) <= limit else words[: limit - 1].rstrip() + "…"


def wrapped(words: str, limit: int, lines: int = 2) -> list[str]:
    """A text in lines of at most `limit` characters; what does not fit into `lines` of them ends in an ellipsis."""
    found = textwrap.wrap(words, limit, break_long_words=True) or [""]
    if len(found) <= lines:
        return found
    return [*found[: lines - 1], shortened(" ".join(found[lines - 1 :]), limit)]


def percent_axis(
    drawing: Drawing, left: float, right: float, top: float, bottom: float, *, low: float = 0.0, high: float = 1.0,
    step: float = 0.25,
) -> None:
    """A horizontal axis of percent with light vertical rules."""
    value = low
    while value <= high + 1e-9:
        x = left + (value - low) / (high - low) * (right - left)
        drawing.line(x, top, x, bottom, colour=RULE)
        drawing.text(x, bottom + 17, f"{100 * value:.0f}", size=12, anchor="middle", colour=QUIET)
        value += step
