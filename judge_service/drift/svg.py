"""Pieces of inline SVG: every text escaped, every number finite, nothing from elsewhere."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable


def escaped(text: object) -> str:
    """``text`` as it reads in HTML and SVG, control characters made visible."""
    shown = "".join(
        c if c in "\n\t" or c.isprintable() else f"\\u{{{ord(c):X}}}" for c in str(text)
    )
    return html.escape(shown, quote=True)


def num(value: float) -> str:
    """A coordinate. Raises ValueError where there is none."""
    if not math.isfinite(value):
        raise ValueError("a coordinate must be finite")
    return f"{value:.2f}".rstrip("0").rstrip(".")


def picture(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """A picture with a title for those who cannot see it."""
    return (
        f'<svg viewBox="0 0 {num(width)} {num(height)}" width="{num(width)}" '
        f'height="{num(height)}" role="img"><title>{escaped(title)}</title>{"".join(parts)}</svg>'
    )


def rect(x: float, y: float, width: float, height: float, style: str, opacity: float = 1.0) -> str:
    """A rectangle of a CSS class."""
    return (
        f'<rect x="{num(x)}" y="{num(y)}" width="{num(max(0.0, width))}" '
        f'height="{num(max(0.0, height))}" class="{style}" fill-opacity="{num(opacity)}"/>'
    )


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    """A line of a CSS class."""
    return f'<line x1="{num(x1)}" y1="{num(y1)}" x2="{num(x2)}" y2="{num(y2)}" class="{style}"/>'


def dot(x: float, y: float, radius: float, style: str) -> str:
    """A filled circle of a CSS class."""
    return f'<circle cx="{num(x)}" cy="{num(y)}" r="{num(radius)}" class="{style}"/>'


def text(x: float, y: float, said: object, *, anchor: str = "start", style: str = "t") -> str:
    """A text; ``anchor`` is start, middle or end."""
    place = f'x="{num(x)}" y="{num(y)}" text-anchor="{anchor}"'
    return f'<text {place} class="{style}">{escaped(said)}</text>'
