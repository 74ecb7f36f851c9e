"""Tests of the service, its clients and its command line."""
