"""Rubrics of the classic API."""
