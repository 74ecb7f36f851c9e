"""The parts of ``judge_client.verl``."""
