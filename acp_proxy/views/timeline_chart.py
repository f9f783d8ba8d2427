"""The bars of a turn drawn with characters over time; in ASCII where nothing else can be shown."""

from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.views.columns import cut, pad, width
from acp_proxy.views.safe_text import visible
from acp_proxy.views.units import count, duration

if TYPE_CHECKING:
    from acp_proxy.views.timeline import Bar, Segment, Window

DEFAULT_COLUMNS = 100
"""Of a chart that does not go to a terminal."""
BLOCKS = {
    "turn": "─", "message": "░", "thought": "░", "tool call": "█", "permission": "▒",
    "terminal": "▓", "request": "■", "open": "▶",
}  # fmt: skip
"""What bars are made of, by their kind, and how one ends that had not ended."""
_ASCII = {
    "turn": "-", "message": ".", "thought": ".", "tool call": "#", "permission": "?",
    "terminal": "%", "request": "=", "open": ">",
}  # fmt: skip
_PLAIN = str.maketrans({"…": "~", "µ": "u"})
_LEAST = 20  # columns of a chart
_KIND = 10
_NARROW = 64  # below, what kind a bar is can only be seen from its marks
_TICK = 10  # columns that a mark of the axis takes at least


class _Axis(NamedTuple):
    """From where to where, in ns or in messages, on how many columns."""

    begin: int
    end: int
    columns: int
    is_time: bool

    def at(self, value: int) -> int:
        """Return the column of a value."""
        long = max(self.end - self.begin, 1)
        return min((value - self.begin) * self.columns // long, self.columns - 1)

    def marks(self) -> str:
        """Return the line of times, or of messages, over the bars."""
        step = _nice((self.end - self.begin) * _TICK // self.columns + 1)
        line, value = "", 0
        while value <= self.end - self.begin:
            place = self.at(self.begin + value)
            label = (duration(value) or "0s") if self.is_time else str(self.begin + value)
            label = "0s" if self.is_time and value == 0 else label
            if place + len(label) > self.columns:
                break
            if place >= len(line):
                line += " " * (place - len(line)) + label + " "
            value += step
        return line.rstrip()


def _nice(least: int) -> int:
    """Return the smallest of 1, 2, 5, 10, 20 ... that is not smaller; of a minute on, of minutes.

    >>> [_nice(n) for n in (1, 3, 7, 11, 60)]
    [1, 5, 10, 20, 100]
    """
    power = 1
    while True:
        for factor in (1, 2, 5):
            if power * factor >= least:
                return power * factor
        power *= 10


def chart(
    window: "Window",
    bars: "list[Bar]",
    times: dict[int, int | None],
    columns: int,
    *,
    ascii_only: bool = False,
) -> str:
    """Return the chart of a turn; harmless text.

    Args:
        window: The turn.
        bars: As ``views.timeline.bars`` gives them.
        times: When their messages came. If one is unknown, messages are counted instead.
        columns: How wide the chart may be.
        ascii_only: Draw with ASCII, and escape what is not.

    """
    columns = max(columns, _LEAST)
    last = max(times.values(), key=lambda time: time or 0, default=None)
    is_time = None not in times.values() and last is not None
    values = {seq: (time if is_time and time is not None else seq) for seq, time in times.items()}
    begin, end = values[window.begin], max(values.values())
    marks = _ASCII if ascii_only else BLOCKS
    rows = [
        (bar, _label(bar, ascii_only), _note(bar, values, end, is_time=is_time)) for bar in bars
    ]
    is_narrow = columns < _NARROW
    kinds = 0 if is_narrow else _KIND + 1
    labels = min(max(width(label) for _, label, _ in rows), (columns - kinds) // 3)
    notes = min(max(len(note) for *_, note in rows), (columns - kinds) // 4)
    axis = _Axis(begin, end, max(columns - kinds - labels - notes - 2, 4), is_time)
    lines = [
        cut(_head(window, is_time=is_time), columns),
        "",
        " " * (kinds + labels + 1) + axis.marks(),
    ]
    for bar, label, note in rows:
        kind = "" if is_narrow else pad(bar.kind, kinds)
        drawn = _drawn(bar, values, axis, marks)
        line = f"{kind}{pad(cut(label, labels), labels)} {drawn} {cut(note, notes)}"
        lines.append(line.rstrip())
    text = "\n".join(lines)
    return text.translate(_PLAIN) if ascii_only else text


def _head(window: "Window", *, is_time: bool) -> str:
    session = visible(window.session.session_id)
    order = "" if is_time else "; times are unknown, so messages are counted"
    messages = count(window.end - window.begin + 1, "message")
    return f"turn {window.number}, session {session}: {messages}, {window.begin} to {window.end}{order}"


def _label(bar: "Bar", ascii_only: bool) -> str:
    text = visible(" ".join(bar.label.split()))
    return text.encode("ascii", "backslashreplace").decode() if ascii_only else text


def _note(bar: "Bar", values: dict[int, int], end: int, *, is_time: bool) -> str:
    took = sum(_ends(segment, values, end) - values[segment.seq] for segment in bar.segments)
    words = [duration(took)] if is_time else []
    return " ".join([*words, *([visible(bar.status)] if bar.status else [])])


def _ends(segment: "Segment", values: dict[int, int], end: int) -> int:
    return end if segment.end_seq is None else values[segment.end_seq]


def _drawn(bar: "Bar", values: dict[int, int], axis: _Axis, marks: dict[str, str]) -> str:
    cells = [" "] * axis.columns
    for segment in bar.segments:
        first, last = axis.at(values[segment.seq]), axis.at(_ends(segment, values, axis.end))
        for at in range(first, last + 1):
            cells[at] = marks[bar.kind]
        if segment.end_seq is None:
            cells[last] = marks["open"]
    return "".join(cells)
