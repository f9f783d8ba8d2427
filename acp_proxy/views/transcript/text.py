"""The transcript as text for a terminal: harmless, in colour when that is asked for."""

from typing import TYPE_CHECKING

from acp_proxy.views.safe_text import visible, visible_lines
from acp_proxy.views.transcript import sgr
from acp_proxy.views.transcript.blocks import diff_sign
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
_CODE = Limits(24, 8, 1000)
_QUIET = 300  # characters of JSON of what stands beside the conversation
_BOLD, _DIM, _RED, _GREEN = "1", "2", "31", "32"
_COLOURS = {
    "user": "1;36",
    "agent": "1;32",
    "thought": "2;3",
    "plan": "1;34",
    "tool": "1;33",
    "terminal": "1;33",
    "permission": "1;35",
    "turn": "1",
    "notice": "1;34",
    "odd": "1;31",
}
_BAD = ("failed", "refused", "error", "cancelled", "no answer", "nobody asked", "not understood")
_MARKS = {
    "completed": "[x]",
    "in_progress": "[>]",
    "pending": "[ ]",
    "cancelled": "[-]",
    "chosen": "->",
}


class TextWriter:
    """Writes a transcript as text.

    Args:
        colour: Whether it goes to somebody who sees colours.
        full: Whether long texts are shown whole.

    """

    def __init__(self, *, colour: bool = False, full: bool = False) -> None:
        self._colour = colour
        self._full = full

    def pieces(self, timeline: "Timeline", row: "ConnectionRow", at: int) -> "Iterator[str]":
        """Yield the transcript in pieces that end with a line."""
        facts = timeline.facts(row, at)
        yield self._paint(f"Transcript of connection {facts['connection']}", _BOLD) + "\n"
        yield from self._facts(connection_facts(facts), "  ")
        for chapter in timeline.chapters():
            head = chapter.head
            name = (
                f"Session {self._cut(head['sessionId'])}"
                if "sessionId" in head
                else "Before the first session"
            )
            yield "\n\n" + self._paint(f"== {visible(name)}", _BOLD) + "\n"
            yield from self._facts(head_facts(head), "   ")
            for shown in opened_shapes(head):
                yield "\n"
                yield from self._entry(shown)
            was_quiet = False
            for entry in chapter.entries:
                shown = shape(entry)
                yield "" if was_quiet and shown.is_quiet else "\n"
                was_quiet = shown.is_quiet
                yield from self._entry(shown)
        yield from self._not_shown(timeline)

    def _not_shown(self, timeline: "Timeline") -> "Iterator[str]":
        if timeline.not_shown:
            yield "\n\n" + self._paint("Not shown", _BOLD) + "\n"
            for sort, number in timeline.not_shown.items():
                yield f"  {number:>6}  {sort}\n"

    def _facts(self, facts: "Iterable[tuple[str, str]]", indent: str) -> "Iterator[str]":
        for name, value in facts:
            yield f"{indent}{self._paint(f'{name:<9}', _DIM)} {visible(self._cut(value))}\n"

    def _entry(self, shown: Shown) -> "Iterator[str]":
        when = f"{since_start(shown.elapsed_ns)}s" if shown.elapsed_ns is not None else ""
        who = self._paint(visible(shown.who), _COLOURS.get(shown.sort, _DIM))
        title = visible(" ".join(shown.title.split("\n")))
        tags = ", ".join(self._tag(tag) for tag in shown.tags if tag)
        place = f"#{shown.seq}  {when}" if when else f"#{shown.seq}"
        words = [self._paint(place, _DIM), who]
        words += [title] if title else []
        words += [f"[{tags}]"] if tags else []
        yield "  ".join(words) + "\n"
        yield from self._facts(shown.facts, "    ")
        for part in shown.parts:
            yield from self._part(part, shown)

    def _tag(self, tag: str) -> str:
        text = visible(tag)
        return self._paint(text, _RED) if text.startswith(_BAD) else text

    def _part(self, part: Part, shown: Shown) -> "Iterator[str]":
        if isinstance(part, Prose):
            style = _DIM if shown.is_quiet else None
            yield from self._lines(lines_of(part.text), _PROSE, "    ", style)
        elif isinstance(part, Code):
            yield from self._code(part, shown)
        elif isinstance(part, Diff):
            yield f"    {self._paint(f'diff {visible(part.title)}', _DIM)}\n"
            yield from self._diff(part)
        elif isinstance(part, Screen):
            if part.title:
                yield f"    {self._paint(visible(part.title), _DIM)}\n"
            yield from self._screen(part)
        elif isinstance(part, Items):
            for mark, text in part.rows:
                sign = _MARKS.get(mark, f"[{visible(self._cut(mark))}]" if mark else "  ")
                yield f"    {sign} {visible(self._cut(text))}\n"
        elif isinstance(part, Line | Picture):
            text = part.text if isinstance(part, Line) else part.title
            yield f"    {self._paint(f'({visible(self._cut(text))})', _DIM)}\n"

    def _code(self, part: Code, shown: Shown) -> "Iterator[str]":
        title = f"{visible(part.title)}: " if part.title else ""
        if part.language == "json" and (shown.is_quiet or "\n" not in part.text):
            text = jsontext.compact(part.text.encode(errors="surrogatepass")).decode(
                errors="surrogatepass"
            )
            short = text if self._full else cut(text, _QUIET)
            yield f"    {self._paint(title, _DIM)}{visible(short)}\n"
            return
        if title and "\n" not in part.text and len(part.text) <= _QUIET:
            yield f"    {self._paint(title, _DIM)}{visible(part.text)}\n"
            return
        if title:
            yield f"    {self._paint(title.rstrip(), _DIM)}\n"
        yield from self._lines(lines_of(part.text), _CODE, "      " if title else "    ", None)

    def _diff(self, part: Diff) -> "Iterator[str]":
        for line in folded(part.lines, self._limits(_CODE)):
            if isinstance(line, Hidden):
                yield f"      {self._paint(line.text(), _DIM)}\n"
                continue
            colour = {"+": _GREEN, "-": _RED, "@": "36"}.get(diff_sign(line))
            yield f"      {self._paint(visible_lines(line), colour)}".rstrip() + "\n"

    def _screen(self, part: Screen) -> "Iterator[str]":
        if part.text is None:
            yield f"      {self._paint('(its output is not known)', _DIM)}\n"
            return
        reading = sgr.Reading(is_full=self._full)
        painted = (self._runs(runs) for runs in reading.lines(part.text))
        for line in folded(painted, self._limits(_CODE._replace(width=None))):
            text = self._paint(line.text(), _DIM) if isinstance(line, Hidden) else line
            yield f"      {text}".rstrip(" ") + "\n"
        if reading.overwritten:
            told = f"({count(reading.overwritten, 'overwritten line')} not shown)"
            yield f"      {self._paint(told, _DIM)}\n"

    def _runs(self, runs: "list[sgr.Run]") -> str:
        width = None if self._full else _CODE.width
        length = sum(len(run.text) for run in runs)
        text = "".join(
            self._paint(visible_lines(run.text), ansi(run.style) or None)
            for run in sgr.cut_runs(runs, width)
        )
        if width is not None and length > width:
            text += f" … {count(length - width, 'character')} more, shown with --full"
        return text

    def _lines(
        self, lines: "Iterable[str]", limits: Limits, indent: str, style: str | None
    ) -> "Iterator[str]":
        for line in folded(lines, self._limits(limits)):
            if isinstance(line, Hidden):
                yield f"{indent}{self._paint(line.text(), _DIM)}\n"
            else:
                yield f"{indent}{self._paint(visible_lines(line), style)}".rstrip(" ") + "\n"

    def _cut(self, text: str) -> str:
        return text if self._full else cut(text, ONE_LINE)

    def _limits(self, limits: Limits) -> Limits:
        return ALL if self._full else limits

    def _paint(self, text: str, style: str | None) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self._colour and style and text else text


def ansi(style: sgr.Style) -> str:
    """Return a style as the parameters of one sequence, which we write ourselves."""
    flags = (
        (style.bold, "1"),
        (style.dim, "2"),
        (style.italic, "3"),
        (style.underline, "4"),
        (style.inverse, "7"),
        (style.strike, "9"),
    )
    found = [code for is_set, code in flags if is_set]
    found += [] if style.fg is None else [f"38;5;{style.fg}"]
    found += [] if style.bg is None else [f"48;5;{style.bg}"]
    return ";".join(found)
