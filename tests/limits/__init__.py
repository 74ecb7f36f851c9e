"""Limits, retries and breakers of a judge."""
