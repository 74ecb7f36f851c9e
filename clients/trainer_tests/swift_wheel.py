"""ms-swift's own reward and advantage code, taken out of its wheel into a folder that is imported.

Of the rest of ms-swift, which needs a model's whole environment, only two functions are met; their
text comes from the wheel, too.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

SWIFT = "ms-swift==4.6.0"
FILES = ("swift/rl_core/grpo_algorithm.py", "swift/rl_core/advantage.py", "swift/rewards/orm.py")
FUNCTIONS = {
    "swift/utils/torch_utils.py": "nanstd",
    "swift/dataset/preprocessor/core.py": "rows_to_batched",
}
UTILS = """
import logging
from typing import Any, Dict, List, Optional, Union
import torch
def get_logger(): return logging.getLogger("swift")
"""
DATASET = """
from typing import Any, Dict, List
class RowPreprocessor:
    pass
"""


def install(folder: Path) -> None:
    """Put ``swift`` into ``folder`` and on the path. Needs PyPI."""
    fetched = subprocess.run(
        [sys.executable, "-m", "pip", "download", SWIFT, "--no-deps", "--quiet",
         "--disable-pip-version-check", "--dest", str(folder)],
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert fetched.returncode == 0, f"{SWIFT} cannot be fetched from PyPI: {fetched.stderr[-500:]}"
    (wheel,) = folder.glob("ms_swift-*.whl")
    package = folder / "package" / "swift"
    for name in ("rl_core", "rewards", "infer_engine", "dataset", "utils"):
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").touch()
    (package / "__init__.py").touch()
    with zipfile.ZipFile(wheel) as archive:
        for file in FILES:
            (folder / "package" / file).write_bytes(archive.read(file))
        texts = {file: archive.read(file).decode() for file in FUNCTIONS}
    nanstd, rows_to_batched = (function(texts[file], name) for file, name in FUNCTIONS.items())
    (package / "utils" / "__init__.py").write_text(f"{UTILS}\n{nanstd}\n")
    batched = "\n".join(f"    {line}" for line in rows_to_batched.splitlines())
    (package / "dataset" / "__init__.py").write_text(f"{DATASET}    @staticmethod\n{batched}\n")
    (package / "rl_core" / "data.py").write_text("class GRPOSample: pass\n")
    (package / "infer_engine" / "__init__.py").write_text("class InferRequest: pass\n")
    (package / "rewards" / "__init__.py").write_text("from .orm import ORM, AsyncORM, orms\n")
    sys.path.insert(0, str(package.parent))


def function(text: str, name: str) -> str:
    """The source of a function, wherever it is in a file."""
    found = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    assert len(found) == 1, f"not one {name} in the wheel"
    found[0].decorator_list = []
    return ast.unparse(found[0])
