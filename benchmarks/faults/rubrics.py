"""The rubrics and judges of the fault suite, written out: nothing here imports the service."""

from __future__ import annotations

from pathlib import Path

JUDGES = ("alpha", "beta")
MAX_CHARS = 4000
QUALITY = f"""
id = "quality"
version = "1"
description = "How good an answer is."
kind = "assess"
[[criteria]]
name = "quality"
weight = 1.0
question = "How good is the answer?"
scale = [
  {{point = 1, means = "wrong"}},
  {{point = 2, means = "mostly wrong"}},
  {{point = 3, means = "half right"}},
  {{point = 4, means = "mostly right"}},
  {{point = 5, means = "right"}},
]
[[rules]]
rule = "max_chars"
hard = true
limit = {MAX_CHARS}
"""
PAIR = """
id = "pair"
version = "1"
description = "Which answer is better."
kind = "compare"
[[criteria]]
name = "quality"
question = "Which answer is better?"
"""


def write_rubrics(folder: Path) -> None:
    """A rubric of one criterion, one for pairs, and an empty folder of anchors."""
    for name in ("rubrics", "anchors"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "rubrics" / "quality.toml").write_text(QUALITY, encoding="utf-8")
    (folder / "rubrics" / "pair.toml").write_text(PAIR, encoding="utf-8")


def judges_toml(api_base: str, attempt_timeout_s: float | None) -> str:
    """Two judges of different families on one provider, both free of charge."""
    timeout = "" if attempt_timeout_s is None else f"attempt_timeout_s = {attempt_timeout_s}\n"
    return "\n".join(
        f'[[judges]]\nid = "{name}"\nmodel = "openai/{name}"\nfamily = "{name}"\n'
        f'api_base = "{api_base}"\nprice = {{ input = 0.0, output = 0.0 }}\n{timeout}'
        for name in JUDGES
    )
