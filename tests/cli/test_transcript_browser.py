"""Transcripts in a real browser: nothing runs, nothing is asked for, nothing overflows."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import Browser, Tab, browser
from tests.cli.conversations import put
from tests.cli.test_transcript import CONVERSATIONS
from tests.cli.test_transcript_hostile import START, TEXTS, every_place
from tests.cli.transcripts import imported, tell

_SCREENS = [(1280, 900, False), (1280, 900, True), (390, 844, False), (320, 600, True)]
_CAPTURES = ("02", "04", "05", "07")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all pages."""
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(params=["v1", "v2", "hostile", *_CAPTURES])
def page(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The page of a conversation."""
    name = request.param
    if name == "hostile":
        log = put(tmp_path / "log.db", [*START, *every_place("\n\n".join(TEXTS))])
    elif name in _CAPTURES:
        [file] = request.getfixturevalue("captures").glob(f"{name}*.jsonl")
        log = imported(tmp_path / "log.db", file)
    else:
        log = imported(tmp_path / "log.db", CONVERSATIONS / f"{name}.jsonl")
    path = tmp_path / "page.html"
    path.write_bytes(tell(log, "html"))
    return path


def asked_for(tab: Tab, page: Path) -> list[str]:
    """Return what a page asked for beside itself and what stands in it."""
    return [url for url in tab.requests if url != page.as_uri() and not url.startswith("data:")]


@pytest.mark.parametrize(("width", "height", "dark"), _SCREENS)
def test_nothing_runs_is_asked_for_or_overflows(
    chromium: Browser, page: Path, width: int, height: int, dark: bool
) -> None:
    tab = Tab(chromium)
    tab.show(page, width, height, dark=dark)
    for opened in (False, True):
        tab.ask(
            f"document.querySelectorAll('details').forEach(one => one.open = {str(opened).lower()})"
        )

        assert tab.ask("document.documentElement.scrollWidth") <= width
        assert asked_for(tab, page) == []
        assert tab.complaints == []
        assert tab.ask("document.scripts.length + document.querySelectorAll('iframe').length") == 0


def test_the_style_is_allowed_and_follows_light_and_dark(chromium: Browser, page: Path) -> None:
    grounds = []
    for dark in (False, True):
        tab = Tab(chromium)
        tab.show(page, 800, 600, dark=dark)
        assert (
            tab.ask("getComputedStyle(document.querySelector('.entry')).borderLeftWidth") == "3px"
        )
        grounds.append(tab.ask("getComputedStyle(document.body).backgroundColor"))

    assert grounds[0] != grounds[1]


def test_each_entry_can_be_linked_to(chromium: Browser, page: Path) -> None:
    tab = Tab(chromium)
    tab.show(page, 800, 600)

    entries = tab.ask("document.querySelectorAll('.entry').length")
    linked = tab.ask(
        "[...document.querySelectorAll('.entry a.place')]"
        ".filter(one => document.querySelector(one.getAttribute('href')) === one.closest('.entry')).length"
    )

    assert entries == linked > 0


def test_what_is_closed_is_printed_too(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(tell(imported(tmp_path / "log.db", CONVERSATIONS / "v1.jsonl"), "html"))
    tab = Tab(chromium)
    tab.show(path, 800, 600)
    seen = "getComputedStyle(document.querySelector('details.thought'), '::details-content')"

    before = tab.ask(f"{seen}.contentVisibility")
    tab.call("Emulation.setEmulatedMedia", media="print")

    assert (before, tab.ask(f"{seen}.contentVisibility")) == ("hidden", "visible")


def test_a_bad_page_would_be_noticed(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "bad.html"
    path.write_text('<p style="width:3000px">x<img src="other.png"><script>throw 1</script>')
    tab = Tab(chromium)
    tab.show(path, 800, 600)

    assert tab.ask("document.documentElement.scrollWidth") > 800
    assert asked_for(tab, path)
    assert tab.complaints
    assert tab.ask("document.scripts.length") == 1
