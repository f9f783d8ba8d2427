"""The transcript as one HTML file: no script, nothing loaded, in the reader's light or dark."""

import re
from html import escape
from typing import TYPE_CHECKING

from acp_proxy.views.safe_text import visible, visible_lines
from acp_proxy.views.transcript import sgr
from acp_proxy.views.transcript.agent_markdown import to_html
from acp_proxy.views.transcript.blocks import diff_sign
from acp_proxy.views.transcript.folding import ALL, ONE_LINE, Hidden, Limits, cut, folded, lines_of
from acp_proxy.views.transcript.html_style import POLICY, STYLE
from acp_proxy.views.transcript.parts import (
    Code,
    Diff,
    Items,
    Part,
    Picture,
    Prose,
    Screen,
    Shown,
)
from acp_proxy.views.transcript.shapes import shape
from acp_proxy.views.transcript.wire_shapes import connection_facts, head_facts, opened_shapes
from acp_proxy.views.units import count, since_start

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_proxy.log.rows import ConnectionRow
    from acp_proxy.views.transcript.timeline import Timeline

_CODE = Limits(400, 100, 4000)
_PLAIN = Limits(2000, 0, 20_000)
_LARGEST_PICTURE = 8 * 1024 * 1024  # characters of base64
_SIGNS = {"+": "add", "-": "del", "@": "at"}
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_GOOD = ("completed", "end_turn")
_BAD = ("failed", "refused", "error", "cancelled", "no answer", "nobody asked", "not understood")
_SHORT = 100  # characters of a text that needs no box of its own


class HTMLWriter:
    """Writes a transcript as a page.

    Args:
        full: Whether long texts are shown whole.

    """

    def __init__(self, *, full: bool = False) -> None:
        self._full = full
        self._last = ""  # the last anchor, of which another may follow

    def pieces(self, timeline: "Timeline", row: "ConnectionRow", at: int) -> "Iterator[str]":
        """Yield the page in pieces."""
        facts = timeline.facts(row, at)
        title = f"Transcript of connection {facts['connection']}"
        yield (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="referrer" content="no-referrer">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
            f"<header>\n<h1>{title}</h1>\n{self._facts(connection_facts(facts))}</header>\n"
        )
        yield self._navigation(timeline)
        yield "<main>\n"
        for number, chapter in enumerate(timeline.chapters(), 1):
            head = chapter.head
            name = (
                f"Session <code>{_one(self._cut(head['sessionId']))}</code>"
                if "sessionId" in head
                else ("Before the first session")
            )
            yield f'<section id="s{number}">\n<h2>{name}</h2>\n{self._facts(head_facts(head))}'
            for shown in opened_shapes(head):
                yield from self._entry(shown)
            for entry in chapter.entries:
                yield from self._entry(shape(entry))
            yield "</section>\n"
        yield from _not_shown(timeline)
        yield "</main>\n</body>\n</html>\n"

    def _entry(self, shown: Shown) -> "Iterator[str]":
        anchor = self._anchor(shown.seq)
        span = f"#{shown.seq}" + (f"\u2013{shown.last}" if shown.last > shown.seq else "")
        when = f" · {since_start(shown.elapsed_ns)}s" if shown.elapsed_ns is not None else ""
        title = f'<span class="title">{_one(shown.title)}</span>' if shown.title else ""
        tags = "".join(_tag(tag) for tag in shown.tags if tag)
        headline = (
            f'<h3><span class="who">{_one(shown.who)}</span>{title}{tags}'
            f'<a class="place" href="#{anchor}">{span}{when}</a></h3>'
        )
        classes = f"entry {shown.sort}"
        facts = self._facts(shown.facts)
        if shown.is_quiet and (shown.parts or facts):
            yield f'<details class="{classes}" id="{anchor}"><summary>{headline}</summary>\n{facts}'
            end = "</details>\n"
        else:
            yield f'<article class="{classes}" id="{anchor}">{headline}\n{facts}'
            end = "</article>\n"
        for part in shown.parts:
            yield from self._part(part, shown)
        yield end

    def _anchor(self, seq: int) -> str:
        """Return a name that no other entry has: entries of one message follow one another."""
        anchor = f"m{seq}"
        if self._last.partition("-")[0] == anchor:
            more = self._last.partition("-")[2]
            anchor = f"{anchor}-{int(more or 1) + 1}"
        self._last = anchor
        return anchor

    def _part(self, part: Part, shown: Shown) -> "Iterator[str]":
        if isinstance(part, Prose):
            yield from self._prose(part, shown)
        elif isinstance(part, Code):
            yield from self._code(part, shown)
        elif isinstance(part, Diff):
            yield (
                f"<figure><figcaption>{_one(part.title)}</figcaption>" if part.title else "<figure>"
            )
            yield '<pre class="diff">'
            yield from self._diff(part)
            yield "</pre></figure>\n"
        elif isinstance(part, Screen):
            yield from self._screen(part)
        elif isinstance(part, Items):
            yield from self._items(part, shown)
        elif isinstance(part, Picture):
            yield _picture(part)
        else:
            yield f'<p class="line">{_one(self._cut(part.text))}</p>\n'

    def _prose(self, part: Prose, shown: Shown) -> "Iterator[str]":
        html = to_html(part.text, keep_lines=shown.sort == "user")
        if html is not None:
            yield f'<div class="prose">{html}</div>\n'
            return
        yield '<pre class="wrap">'
        yield from self._lines(lines_of(part.text), _PLAIN)
        yield "</pre>\n"

    def _code(self, part: Code, shown: Shown) -> "Iterator[str]":
        title = _one(part.title)
        if title and "\n" not in part.text and len(part.text) <= _SHORT:
            yield f'<p class="line">{title}: <code>{_one(part.text)}</code></p>\n'
            return
        is_open = shown.is_quiet or not title
        if title:
            yield f"<details{' open' if is_open else ''}><summary>{title}</summary>"
        yield '<pre class="wrap">'
        yield from self._lines(lines_of(part.text), _CODE)
        yield "</pre></details>\n" if title else "</pre>\n"

    def _diff(self, part: Diff) -> "Iterator[str]":
        for line in folded(part.lines, self._limits(_CODE)):
            if isinstance(line, Hidden):
                yield f'<span class="at">{line.text()}</span>'
                continue
            name = _SIGNS.get(diff_sign(line), "")
            text = escape(visible_lines(line)) or " "
            yield f'<span class="{name}">{text}</span>' if name else f"<span>{text}</span>"

    def _screen(self, part: Screen) -> "Iterator[str]":
        yield "<figure>"
        if part.title:
            yield f"<figcaption><code>{_one(part.title)}</code></figcaption>"
        if part.text is None:
            yield '<p class="line">its output is not known</p></figure>\n'
            return
        reading = sgr.Reading(is_full=self._full)
        rows = (self._row(runs) for runs in reading.lines(part.text))
        yield '<pre class="screen">'
        for line in folded(rows, self._limits(_CODE._replace(width=None))):
            text = line.text() if isinstance(line, Hidden) else line
            yield f'<span class="row">{text or " "}</span>'
        yield "</pre>"
        if reading.overwritten:
            told = count(reading.overwritten, "overwritten line")
            yield f'<p class="line">{told} not shown</p>'
        yield "</figure>\n"

    def _row(self, runs: "list[sgr.Run]") -> str:
        width = None if self._full else _CODE.width
        length = sum(len(run.text) for run in runs)
        html = "".join(_run(run) for run in sgr.cut_runs(runs, width))
        if width is not None and length > width:
            html += f" … {count(length - width, 'character')} more, shown with --full"
        return html

    def _lines(self, lines: "Iterable[str]", limits: Limits) -> "Iterator[str]":
        for line in folded(lines, self._limits(limits)):
            if isinstance(line, Hidden):
                yield f'<span class="hidden">{line.text()}</span>\n'
            else:
                yield escape(visible_lines(line)) + "\n"

    def _facts(self, facts: "Iterable[tuple[str, str]]") -> str:
        rows = "".join(
            f"<dt>{_one(name)}</dt><dd>{_one(self._cut(value))}</dd>" for name, value in facts
        )
        return f"<dl>{rows}</dl>\n" if rows else ""

    def _items(self, part: Items, shown: Shown) -> "Iterator[str]":
        yield '<ul class="steps">\n'
        for mark, text in part.rows:
            known = mark if mark in ("completed", "in_progress", "cancelled", "chosen") else ""
            name = f"{known} option".strip() if shown.sort == "permission" else known
            word = f"{_one(self._cut(mark))}: " if mark not in (known, "pending") else ""
            yield (
                f'<li class="{name}">{word}{_one(self._cut(text))}</li>\n'
                if name
                else (f"<li>{word}{_one(self._cut(text))}</li>\n")
            )
        yield "</ul>\n"

    def _navigation(self, timeline: "Timeline") -> str:
        names = timeline.names()
        if len(names) < 2:  # noqa: PLR2004 - nothing to choose from
            return ""
        rows = "".join(
            f'<li><a href="#s{number}">{_one(self._cut(name)) if name else "Before the first session"}</a></li>\n'
            for number, name in enumerate(names, 1)
        )
        return f"<nav>\n<ul>\n{rows}</ul>\n</nav>\n"

    def _cut(self, text: str) -> str:
        return text if self._full else cut(text, ONE_LINE)

    def _limits(self, limits: Limits) -> Limits:
        return ALL if self._full else limits


def _one(text: str) -> str:
    """Return text harmless and escaped, on one line."""
    return escape(visible(text))


def _tag(tag: str) -> str:
    word = "bad" if tag.startswith(_BAD) else "good" if tag.startswith(_GOOD) else ""
    return (
        f'<span class="tag {word}">{_one(tag)}</span>'
        if word
        else (f'<span class="tag">{_one(tag)}</span>')
    )


def _not_shown(timeline: "Timeline") -> "Iterator[str]":
    if not timeline.not_shown:
        return
    yield "<section>\n<h2>Not shown</h2>\n<ul>\n"
    for sort, number in timeline.not_shown.items():
        yield f"<li>{number} {_one(sort)}</li>\n"
    yield "</ul>\n</section>\n"


def _picture(part: Picture) -> str:
    data = "".join(part.data.split())
    if len(data) > _LARGEST_PICTURE or not _BASE64.fullmatch(data):
        return f'<p class="line">{_one(part.title)}</p>\n'
    return (
        f'<figure><img src="data:{part.mime};base64,{data}" alt="{_one(part.title)}">'
        f"<figcaption>{_one(part.title)}</figcaption></figure>\n"
    )


def _run(run: "sgr.Run") -> str:
    text = escape(visible_lines(run.text))
    style = run.style
    if style == sgr.PLAIN:
        return text
    flags = zip(
        "bdius", (style.bold, style.dim, style.italic, style.underline, style.strike), strict=True
    )
    names = [f"s{letter}" for letter, is_set in flags if is_set]
    fg, bg = style.fg, style.bg
    if style.inverse:
        names += ["fd" if bg is None else f"f{bg}", "gd" if fg is None else f"g{fg}"]
    else:
        names += [] if fg is None else [f"f{fg}"]
        names += [] if bg is None else [f"g{bg}"]
    return f'<span class="{" ".join(names)}">{text}</span>'
