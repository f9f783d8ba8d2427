"""Transcripts in tests: making them, and what must hold of each, whatever it tells."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.cli.commands import invoke

FORMATS = {"text": "txt", "markdown": "md", "html": "html", "json": "json"}
"""Formats with the ends of their files."""
HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""What must not reach a reader: all but tabs and line feeds."""
_VOID = {"meta", "br", "hr", "img", "link", "input"}
_ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "section", "nav", "article",
    "details", "summary", "figure", "figcaption", "h1", "h2", "h3", "h4", "h5", "h6", "p", "a", "ul",
    "ol", "li", "dl", "dt", "dd", "pre", "code", "span", "div", "table", "thead", "tbody", "tr", "th",
    "td", "em", "strong", "s", "blockquote", "hr", "br", "img",
}  # fmt: skip
_ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "title", "rel",
    "target", "src", "alt", "open", "start", "data-language",
}  # fmt: skip
_WEB = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)


def tell(log: Path, form: str, *options: object) -> bytes:
    """Return the transcript of the newest connection."""
    done = invoke("transcript", "--log", log, "--format", form, *options)
    assert "Traceback" not in done.stderr
    return done.stdout_bytes


def told(log: Path, *options: object) -> Any:
    """Return it as data."""
    return json.loads(tell(log, "json", *options))


def imported(log: Path, file: Path) -> Path:
    """Return a log that holds one file's conversation."""
    invoke("import", file, "--log", log)
    return log


def assert_accounted(document: Any) -> None:
    """Fail unless each message belongs to one entry, one head, or one sort that is not shown."""
    found = sum(document["notShown"].values())
    for session in document["sessions"]:
        found += session["messages"] + sum(entry["messages"] for entry in session["entries"])
    assert found == document["connection"]["at"]


def assert_text(text: str) -> None:
    """Fail if anything in a text could act on a terminal."""
    assert HARMFUL.search(text) is None


def assert_markdown(text: str) -> None:
    """Fail if another program would load or run anything, or take a word of theirs for ours."""
    assert_text(text)
    ours = []
    for token in flat(MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)):
        assert token.type not in ("html_block", "html_inline", "image"), token
        if token.type == "link_open":
            assert _WEB.match(str(token.attrGet("href")))
        if token.type == "heading_open" and int(token.tag[1]) <= 3:
            assert token.level == 0
            assert token.map is not None
            ours.append(token.map[0])
    written = [at for at, line in enumerate(text.split("\n")) if re.match("#{1,3} ", line)]
    assert set(ours) <= set(written)
    assert ours[:1] == [0]


def flat(tokens: list[Token]) -> list[Token]:
    """Return tokens with those inside."""
    return [one for token in tokens for one in (token, *flat(token.children or []))]


class Page(HTMLParser):
    """Reads a page, and fails on what must not be in it.

    Attributes:
        text: All that is shown.
        anchors: The ids, which must differ.
        pictures: The images' sources.

    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.anchors: list[str] = []
        self.pictures: list[str] = []
        self.policy = ""
        self._open: list[str] = []
        assert_text(html)
        self.feed(html)
        self.close()
        assert self._open == []
        assert len(self.anchors) == len(set(self.anchors))
        assert "default-src 'none'" in self.policy
        assert "unsafe" not in self.policy
        assert "script-src" not in self.policy

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _ALLOWED
        if tag not in _VOID:
            self._open.append(tag)
        found = dict(attrs)
        assert set(found) <= _ATTRIBUTES
        if tag == "meta" and "http-equiv" in found:
            self.policy = found["content"] or ""
        if "id" in found:
            self.anchors.append(str(found["id"]))
        if tag == "a":
            href = str(found["href"])
            assert href.startswith("#") or _WEB.match(href)
        if "src" in found:
            assert re.match(
                r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$", found["src"] or ""
            )
            self.pictures.append(str(found["src"]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _VOID
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text += data
            assert HARMFUL.search(data) is None


def assert_harmless(form: str, written: bytes) -> None:
    """Fail unless a transcript is safe to show in its format."""
    text = written.decode()
    if form == "html":
        Page(text)
    elif form == "markdown":
        assert_markdown(text)
    else:
        assert_text(text)
