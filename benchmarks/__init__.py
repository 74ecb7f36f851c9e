"""Measurements side by side with peers, and tables that one command prints."""
