"""A report as a page: pictures, and nothing that acts, whatever the texts say."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

from tests.drift.support import Bench, pairs, points
from tests.provider import behaviours


class _Page(HTMLParser):
    """The tags, attributes and texts of a page; unclosed tags are a fault."""

    VOID = ("meta",)

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not {k for k, _ in attrs} & {"href", "src", "xlink:href"}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [v or "" for k, v in attrs if k in ("href", "src", "xlink:href", "action")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


HOSTILE = "</pre><script>alert(\"x\")</script><img src=x onerror=y>\x1b[31m\u202e & 'quoted'"


def hostile_page(bench: Bench) -> str:
    """A page of items, reasons and models that attack whoever reads them."""
    gold = points(12, scores=lambda i: i % 4 + 1)
    for line in gold:
        line["prompt"] += HOSTILE
        line["candidate"] += HOSTILE
        line["id"] += "<b>"
        line["reference"] = HOSTILE
    bench.provider.behave("beta", behaviours.decides(lambda seen: 5, HOSTILE))
    return bench.drift("--format", "html", gold=gold).out


def test_the_page_holds_nothing_that_acts(bench: Bench) -> None:
    """No script, nothing that is loaded, every tag closed, whatever the texts say."""
    page = hostile_page(bench)
    seen = _Page()
    seen.feed(page)

    assert seen.open == []
    assert not {"script", "img", "link", "iframe", "object", "form", "a"} & set(seen.tags)
    assert seen.links == []
    assert "default-src 'none'" in html.unescape(page)
    assert not re.search(r"url\(|@import|https?:", page)
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert '<script>alert("x")</script>' in seen.text


def test_the_page_has_pictures(bench: Bench) -> None:
    """The matrix, the distributions, agreement with its floor, people, length, the items."""
    page = hostile_page(bench)
    titles = re.findall(r"<title>(.*?)</title>", page)

    for title in (
        "How labels changed", "How often each label was given", "Agreement with people",
        "Agreement of the candidate with the baseline", "Length against points",
    ):  # fmt: skip
        assert title in titles
    pair_page = bench.drift(
        "--baseline", "alpha,pair", "--candidate", "beta,pair", "--format", "html", gold=pairs(9)
    ).out
    assert "<title>Position bias</title>" in pair_page
    assert "<title>Length of the winner</title>" in pair_page
