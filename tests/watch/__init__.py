"""Watching live traffic."""
