"""The entry point of the resources server."""

from __future__ import annotations

from judge_client.nemo_gym import JudgeResourcesServer

if __name__ == "__main__":
    JudgeResourcesServer.run_webserver()
