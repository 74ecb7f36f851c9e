"""The fault suite: the real service over HTTP, with a faulty provider, a faulty Redis and rude
clients. ``python -m benchmarks.faults NAME`` runs one scenario and checks what it promises.
"""
