"""What a server is told: by its configuration, the environment and the README."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from judge_client import ConfigError

from tests.clients.digits import Digits
from tests.clients.nemo_gym.support import server, verified
from tests.clients.overrides import mapping, shell
from tests.clients.readme import code
from tests.clients.stand_in import SUCCESS, StandIn, Told
from tests.clients.test_distribution import SOURCE
from tests.trainers.support import rollout


@pytest.mark.parametrize(
    ("settings", "match"),
    [({"rubric": None}, "rubric"), ({"num_rollouts_per_prompt": 0}, "num_rollouts"),
     ({"num_rollouts_per_prompt": 65}, "num_rollouts"), ({"timeout_s": 0}, "timeout_s"),
     ({"partial_cohort": "drop"}, "partial_cohort"), ({"judge_url": "x"}, "url"),
     ({"partial_cohort": "judge>=3", "num_rollouts_per_prompt": 2}, "partial_cohort"),
     ({"cohort_deadline_s": -1}, "cohort_deadline_s"),
     ({"cohort_deadline_s": 601}, "600 seconds at most")],
    ids=str,
)  # fmt: skip
def test_settings_that_cannot_be_right(
    stand_in: StandIn, settings: dict[str, Any], match: str
) -> None:
    """They are errors when the server is made."""
    with pytest.raises(ConfigError, match=match):
        server(stand_in, **settings)


def test_settings_of_the_environment(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the configuration does not say."""
    from judge_client.nemo_gym import JudgeResourcesServer, JudgeResourcesServerConfig

    settings = {"URL": stand_in.url, "RUBRIC": "theirs", "API_KEY": "k", "TIMEOUT_S": "5"}
    for name, value in settings.items():
        monkeypatch.setenv(f"JUDGE_SERVICE_{name}", value)
    stand_in.says(Told(body={"results": [SUCCESS]}))
    app = JudgeResourcesServer(config=JudgeResourcesServerConfig()).setup_webserver()

    (row,) = verified(app, rollout("4 a"))

    assert row["reward"] == 0.75
    assert stand_in.requests[0].headers["authorization"] == "Bearer k"
    assert stand_in.requests[0].body["items"][0]["rubric"] == "theirs"


def test_a_missing_gym_is_explained() -> None:
    """The package can be imported; a class of it says what to install."""
    code = (
        "import sys; sys.modules['nemo_gym'] = None\n"
        "import judge_client.nemo_gym as adapter\n"
        "try:\n    adapter.JudgeResourcesServer\nexcept ImportError as error:\n    print(error)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(SOURCE)}, capture_output=True,
        text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "pip install nemo-gym" in ran.stdout


def test_the_readme_as_pasted(judged: Digits, tmp_path: Path) -> None:
    """It makes the folder that Gym looks for: what Gym starts is the server, with its settings."""
    shell(code("NeMo Gym", "sh"), tmp_path)
    folder = tmp_path / "resources_servers" / "judge_service"
    *_, server_line = (folder / "judge_service.yaml").read_text().splitlines()
    told = mapping(server_line.split(":", 1)[1])
    assert (told["entrypoint"], told["rubric"]) == ("app.py", "helpfulness")
    assert "judge-service-client" in (folder / "requirements.txt").read_text().split()
    kind = runpy.run_path(str(folder / told["entrypoint"]))["JudgeResourcesServer"]
    given = {**told, "rubric": "quality", "judge_url": judged.url}
    config = kind.model_fields["config"].annotation(**given)

    (row,) = verified(kind(config=config).setup_webserver(), rollout("4 a"))

    assert row["reward"] == 0.75
