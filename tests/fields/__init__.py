"""Fields of requests to judge."""
