"""Tests of ``judge_client.dashscope`` through the SDK's own server."""
