"""A small page of headings, sentences and tables, written as text, Markdown or HTML."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

WIDTH = 100
"""Columns of the text form."""
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~])")
_STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;"
    "color:#1c1c1c}table{border-collapse:collapse;margin:.6rem 0 1.2rem}td,th{padding:.25rem .7rem;"
    "border-bottom:1px solid #ddd;text-align:left;vertical-align:top}th{font-weight:600}"
    "h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:1.6rem}"
    "td.n{font-variant-numeric:tabular-nums}"
)


@dataclass(frozen=True, slots=True)
class Heading:
    """A line above what follows."""

    text: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A paragraph; ``bullet`` makes it an entry of a list."""

    text: str
    bullet: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; every row has as many cells as there are columns."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


Piece: TypeAlias = Heading | Sentence | Grid


@dataclass(frozen=True, slots=True)
class Page:
    """A title and what stands under it. Texts are plain; every form escapes what it must."""

    title: str
    pieces: Sequence[Piece]

    def text(self, width: int = WIDTH) -> str:
        """For terminals and logs."""
        lines = [self.title, "=" * min(width, len(self.title))]
        previous: Piece | None = None
        for piece in self.pieces:
            # The entries of a list stand together, everything else apart.
            if not (_is_bullet(piece) and _is_bullet(previous)):
                lines.append("")
            if isinstance(piece, Heading):
                lines += [piece.text, "-" * min(width, len(piece.text))]
            elif isinstance(piece, Sentence):
                lines += _wrapped(piece, width)
            else:
                lines += _grid_text(piece, width)
            previous = piece
        return "\n".join(lines) + "\n"

    def markdown(self) -> str:
        """For pull requests and job summaries."""
        lines = [f"# {_md(self.title)}"]
        previous: Piece | None = None
        for piece in self.pieces:
            if not (_is_bullet(piece) and _is_bullet(previous)):
                lines.append("")
            if isinstance(piece, Heading):
                lines.append(f"## {_md(piece.text)}")
            elif isinstance(piece, Sentence):
                lines.append(("- " if piece.bullet else "") + _md(piece.text))
            else:
                lines += [_md_row(piece.columns), _md_row(["---"] * len(piece.columns), raw=True)]
                lines += [_md_row(row) for row in piece.rows]
            previous = piece
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        """One file that loads nothing."""
        body = [f"<h1>{html.escape(self.title)}</h1>"]
        for piece in self.pieces:
            if isinstance(piece, Heading):
                body.append(f"<h2>{html.escape(piece.text)}</h2>")
            elif isinstance(piece, Sentence):
                mark = "• " if piece.bullet else ""
                body.append(f"<p>{mark}{html.escape(piece.text)}</p>")
            else:
                head = "".join(f"<th>{html.escape(c)}</th>" for c in piece.columns)
                rows = "".join(
                    "<tr>" + "".join(f'<td class="n">{html.escape(c)}</td>' for c in row) + "</tr>"
                    for row in piece.rows
                )
                body.append(f"<table><tr>{head}</tr>{rows}</table>")
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            f"<title>{html.escape(self.title)}</title><style>{_STYLE}</style></head><body>"
            + "\n".join(body)
            + "</body></html>\n"
        )


def _is_bullet(piece: Piece | None) -> bool:
    return isinstance(piece, Sentence) and piece.bullet


def _wrapped(piece: Sentence, width: int) -> list[str]:
    first, rest = ("- ", "  ") if piece.bullet else ("", "")
    return textwrap.wrap(
        piece.text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    ) or [first]


def _grid_text(grid: Grid, width: int) -> list[str]:
    """Columns as wide as they need; the last one wraps into what is left."""
    rows = [list(grid.columns), *map(list, grid.rows)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(grid.columns))]
    left = max(12, width - sum(widths[:-1]) - 2 * (len(widths) - 1))
    lines = []
    for number, row in enumerate(rows):
        head = "  ".join(cell.ljust(w) for cell, w in zip(row[:-1], widths[:-1], strict=True))
        head += "  " if head else ""
        tail = textwrap.wrap(row[-1], left) or [""]
        lines.append((head + tail[0]).rstrip())
        lines += [" " * len(head) + more for more in tail[1:]]
        if number == 0:
            lines.append("  ".join("-" * w for w in [*widths[:-1], min(left, widths[-1])]))
    return lines


def _md(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def _md_row(cells: Sequence[str], *, raw: bool = False) -> str:
    return "| " + " | ".join(cell if raw else _md(cell) for cell in cells) + " |"
