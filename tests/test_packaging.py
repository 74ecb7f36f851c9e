"""The wheel and the image: everything is in them that a user needs, and nothing runs as root."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from judge_service.settings import from_env

ROOT = Path(__file__).resolve().parent.parent
FROM_WHEEL = """
import json, sys
sys.path.insert(0, {tree!r})
import judge_service
from judge_service import load_library
from judge_service.judges.family import families_of
from judge_service.rubric.library import shipped
from judge_service.text.escape import encode
from judge_service.cli.app import app
library = load_library()
print(json.dumps({{
    "where": judge_service.__file__,
    "shipped": str(shipped("rubrics")),
    "rubrics": list(library),
    "anchors": sum(len(rubric.anchors) for rubric in library.values()),
    "family": sorted(families_of("openai/gpt-5-mini")),
    "escaped": encode("\\uff1c"),
}}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as it would be published."""
    target = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)],
        cwd=ROOT, check=True, capture_output=True, timeout=100,
    )  # fmt: skip
    (file,) = target.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    """The files in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_has_everything(names: set[str]) -> None:
    """Code, rubrics, anchors, data files and the typing marker are in the wheel."""
    own = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "judge_service").rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }
    data = {
        f"judge_service/data/{file.relative_to(ROOT)}"
        for folder in ("rubrics", "anchors")
        for file in (ROOT / folder).rglob("*")
        if file.is_file()
    }

    assert "judge_service/py.typed" in own
    assert own | data <= names


def test_the_wheel_has_nothing_else(names: set[str]) -> None:
    """Tests, caches and files of one's own are not in the wheel."""
    assert {name.split("/")[0] for name in names if "dist-info" not in name} == {"judge_service"}
    assert not [n for n in names if re.search(r"\.(pyc|pth|lock|sqlite3?|gguf)$|/tests?/", n)]


def test_the_wheel_describes_itself(wheel: Path) -> None:
    """Licence, command and requirements are in the metadata."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith("/METADATA")]
        about = archive.read(name).decode()
        commands = archive.read(name.replace("METADATA", "entry_points.txt")).decode()

    assert "License-Expression: Apache-2.0" in about
    assert "License-File: LICENSE" in about
    assert "Requires-Python: >=3.11" in about
    assert "Requires-Dist: litellm" in about
    assert "judge-service = judge_service.cli:main" in commands


def test_the_installed_wheel_works(
    wheel: Path, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """From the wheel alone, in another folder, the shipped rubrics and tables are found."""
    tree = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tree)

    ran = subprocess.run(
        [sys.executable, "-c", FROM_WHEEL.format(tree=str(tree))],
        cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    found = json.loads(ran.stdout)

    assert found["where"].startswith(str(tree))
    assert found["shipped"].startswith(str(tree))
    assert set(found["rubrics"]) == {file.stem for file in (ROOT / "rubrics").glob("*.toml")}
    assert found["anchors"] > 50
    assert found["family"] == ["openai"]
    assert found["escaped"] == "\\u{FF1C}"


# The image.


@pytest.fixture(scope="module")
def dockerfile() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, continued lines joined, its arguments put in."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    given = dict(re.findall(r"(?m)^ARG (\w+)=(\S+)$", text))
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    pairs = [line.strip().partition(" ") for line in lines if line.strip()]
    found = [(word.upper(), rest.strip()) for word, _, rest in pairs if not word.startswith("#")]
    return [(word, re.sub(r"\$\{(\w+)\}", lambda m: given[m[1]], rest)) for word, rest in found]


def told(dockerfile: list[tuple[str, str]], word: str) -> list[str]:
    """What follows one instruction, wherever it stands."""
    return [rest for name, rest in dockerfile if name == word]


def test_the_image_does_not_run_as_root(dockerfile: list[tuple[str, str]]) -> None:
    """The last user is one with a number of its own, which an orchestrator can check."""
    last_stage = max(at for at, (word, _) in enumerate(dockerfile) if word == "FROM")

    users = told(dockerfile[last_stage:], "USER")

    assert users
    assert users[-1].isdecimal()
    assert int(users[-1]) >= 1000
    words = [word for word, _ in dockerfile[last_stage:]]
    assert "RUN" not in words[words.index("USER") :]


def test_base_images_have_a_version(dockerfile: list[tuple[str, str]]) -> None:
    """No base image is whatever is newest."""
    images = [rest.split()[0] for rest in told(dockerfile, "FROM")]

    assert images
    for image in images:
        assert re.search(r":\d+\.\d+|@sha256:[0-9a-f]{64}$", image), image
        assert ":latest" not in image


def test_the_image_says_whether_it_is_healthy(dockerfile: list[tuple[str, str]]) -> None:
    """There is a health check, made with what is in the image."""
    (check,) = told(dockerfile, "HEALTHCHECK")

    assert "/readyz" in check
    assert not re.search(r"\bcurl\b|\bwget\b", check)
    assert "--timeout=" in check


def test_the_image_is_built_from_hashes(dockerfile: list[tuple[str, str]]) -> None:
    """Dependencies come from the lock files by hash, as wheels, and nothing is fetched besides."""
    runs = " ".join(told(dockerfile, "RUN"))

    assert "--require-hashes" in runs
    assert "--only-binary :all:" in runs
    assert "requirements.lock" in runs
    assert not re.search(r"\bcurl\b|\bwget\b|https?://|\bsudo\b|chmod 777", runs)
    assert not told(dockerfile, "ADD")


def test_the_image_holds_no_secret_and_not_the_whole_folder(
    dockerfile: list[tuple[str, str]],
) -> None:
    """What is copied is named, and no key is set in the image."""
    assert all(rest.split()[0] not in (".", "./", "*") for rest in told(dockerfile, "COPY"))
    variables = " ".join(told(dockerfile, "ENV") + told(dockerfile, "ARG"))
    assert not re.search(r"SECRET|API_KEY|TOKEN|PASSWORD|ALLOW_UNAUTHENTICATED", variables)
    assert "PYTHONSAFEPATH=1" in variables


def test_signals_reach_the_service(dockerfile: list[tuple[str, str]]) -> None:
    """The service is the container's own process, no shell around it."""
    (entry,) = told(dockerfile, "ENTRYPOINT")

    assert json.loads(entry) == ["judge-service"]
    assert json.loads(told(dockerfile, "CMD")[-1]) == ["serve"]


def variables_of(dockerfile: list[tuple[str, str]]) -> dict[str, str]:
    """What the image sets in the environment."""
    words = " ".join(told(dockerfile, "ENV")).split()
    return dict(word.split("=", 1) for word in words)


def test_state_has_one_place(dockerfile: list[tuple[str, str]]) -> None:
    """The default store lies in a volume of the user's own; nothing else needs to be writable."""
    (volume,) = told(dockerfile, "VOLUME")
    environ = variables_of(dockerfile)
    settings = from_env({k: v for k, v in environ.items() if k.startswith(("JUDGE_", "XDG_"))} | {
        "JUDGE_SERVICE_ALLOW_UNAUTHENTICATED": "1",
    })  # fmt: skip
    runs = " ".join(told(dockerfile, "RUN"))

    assert settings.store is None, "a store that was named must be writable, or nothing starts"
    assert settings.default_store is not None
    assert str(settings.default_store.parent) == volume
    assert re.search(rf"install -d -o judge -g judge -m 700 {re.escape(volume)}(\s|$)", runs)
    assert environ["PYTHONDONTWRITEBYTECODE"] == "1"


def test_the_user_of_the_image_can_do_nothing_else(dockerfile: list[tuple[str, str]]) -> None:
    """No login, no home, no installed program that came by apt, no port below 1024."""
    runs = " ".join(told(dockerfile, "RUN"))

    assert "--shell /usr/sbin/nologin" in runs
    assert "--no-create-home" in runs
    assert not re.search(r"\bapt(-get)?\b|setcap|chmod [ug]?\+s", runs)
    assert [int(port) > 1023 for port in told(dockerfile, "EXPOSE")] == [True]


def test_no_instruction_needs_a_shell_at_run_time(dockerfile: list[tuple[str, str]]) -> None:
    """What runs in the container is given as a list of words."""
    for word in ("ENTRYPOINT", "CMD", "HEALTHCHECK"):
        for rest in told(dockerfile, word):
            words = rest.partition("CMD ")[2] if word == "HEALTHCHECK" else rest
            assert all(isinstance(part, str) for part in json.loads(words))


def ignored(path: str) -> bool:
    """Whether the build does not see a path; the last pattern that fits decides."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    found = False
    for line in (line.strip() for line in lines if line.strip() and not line.startswith("#")):
        pattern = line.removeprefix("!").removeprefix("**/")
        parts = [path, *map(str, Path(path).parents), Path(path).name]
        if any(fnmatchcase(part, pattern) for part in parts if part != "."):
            found = not line.startswith("!")
    return found


@pytest.mark.parametrize(
    "path",
    [".git/config", ".venv/bin/python", "tests/harness.py", "keys.toml", "judges.toml",
     "store/secret", ".env", "judge_service/__pycache__/x.pyc", "requirements-dev.lock"],
)  # fmt: skip
def test_the_build_sees_no_more_than_it_needs(path: str) -> None:
    """History, environments, tests and whatever secrets lie about are kept out of the build."""
    assert ignored(path)


def test_the_build_sees_what_is_copied(dockerfile: list[tuple[str, str]]) -> None:
    """Everything that is copied from the folder is there and not ignored."""
    copied = [rest for rest in told(dockerfile, "COPY") if "--from" not in rest]
    names = [name for rest in copied for name in rest.split()[:-1]]

    assert "judge_service" in names
    for name in names:
        assert (ROOT / name).exists(), name
        assert not ignored(name), name
