"""The HTTP API: FastAPI app, wire schemas, routes."""
