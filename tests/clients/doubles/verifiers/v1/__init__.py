"""The v1 API."""
