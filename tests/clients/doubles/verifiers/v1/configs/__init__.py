"""Settings of the v1 API."""
