"""The verdict cache and single flight."""
