"""What a terminal of its size would show of an output: lines of plain, harmless text.

Needs pyte, the optional extra ``screen``. pyte raises on sequences that it does not
expect and draws some that it does not know; both are kept from it here.
"""

import re
import unicodedata
from codecs import getincrementaldecoder
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import pyte
from wcwidth import wcwidth

from acp_proxy.views.parts import Thing, things
from acp_proxy.views.safe_text import visible
from acp_proxy.views.state_page import output_bytes
from acp_proxy.views.state_tables import Times
from acp_proxy.views.thing_pages import facts, terminal_facts

_COLUMNS, _ROWS = 80, 24
_MOST_COLUMNS, _MOST_ROWS = 512, 256  # no screen is larger; pyte's cost of a line grows with rows
_MOST_BYTES = 256 * 1024  # many screens full, and a fraction of a second
_LONGEST_LINE = 4096  # where the output is cut, the first whole line is looked for so far
_MOST_WORK = 20_000_000  # cells touched: a second or two; no program that means well comes near
_ALTERNATE = frozenset({47, 1047, 1049})  # the screen of full-screen programs
_WIDE, _REVERSED = 3, 5  # 132 columns, which terminals do not obey unless told to; inverted

# ECMA-48: strings that a terminal shows nothing of, and control sequences in parts.
_STRING = re.compile("(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\x18\x1a]*(?:\x1b\\\\|\x9c)?")
_SEQUENCE = re.compile("(?:\x1b\\[|\x9b)([<=>?]?)([0-9:;]*)([ -/]*)([@-~])")
_OLD_NAMES = {"s": "\x1b7", "u": "\x1b8"}  # save and restore the cursor, as pyte knows them


@dataclass(slots=True, frozen=True)
class Screen:
    """A screen and how it came about.

    Attributes:
        columns: Its width.
        rows: Its height.
        is_size_known: The size is the terminal's own, not an assumed one.
        lines: Its lines from the top; empty ones below the last are left out.
        skipped: How many bytes at the beginning of the output were left out.
        is_whole: False when the output clears and moves so much that it was not played to its end.

    """

    columns: int
    rows: int
    is_size_known: bool
    lines: list[str]
    skipped: int
    is_whole: bool


def screen_of(output: bytes, size: dict[str, Any] | None = None) -> Screen:
    r"""Return what a terminal shows after an output; never raises on what stands in it.

    Only the last 256 KiB are looked at, from a line's beginning if one is near, and no
    more is done than a screen can need, so the cost is bounded. What is no UTF-8 is shown
    as the replacement character, but for an unfinished character at the end. Where no line
    ends with CR and LF, the output did not come from a terminal, and LF alone goes to the
    beginning of the next line.

    Args:
        output: All its bytes.
        size: ``cols`` and ``rows`` of the terminal (docs/protocol.md: The agent's terminals); 80 times 24 without.

    >>> screen_of(b"one\ntwo\x1b[1;5H\x1b[31m!", {"cols": 10, "rows": 2}).lines
    ['one !', 'two']
    """
    given = size or {"cols": _COLUMNS, "rows": _ROWS}
    columns, rows = min(given["cols"], _MOST_COLUMNS), min(given["rows"], _MOST_ROWS)
    start = _start(output)
    terminal = _Terminal(columns, rows, is_raw=b"\r\n" in output)
    player = _Player(terminal)
    stream = pyte.Stream(cast("pyte.Screen", player), strict=False)
    for piece in re.findall("\x1b?[^\x1b]*", _legible(output[start:])):
        with suppress(*_FAULTS):  # the rest of a bad sequence; the next begins anew
            stream.feed(piece)
        if player.work > _MOST_WORK:
            break
    lines = [visible(_line(terminal, row).rstrip()) for row in range(rows)]
    while lines and not lines[-1]:
        lines.pop()
    is_whole = player.work <= _MOST_WORK
    return Screen(columns, rows, size is not None, lines, start, is_whole)


def _start(output: bytes) -> int:
    """Return where to begin: at a line, a sequence or a character that begins soon."""
    start = max(0, len(output) - _MOST_BYTES)
    if start == 0:
        return 0
    line = output.find(b"\n", start, start + _LONGEST_LINE) + 1
    sequence = output.find(b"\x1b", start, start + _LONGEST_LINE)
    if line or sequence > 0:
        return line or sequence
    while start < len(output) and output[start] & 0xC0 == 0x80:  # noqa: PLR2004 - UTF-8
        start += 1
    return start


def _legible(output: bytes) -> str:
    """Return an output as text without what pyte would draw though it is no text."""
    text = getincrementaldecoder("utf-8")("replace").decode(output)
    return _SEQUENCE.sub(_known, _STRING.sub("", text))


def _known(sequence: re.Match[str]) -> str:
    private, parameters, intermediate, final = sequence.groups()
    if private == intermediate == parameters == "" and final in _OLD_NAMES:
        return _OLD_NAMES[final]
    is_known = private in ("", "?") and not intermediate and ":" not in parameters
    return sequence[0] if is_known else ""


_FAULTS = (TypeError, ValueError, LookupError, AttributeError)


class _Player:
    """Passes the events of a stream on; one that pyte cannot cope with has no effect.

    ``work`` is how many cells were touched at most; when it is too much, nothing has an
    effect any more.
    """

    def __init__(self, terminal: "_Terminal") -> None:
        self.work = 0
        self._terminal = terminal
        for name in pyte.Stream.events:
            setattr(self, name, partial(self._play, name, getattr(terminal, name)))

    def _play(self, name: str, act: Callable[..., None], *values: Any, **options: Any) -> None:
        self.work += self._cost(name, values)
        if self.work <= _MOST_WORK:
            with suppress(*_FAULTS):
                act(*values, **options)

    def _cost(self, name: str, values: tuple[Any, ...]) -> int:
        rows, columns = self._terminal.lines, self._terminal.columns
        if name == "draw":
            return len(values[0]) * (columns if pyte.modes.IRM in self._terminal.mode else 1)
        if name in _OF_SCREEN or (name in _OF_MODES and not _HEAVY_MODES.isdisjoint(values)):
            return rows * columns * _OF_SCREEN.get(name, 1)
        return columns if name in _OF_LINE else rows


_OF_SCREEN = {"erase_in_display": 1, "alignment_display": 10, "reset": 1}
_OF_MODES = ("set_mode", "reset_mode")
_HEAVY_MODES = frozenset({_REVERSED, *_ALTERNATE})
_OF_LINE = ("insert_characters", "delete_characters", "erase_characters", "erase_in_line", "tab")


_OWN_MODES = frozenset({_WIDE, *_ALTERNATE})  # those that pyte has not, or has otherwise


class _Terminal(pyte.Screen):
    """pyte's screen, with the alternate screen and characters of no width.

    ``is_raw``: a line feed only goes down, as it does on a terminal.
    """

    def __init__(self, columns: int, rows: int, *, is_raw: bool) -> None:
        self._is_raw = is_raw
        self._primary: Any = None
        super().__init__(columns, rows)

    def draw(self, data: str) -> None:
        """Draw text, without what has no width: pyte would leave out what follows."""
        if not (data.isascii() and data.isprintable()):
            data = "".join(c for c in data if wcwidth(c) > 0 or unicodedata.combining(c))
        super().draw(data)

    def linefeed(self) -> None:
        """Go down; to the left too where that is meant."""
        super().linefeed()
        if not self._is_raw:
            self.carriage_return()

    def set_mode(self, *modes: int, **options: Any) -> None:
        """Set modes; the alternate screen is a clean one."""
        if options.get("private") and not _OWN_MODES.isdisjoint(modes):
            if self._primary is None and _WIDE not in modes:
                self._primary = (self.buffer.copy(), self.cursor.x, self.cursor.y)
                self.buffer.clear()
            return
        super().set_mode(*modes, **options)

    def reset_mode(self, *modes: int, **options: Any) -> None:
        """Reset modes; what stood there before the alternate screen stands there again."""
        if options.get("private") and not _OWN_MODES.isdisjoint(modes):
            if self._primary is not None and _WIDE not in modes:
                before, self.cursor.x, self.cursor.y = self._primary
                self._primary = None
                self.buffer.clear()
                self.buffer.update(before)
            return
        super().reset_mode(*modes, **options)

    def write_process_input(self, data: str) -> None:
        """Answer nobody."""


def _line(terminal: pyte.Screen, row: int) -> str:
    """Return a row; half of a wide character that something was written over is blank."""
    cells, parts = terminal.buffer[row], []
    wide = False
    for column in range(terminal.columns):
        text = cells[column].data
        if text:
            following = column + 1 < terminal.columns and cells[column + 1].data != ""
            parts.append(" " if following and wcwidth(text[0]) > 1 else text)
            wide = wcwidth(text[0]) > 1 and not following
        else:
            parts.append("" if wide else " ")
            wide = False
    return "".join(parts)


def screen_page(session_id: str, terminal: Thing, times: Times) -> str:
    """Return a terminal with its screen, for people."""
    lines = terminal_facts(session_id, terminal, times)
    output = output_bytes(terminal)
    if output is None:
        return "\n".join([*lines, *facts(("screen", "unknown, as the output is"))])
    screen = screen_of(output, terminal.get("size"))
    told = f"{screen.columns} columns, {screen.rows} rows"
    if not screen.is_size_known:
        told += " (assumed: the terminal's size is not known)"
    if screen.skipped:
        told += f"; of the last {len(output) - screen.skipped} bytes"
    if not screen.is_whole:
        told += "; not played to its end: too much is cleared and moved"
    lines += facts(("screen", told))
    return "\n".join([*lines, "", *(f"  {line}".rstrip() for line in screen.lines)]).rstrip("\n")


def screens_document(document: Thing) -> Thing:
    """Return a document of terminals with their screens in place of all else.

    A screen has ``cols``, ``rows``, ``sizeKnown``, ``lines``, ``skippedBytes`` and ``whole``;
    a terminal whose output is unknown has none.
    """
    sessions: dict[str, list[Thing]] = {}
    for session_id, terminal in things(document, "terminals"):
        one = {"terminalId": terminal["terminalId"], "owner": terminal["owner"]}
        output = output_bytes(terminal)
        if output is not None:
            screen = screen_of(output, terminal.get("size"))
            one["screen"] = {
                "cols": screen.columns,
                "rows": screen.rows,
                "sizeKnown": screen.is_size_known,
                "lines": screen.lines,
                "skippedBytes": screen.skipped,
                "whole": screen.is_whole,
            }
        sessions.setdefault(session_id, []).append(one)
    told = [{"sessionId": name, "terminals": found} for name, found in sessions.items()]
    return {**document, "sessions": told}
