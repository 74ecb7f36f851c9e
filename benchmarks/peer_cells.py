"""What eight judging libraries made of the same 32 replies, as measured in November 2026.

A cell is the value returned as a success, ``err`` for an explicit failure, ``raw:X`` for an untyped
Python exception, ``–`` where the row does not apply; ``·n`` counts upstream requests. ``WRONG``
marks a wrong value handed out as a verdict. Versions: OpenJudge 0.2.4, autorubric 1.6.1, verifiers
0.4.0, DeepEval 4.3.1, MLflow 3.17.2, openevals 0.2.2, ART RULER 0.5.23, Inspect 0.3.285.
"""

from __future__ import annotations

PEERS = (
    "openjudge",
    "autorubric",
    "verifiers",
    "deepeval",
    "mlflow",
    "openevals",
    "ruler",
    "inspect",
)
WRONG = "!"
"""Put before a value that is wrong."""

CELLS: dict[str, tuple[str, ...]] = {
    "ok": ("4", "4", "4", "4", "4", "4", "4", "4"),
    "fenced1": ("err", "err", "4", "4", "4", "err", "err", "4"),
    "fenced": ("err", "err", "4", "4", "4", "err", "err", "4"),
    "think": ("err", "4", "!2", "err", "err", "err", "4", "4"),
    "thinkcut": ("err", "err", "!2", "!2", "err", "err", "err", "!2"),
    "cut": ("err", "err", "err", "err", "err", "err", "err", "err"),
    "empty": ("!0.0", "err", "err", "err", "err", "err", "err", "err"),
    "nullreason": ("err", "err", "err", "raw:Attribute", "err", "raw:Type", "err", "err"),
    "refusal": ("!0.0", "err", "err", "raw:Attribute", "err", "raw:Type", "err", "err"),
    "filter": ("err", "err", "err", "err", "err", "err", "err", "err"),
    "prose": ("err", "err", "err", "err", "err", "err", "err", "err"),
    "strscore": ("4", "4", "4", "4", "!'4'", "!'4'", "!4.0", "4"),
    "half": ("!4.5", "err", "err", "!4.5", "!4.5", "!4.5", "4.5", "err"),
    "oob": ("!9.0", "err", "err", "!9", "!9", "!9", "!9", "err"),
    "nan": ("!nan", "err", "err", "!nan", "!nan", "!nan", "!nan", "–"),
    "nokey": ("err", "err", "err", "err", "raw:Key", "raw:Key", "err", "–"),
    "nullscore": ("err", "err", "err", "err", "!None", "!None", "err", "–"),
    "trailcomma": ("err", "err", "err", "4", "err", "err", "err", "4"),
    "two": ("err", "err", "!2", "err", "err", "err", "err", "4"),
    "echo": ("err", "err", "!2", "err", "err", "err", "err", "4"),
    "r429once": ("4 ·2", "4 ·2", "err ·1", "4 ·2", "4 ·2", "4 ·2", "4 ·2", "4 ·2"),
    "r429": (
        "err ·3 2s",
        "err ·9 8s",
        "err ·1",
        "err ·2 3s",
        "err ·11 181s",
        "err ·3 2s",
        "err ·3 2s",
        "err ·6 9s",
    ),
    "r500once": ("4 ·2", "4 ·2", "err ·1", "4 ·2 2s", "4 ·2", "4 ·2", "4 ·2", "4 ·2"),
    "r500": (
        "err ·3",
        "err ·3",
        "err ·1",
        "err ·2 2s",
        "err ·11 181s",
        "err ·3",
        "err ·3 2s",
        "err ·9 18s",
    ),
    "quota": (
        "err ·3",
        "err ·9 6s",
        "err ·1",
        "err ·1",
        "err ·11 181s",
        "err ·3",
        "err ·3",
        "err ·3 3s",
    ),
    "auth": ("err ·1", "err ·1", "err ·1", "err ·1", "err ·1", "err ·1", "err ·1", "err ·1"),
    "ctx": ("err ·1", "err ·1", "err ·1", "err ·1", "err ·1", "err ·1", "err ·1", "err ·1"),
    "norf": ("err ·1", "err ·1", "4 ·1", "4 ·1", "4 ·2", "err ·1", "err ·1", "–"),
    "notemp": ("4 ·1", "err ·1", "err ·1", "err ·1", "err ·1", "4 ·1", "err ·1", "4 ·1"),
    "hang": (
        "err ·3 10s",
        "err ·9 33s",
        "err ·1 3s",
        "err ·2 9s",
        "!4 ·1 20s",
        "err ·3 10s",
        "err ·3 10s",
        "err ·2 10s",
    ),
    "html": (
        "raw:Attribute ·1",
        "err ·1",
        "raw:Attribute ·1",
        "raw:Attribute ·1",
        "err ·1",
        "raw:Attribute ·1",
        "err ·1",
        "raw:Assertion ·1",
    ),
    "nochoices": (
        "err ·1",
        "err ·1",
        "raw:Index ·1",
        "raw:Index ·1",
        "err ·1",
        "raw:Index ·1",
        "err ·1",
        "raw:Index ·1",
    ),
}
