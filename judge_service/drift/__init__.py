"""Drift runs: two judge configurations on the same gold items, and what changed between them."""
