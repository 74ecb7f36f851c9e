"""The service as a container would run it."""
