"""Ranking groups."""
