"""Tests of the client distribution, which knows the service only by HTTP."""
