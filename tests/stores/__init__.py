"""Tests of the stores behind the Store protocol."""
