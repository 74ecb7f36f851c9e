"""Bias reports."""
