"""Forms of a text: without its reasoning, without its formatting, its identity."""
