"""``python -m judge_service.cli``: the same as ``judge-service``."""

from __future__ import annotations

from judge_service.cli import main

if __name__ == "__main__":
    main()
