"""Texts from the command line: literal, from a file, from stdin."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_service.cli.exits import UserError
from judge_service.cli.source import MAX_BYTES, Sources


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        ("@@handle", "@handle"),
        ("@@", "@"),
        ("a@b.c", "a@b.c"),
        ("--", "--"),
        ("line\nline\n", "line\nline\n"),
    ],
)
def test_a_text_stands_for_itself(given: str, text: str) -> None:
    """Only a leading @ and a lone dash have a meaning; a doubled @ is one."""
    assert Sources().read("--prompt", given) == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"answer\n", "answer"),
        (b"answer\r\n", "answer"),
        (b"answer\n\n", "answer\n"),
        (b"\xef\xbb\xbfanswer", "answer"),
        (b"", ""),
        ("雨だ 😀".encode(), "雨だ 😀"),
        (b"a\r\nb", "a\r\nb"),
    ],
    ids=["newline", "crlf", "two newlines", "bom", "empty", "other scripts", "inner crlf"],
)
def test_a_file_is_read_as_it_is_but_for_its_end(tmp_path: Path, data: bytes, text: str) -> None:
    """An editor's last newline and a byte order mark are not part of the text."""
    (tmp_path / "text").write_bytes(data)

    assert Sources().read("--prompt", f"@{tmp_path / 'text'}") == text


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"caf\xe9", "not UTF-8"), (b"x" * (MAX_BYTES + 2), "at most")],
    ids=["latin-1", "too long"],
)
def test_a_file_that_is_no_text_is_named(tmp_path: Path, data: bytes, words: str) -> None:
    """The option and the file stand in the message."""
    (tmp_path / "text").write_bytes(data)

    with pytest.raises(UserError, match=words) as caught:
        Sources().read("--prompt", f"@{tmp_path / 'text'}")

    assert "--prompt" in str(caught.value)
    assert "text" in str(caught.value)


def test_a_missing_file_is_named_with_the_way_out(tmp_path: Path) -> None:
    """Who meant a text with @ learns how to say so."""
    with pytest.raises(UserError, match=r"nowhere.*@@"):
        Sources().read("--prompt", f"@{tmp_path / 'nowhere'}")


def test_a_folder_is_not_a_text(tmp_path: Path) -> None:
    """A readable error, whatever the path is."""
    with pytest.raises(UserError, match="--prompt"):
        Sources().read("--prompt", f"@{tmp_path}")


def test_half_a_surrogate_pair_is_refused() -> None:
    """An argument that was not UTF-8 arrives as surrogates."""
    with pytest.raises(UserError, match="not UTF-8"):
        Sources().read("--candidate", "caf\udce9")


def test_stdin_is_read_once() -> None:
    """Two options cannot both read standard input."""
    sources = Sources()
    sources.claim("--batch")

    with pytest.raises(UserError, match=r"--prompt.*--batch"):
        sources.read("--prompt", "-")
