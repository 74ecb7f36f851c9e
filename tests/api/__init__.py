"""The HTTP API around a judgement."""
