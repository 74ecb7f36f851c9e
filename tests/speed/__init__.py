"""The speed table."""
