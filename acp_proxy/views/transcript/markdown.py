"""The transcript as CommonMark: no raw HTML, nothing loaded, fences longer than what they hold."""

import re
from typing import TYPE_CHECKING

from acp_proxy.views.safe_text import visible, visible_lines
from acp_proxy.views.transcript import sgr
from acp_proxy.views.transcript.agent_markdown import to_markdown
from acp_proxy.views.transcript.folding import ALL, ONE_LINE, Hidden, Limits, cut, folded, lines_of
from acp_proxy.views.transcript.parts import (
    Code,
    Diff,
    Items,
    Line,
    Part,
    Picture,
    Prose,
    Screen,
    Shown,
)
from acp_proxy.views.transcript.shapes import shape
from acp_proxy.views.transcript.wire_shapes import connection_facts, head_facts, opened_shapes
from acp_proxy.views.units import count, since_start
from acp_proxy.wire import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_proxy.log.rows import ConnectionRow
    from acp_proxy.views.transcript.timeline import Timeline

_PROSE = Limits(1000, 0, 8000)
_CODE = Limits(40, 10, 1000)
_QUIET = 300
_SPECIAL = re.compile(r"[\\`*_\[\]<>&#|~!^$]")
_LIST = re.compile(r"^(\d*)([-+.)])(?=\s|$)")  # what would begin a list
_TICKS = re.compile("`+")
_STEPS = {
    "completed": "done: ",
    "in_progress": "doing: ",
    "pending": "to do: ",
    "chosen": "chosen: ",
}


class MarkdownWriter:
    """Writes a transcript as Markdown.

    Args:
        full: Whether long texts are shown whole.

    """

    def __init__(self, *, full: bool = False) -> None:
        self._full = full

    def pieces(self, timeline: "Timeline", row: "ConnectionRow", at: int) -> "Iterator[str]":
        """Yield the transcript in pieces that end with a line."""
        facts = timeline.facts(row, at)
        yield f"# Transcript of connection {facts['connection']}\n\n"
        yield from self._facts(connection_facts(facts))
        for chapter in timeline.chapters():
            head = chapter.head
            if "sessionId" in head:
                yield f"\n## Session {code_span(self._cut(head['sessionId']))}\n"
                yield from self._list(head_facts(head))
            else:
                yield "\n## Before the first session\n"
            for shown in opened_shapes(head):
                yield from self._entry(shown)
            for entry in chapter.entries:
                yield from self._entry(shape(entry))
        if timeline.not_shown:
            yield "\n## Not shown\n\n"
            for sort, number in timeline.not_shown.items():
                yield f"- {number} {sort}\n"

    def _entry(self, shown: Shown) -> "Iterator[str]":
        title = f": {plain_text(shown.title)}" if shown.title else ""
        yield f"\n### {plain_text(shown.who)}{title}\n\n"
        place = [f"message {shown.seq}"]
        place += [f"to {shown.last}"] if shown.last > shown.seq else []
        words = [" ".join(place)]
        words += [f"{since_start(shown.elapsed_ns)} s"] if shown.elapsed_ns is not None else []
        words += [plain_text(tag) for tag in shown.tags if tag]
        yield f"*{', '.join(words)}*\n"
        yield from self._list(shown.facts)
        for part in shown.parts:
            quote = "> " if shown.sort == "thought" else ""
            text = "".join(self._part(part, shown))
            if quote:
                text = (
                    "\n".join(f"> {line}".rstrip() for line in text.rstrip("\n").split("\n")) + "\n"
                )
            yield f"\n{text}"

    def _part(self, part: Part, shown: Shown) -> "Iterator[str]":
        if isinstance(part, Prose):
            yield from self._prose(part)
        elif isinstance(part, Code):
            yield from self._code(part, shown)
        elif isinstance(part, Diff):
            yield f"Diff of {plain_text(part.title)}:\n\n" if part.title else "Diff:\n\n"
            yield from self._fenced(part.lines, "diff")
        elif isinstance(part, Screen):
            yield from self._screen(part)
        elif isinstance(part, Items):
            for mark, text in part.rows:
                sign = _STEPS.get(mark, f"{mark}: " if mark else "")
                yield f"- {plain_text(self._cut(sign))}{plain_text(self._cut(text))}\n"
        elif isinstance(part, Line | Picture):
            text = part.text if isinstance(part, Line) else part.title
            yield f"({plain_text(self._cut(text))})\n"

    def _prose(self, part: Prose) -> "Iterator[str]":
        lines = list(folded(lines_of(part.text), self._limits(_PROSE)))
        text = "\n".join(line.text() if isinstance(line, Hidden) else line for line in lines)
        written = to_markdown(text)
        if written is None:
            yield from self._fenced(lines, "markdown")
        elif written:
            yield written + "\n"

    def _code(self, part: Code, shown: Shown) -> "Iterator[str]":
        title = plain_text(part.title[:1].upper() + part.title[1:])
        if part.language == "json" and shown.is_quiet:
            text = jsontext.compact(part.text.encode(errors="surrogatepass")).decode(
                errors="surrogatepass"
            )
            short = text if self._full else cut(text, _QUIET)
            yield f"{title}: {code_span(short)}\n" if title else f"{code_span(short)}\n"
            return
        if title:
            yield f"{title}:\n\n"
        yield from self._fenced(lines_of(part.text), part.language)

    def _screen(self, part: Screen) -> "Iterator[str]":
        if part.title:
            yield f"{code_span(part.title)}\n\n"
        if part.text is None:
            yield "(its output is not known)\n"
            return
        reading = sgr.Reading(is_full=self._full)
        yield from self._fenced(map(sgr.plain, reading.lines(part.text)), "text")
        if reading.overwritten:
            yield f"\n({count(reading.overwritten, 'overwritten line')} not shown)\n"

    def _fenced(self, lines: "Iterable[str | Hidden]", language: str) -> "Iterator[str]":
        shown = [
            line.text() if isinstance(line, Hidden) else visible_lines(line)
            for line in _folded(lines, self._limits(_CODE))
        ]
        longest = max((len(run) for line in shown for run in _TICKS.findall(line)), default=0)
        fence = "`" * max(longest + 1, 3)
        yield f"{fence}{language}\n"
        for line in shown:
            yield f"{line}\n"
        yield f"{fence}\n"

    def _facts(self, facts: "Iterable[tuple[str, str]]") -> "Iterator[str]":
        for name, value in facts:
            yield f"- {name}: {plain_text(self._cut(value))}\n"

    def _list(self, facts: "Iterable[tuple[str, str]]") -> "Iterator[str]":
        before = "\n"
        for line in self._facts(facts):
            yield before + line
            before = ""

    def _cut(self, text: str) -> str:
        return text if self._full else cut(text, ONE_LINE)

    def _limits(self, limits: Limits) -> Limits:
        return ALL if self._full else limits


def _folded(lines: "Iterable[str | Hidden]", limits: Limits) -> "Iterator[str | Hidden]":
    return folded((one.text() if isinstance(one, Hidden) else one for one in lines), limits)


def plain_text(text: str) -> str:
    r"""Return text that shows as itself inside a line of Markdown.

    >>> plain_text("*a* [b](c)\n<d>")
    '\\*a\\* \\[b\\](c)\\\\n\\<d\\>'
    >>> plain_text("1. - x")
    '1\\. - x'
    """
    return _LIST.sub(r"\1\\\2", _SPECIAL.sub(r"\\\g<0>", visible(text)).lstrip())


def code_span(text: str) -> str:
    """Return text as a code span, whatever backticks are in it.

    >>> code_span("a ` b"), code_span("`"), code_span("")
    ('``a ` b``', '`` ` ``', '(empty)')
    """
    shown = visible(text)
    if not shown:
        return "(empty)"
    ticks = "`" * (max(map(len, _TICKS.findall(shown)), default=0) + 1)
    needs_space = shown[0] == "`" or shown[-1] == "`" or (shown[0] == shown[-1] == " ")
    space = " " if needs_space else ""
    return f"{ticks}{space}{shown}{space}{ticks}"
