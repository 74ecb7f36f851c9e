"""What the commands about gold sets share: finding a file, and a plain table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def gold_path(said: str, folder: Path) -> Path:
    """A path, or the name of a file in ``folder``."""
    path = Path(said).expanduser()
    named = folder / f"{said}.jsonl"
    return named if not path.exists() and "/" not in said and named.is_file() else path


def gold_table(*columns: str) -> Table:
    """An empty table with these columns."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
