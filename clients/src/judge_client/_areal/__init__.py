"""The parts of ``judge_client.areal``."""
