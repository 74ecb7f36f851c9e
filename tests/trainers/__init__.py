"""Trainers that know an address and nothing else."""
