"""Writing to terminals: nothing that came from a judge or a candidate can steer one."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Joiners and variation selectors are part of ordinary emoji and Indic text.
_HARMLESS = frozenset("\n\t\u200c\u200d")
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# What JSON leaves as it is although terminals or line readers act on it.
_JSON_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def out(*, colour: bool = True) -> Console:
    """The console for results. Rich leaves out colours where nobody looks at a terminal."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, no_color=None if colour else True)


def err() -> Console:
    """The console for everything that is not a result: errors, notes, progress."""
    from rich.console import Console

    return Console(file=sys.stderr, highlight=False)


@contextmanager
def waiting(what: str) -> Iterator[Callable[[], None]]:
    """Say what is waited for, where somebody looks at a terminal; calling the value ends it."""
    # Rich is loaded only where somebody looks: it takes as long as many of the parts waited for.
    console = err() if sys.stderr.isatty() else None
    if console is None or not console.is_terminal:
        yield lambda: None
        return
    with console.status(what) as status:
        yield status.stop


def clean(text: str) -> str:
    r"""``text`` with control, format and unassigned characters as ``\u{HEX}``; newlines stay."""
    return "".join(
        c
        if c in _HARMLESS or (c.isascii() and c.isprintable())
        else f"\\u{{{ord(c):X}}}"
        if unicodedata.category(c) in _UNSAFE
        else c
        for c in text
    )


def plain(value: object, style: str = "") -> Text:
    """``value`` as it reads, never as markup, control characters made visible."""
    from rich.text import Text

    return Text(clean(str(value)), style=style)


def json_text(value: Any) -> str:
    """One line of JSON: finite numbers only, no character that a terminal would act on."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _JSON_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def print_json(value: Any, stream: TextIO | None = None) -> None:
    """Write ``value`` as one line of JSON, in ASCII where the stream knows nothing else."""
    stream = stream or sys.stdout
    text = json_text(value)
    encoding = (stream.encoding or "ascii").lower().replace("_", "-")
    if encoding not in ("utf-8", "utf8", "utf-8-sig"):
        text = json.dumps(value, allow_nan=False)
    stream.write(text + "\n")
    stream.flush()


def complain(message: object) -> None:
    """Write an error to stderr: one line per fault, never wrapped."""
    from rich.text import Text

    console = err()
    for number, line in enumerate(clean(str(message)).splitlines() or ["(no message)"]):
        head = Text("error: " if number == 0 else "       ", style="bold red")
        console.print(head + Text(line), soft_wrap=True)


def note(message: object) -> None:
    """Write a remark to stderr."""
    from rich.text import Text

    err().print(Text("note: ", style="bold yellow") + plain(message), soft_wrap=True)
