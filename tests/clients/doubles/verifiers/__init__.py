"""Both APIs of verifiers."""
