"""Errors of the v1 API."""


class RolloutError(Exception):
    """Recorded on the trace by its type; other exceptions become an error of the task."""
