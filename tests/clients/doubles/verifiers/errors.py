"""Errors of the classic API."""


class InfraError(Exception):
    """Something around a rollout broke, and it may be generated anew."""
