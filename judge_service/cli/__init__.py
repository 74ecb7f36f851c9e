"""The command line: ``judge-service serve | assess | compare | check | judges | version``."""

from __future__ import annotations


def main() -> None:
    """Run the command line; the console script ``judge-service``."""
    from judge_service.cli.garbage import look_never

    look_never()
    from judge_service.cli.app import run

    run()
