"""Functions of this workspace."""
