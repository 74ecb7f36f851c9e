"""The reply matrix: what becomes of 32 (and more) replies of a judge, beside the peers' columns.

``python -m benchmarks.matrix`` runs every row through the real service over HTTP, its judge on the
provider fake, and prints one table. Exit code 1 when a cell of ours is wrong.
"""

from __future__ import annotations

import logging
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.peer_cells import CELLS, PEERS, WRONG
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider, matrix
from tests.provider.matrix import Row

JUDGE = "judge-a"
TIMEOUT_S = 3.0


@dataclass(frozen=True, slots=True)
class Cell:
    """What came of a row."""

    row: Row
    point: int | None
    code: str | None
    requests: int
    counted: int

    @property
    def right(self) -> bool:
        """The right value or code, within the row's requests, every one of them counted."""
        return (
            self.row.accepts(self.point, self.code)
            and self.row.min_requests <= self.requests <= self.row.max_requests
            and self.counted == self.requests
        )

    def text(self) -> str:
        """The cell as printed."""
        value = str(self.point) if self.code is None else self.code
        return f"{value} ·{self.requests}"


def run_row(row: Row, service: RunningService, provider: FakeProvider) -> Cell:
    """Judge one candidate while the judge behaves as the row says."""
    provider.reset()
    provider.oracle({}, default=matrix.GOOD)
    provider.behave(JUDGE, row.script)
    answer = service.assess(matrix.CANDIDATE, timeout_s=TIMEOUT_S)
    assert (answer["reward"] is None) == (answer["status"] == "failed")
    point = answer["verdicts"][0]["point"] if answer["status"] == "success" else None
    return Cell(
        row=row,
        point=point,
        code=answer["error"]["code"] if answer["error"] else None,
        requests=len(provider.requests),
        counted=answer["usage"]["upstream_requests"],
    )


def run(rows: tuple[Row, ...]) -> list[Cell]:
    """Run rows against one service."""
    with FakeProvider() as provider, tempfile.TemporaryDirectory() as folder:
        write_rubric(Path(folder))
        judges = Judges(provider).add(JUDGE, "alpha")
        with judged_by(judges, Path(folder), breaker=False) as service:
            return [
                run_row(row, service, provider)
                for row in track(rows, "judging", console=Console(stderr=True), transient=True)
            ]


def main() -> int:
    """Print the table; 0 when all of our cells are right."""
    # What it warns of are the rubric and the judge made for the table; errors are still told.
    logging.getLogger("judge_service").setLevel(logging.ERROR)
    cells = run(matrix.ROWS)
    more = run(matrix.MORE_ROWS)
    table = Table(title="The same reply, one judge, scale 1 to 5: value or failure · requests")
    for name in ("case", "right", "judge_service", *PEERS):
        table.add_column(name, no_wrap=True)
    for cell in cells:
        row = cell.row
        ours = f"[green]{cell.text()}[/]" if cell.right else f"[red]{WRONG}{cell.text()}[/]"
        peers = [f"[red]{c}[/]" if c.startswith(WRONG) else c for c in CELLS[row.name]]
        right = " or ".join((str(row.expected), *row.also))
        table.add_row(row.name, right, ours, *peers)
    Console(width=190).print(table)
    wrong = [cell for cell in (*cells, *more) if not cell.right]
    count = sum(cell.right for cell in cells)
    others = sum(cell.right for cell in more)
    print(f"judge_service: {count} of {len(cells)} right; {others} of {len(more)} more rows right.")
    print(
        f"{WRONG} marks a wrong value handed out as a verdict; peers as measured in November 2026."
    )
    for cell in wrong:
        print(f"wrong: {cell.row.name}: expected {cell.row.expected}, got {cell.text()}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
