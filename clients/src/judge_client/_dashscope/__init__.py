"""The parts of ``judge_client.dashscope``."""
