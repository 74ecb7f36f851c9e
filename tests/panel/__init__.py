"""Several judges for one verdict."""
