"""Blind review: sheets for people, and their labels taken back in."""
