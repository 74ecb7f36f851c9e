"""Verdicts kept and shared: their keys, signed records, single flight, and where they come from."""
