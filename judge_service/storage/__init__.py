"""The seam to what outlives a request, its in-memory form, and what signs it."""
