"""Ranking a group: one panel for all its members, and no number that depends on their order."""
