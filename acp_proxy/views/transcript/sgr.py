r"""What a terminal was sent, as lines of runs with colours: of its sequences only those are obeyed.

Nothing moves the cursor here, so nothing can be hidden by what comes later, but for
a line that was begun anew (``\r``), of which only the last form is shown unless all
is asked for. Sequences without a look (titles, modes, erasing to the end of the
line) are left out and counted; all others stay, to be made visible.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from acp_proxy.views.transcript.folding import lines_of

_SEQUENCE = re.compile(
    "\x1b\\[(?P<sgr>[0-9;:]{0,200})m"
    "|(?P<mute>\x1b\\[[0-9;]{0,8}K|\x1b\\[\\?[0-9;]{1,20}[hl]|\x1b[=>]|\x1b[()][AB0]"
    "|\x1b\\](?:[01278]|133|633|1337);[^\x07\x1b]{0,2000}(?:\x07|\x1b\\\\))"
)
_CUBE = (0, 95, 135, 175, 215, 255)


class Style(NamedTuple):
    """How a run looks; colours are numbers of the palette of 256."""

    fg: int | None = None
    bg: int | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    inverse: bool = False
    strike: bool = False


PLAIN = Style()


class Run(NamedTuple):
    """Text in one look; as it was sent."""

    style: Style
    text: str


class Reading:
    """Reads what a terminal was sent.

    Attributes:
        overwritten: How many lines were begun anew and are not shown.
        left_out: How many sequences without a look were left out.

    """

    def __init__(self, *, is_full: bool = False) -> None:
        self.overwritten = 0
        self.left_out = 0
        self._is_full = is_full
        self._style = PLAIN

    def lines(self, text: str) -> Iterator[list[Run]]:
        """Yield the lines."""
        for raw in lines_of(text):
            line = raw.rstrip("\r")
            if not self._is_full and "\r" in line:
                *before, line = line.split("\r")
                for part in before:
                    self._runs(part)  # for its colours
                self.overwritten += len(before)
            yield self._runs(line)

    def _runs(self, line: str) -> list[Run]:
        if "\x1b" not in line:
            return [Run(self._style, line)] if line else []
        runs: list[Run] = []
        begin = 0
        for match in _SEQUENCE.finditer(line):
            if begin < match.start():
                runs.append(Run(self._style, line[begin : match.start()]))
            begin = match.end()
            if match["mute"] is None:
                self._style = _changed(self._style, match["sgr"])
            else:
                self.left_out += 1
        if begin < len(line):
            runs.append(Run(self._style, line[begin:]))
        return runs


def plain(runs: list[Run]) -> str:
    """Return the text of a line."""
    return "".join(run.text for run in runs)


def cut_runs(runs: list[Run], width: int | None) -> list[Run]:
    """Return the beginning of a line."""
    if width is None:
        return runs
    kept: list[Run] = []
    for run in runs:
        if width <= 0:
            break
        kept.append(Run(run.style, run.text[:width]))
        width -= len(run.text)
    return kept


def _changed(style: Style, parameters: str) -> Style:
    """Return a style after the parameters of one sequence."""
    if not parameters:
        return PLAIN
    for group in _groups(parameters):
        style = _after(style, group)
    return style


def _groups(parameters: str) -> Iterator[list[int]]:
    """Yield the parameters, those of an extended colour together, whatever separates them."""
    numbers = [int(part or 0) for part in parameters.replace(":", ";").split(";") if len(part) < 6]  # noqa: PLR2004
    at = 0
    while at < len(numbers):
        length = 1
        if numbers[at] in (38, 48, 58):
            length = {5: 3, 2: 5}.get(numbers[at + 1] if at + 1 < len(numbers) else 0, 1)
        yield numbers[at : at + length]
        at += length


_FLAGS = {
    1: ("bold",),
    2: ("dim",),
    3: ("italic",),
    4: ("underline",),
    7: ("inverse",),
    9: ("strike",),
}
_ENDS = {
    22: ("bold", "dim"),
    23: ("italic",),
    24: ("underline",),
    27: ("inverse",),
    29: ("strike",),
}
_EXTENDED = {38: "fg", 48: "bg"}
_DEFAULTS = {39: "fg", 49: "bg"}
_BASES = ((30, 0, "fg"), (40, 0, "bg"), (90, 8, "fg"), (100, 8, "bg"))


def _after(style: Style, group: list[int]) -> Style:
    code = group[0]
    if code == 0:
        return PLAIN
    if code in _FLAGS:
        return style._replace(**dict.fromkeys(_FLAGS[code], True))
    if code in _ENDS:
        return style._replace(**dict.fromkeys(_ENDS[code], False))
    return _coloured(style, group)


def _coloured(style: Style, group: list[int]) -> Style:
    code = group[0]
    if code in _EXTENDED:
        return _dyed(style, _EXTENDED[code], _extended(group))
    if code in _DEFAULTS:
        return _dyed(style, _DEFAULTS[code], None)
    for base, first, side in _BASES:
        if base <= code < base + 8:
            return _dyed(style, side, code - base + first)
    return style


def _dyed(style: Style, side: str, colour: int | None) -> Style:
    return style._replace(fg=colour) if side == "fg" else style._replace(bg=colour)


def _extended(group: list[int]) -> int | None:
    """Return a colour of the palette, the nearest one for red, green, blue."""
    if len(group) == 3:  # noqa: PLR2004 - 38;5;N
        return group[2] if group[2] < 256 else None  # noqa: PLR2004
    if len(group) == 5:  # noqa: PLR2004 - 38;2;R;G;B
        red, green, blue = (_nearest(value) for value in group[2:])
        return 16 + 36 * red + 6 * green + blue
    return None


def _nearest(value: int) -> int:
    return min(range(6), key=lambda step: abs(_CUBE[step] - value))


def palette(number: int) -> str:
    """Return the colour of a number from 16 on as in CSS."""
    if number >= 232:  # noqa: PLR2004 - the greys
        grey = 8 + 10 * (number - 232)
        return f"#{grey:02x}{grey:02x}{grey:02x}"
    red, rest = divmod(number - 16, 36)
    green, blue = divmod(rest, 6)
    return f"#{_CUBE[red]:02x}{_CUBE[green]:02x}{_CUBE[blue]:02x}"
