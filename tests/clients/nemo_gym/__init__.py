"""The resources server for NeMo Gym, by its HTTP contract, over the service."""
