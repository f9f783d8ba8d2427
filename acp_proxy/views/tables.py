"""Rows as tables for people: harmless cells in columns, also where the terminal is narrow."""

import re
from typing import TYPE_CHECKING

from acp_proxy.views.columns import cut, pad, width, wrap
from acp_proxy.views.safe_text import visible
from acp_proxy.views.units import duration, since_start, size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acp_proxy.log.rows import ConnectionRow, MessageRow

_SHORT_UUID = 8
_GAP = 2
_INDENT = 4  # of the further lines of a row that takes several
_FLOOR = 16  # a column is made no narrower to get a row onto one line
_LONGEST_ID = 40  # nor is the first, which people copy, unless it is longer
_ROOM = 20  # what a column must have left on a line to be cut there instead of going to the next


class Table(str):
    """A laid out table, which can be laid out again for a terminal (``fit``)."""

    __slots__ = ("cells", "headers", "right")

    headers: list[str]
    cells: list[list[str]]
    right: list[bool]

    def fitted(self, columns: int) -> str:
        """Return the table in so many columns.

        What is empty in all rows is left out and wide columns are cut; where that is not
        enough, each row takes several lines, of which all but the first are indented.
        """
        if max(map(width, self.split("\n"))) <= columns:
            return self
        used = [at for at in range(len(self.headers)) if any(row[at] for row in self.cells)] or [0]
        lines = [[row[at] for at in used] for row in [self.headers, *self.cells]]
        right = [self.right[at] for at in used]
        widths = _widths(lines)
        narrower = _narrowed(widths, right, columns)
        if narrower is None:
            return _folded(lines, widths, right, columns)
        cells = [[cut(cell, w) for cell, w in zip(line, narrower, strict=True)] for line in lines]
        return _laid_out(cells, narrower, right)


def table(headers: "Sequence[str]", rows: "Iterable[Sequence[object]]", right: str = "") -> Table:
    """Return a table; columns whose headers ``right`` names are flush right."""
    flush_right = right.split()
    cells = [["" if cell is None else visible(str(cell)) for cell in row] for row in rows]
    is_right = [name in flush_right for name in headers]
    lines = [[*headers], *cells]
    text = Table(_laid_out(lines, _widths(lines), is_right))
    text.headers, text.cells, text.right = [*headers], cells, is_right
    return text


def _widths(rows: list[list[str]]) -> list[int]:
    return [max(map(width, column)) for column in zip(*rows, strict=True)]


def _laid_out(rows: list[list[str]], widths: list[int], right: list[bool]) -> str:
    return "\n".join(
        (" " * _GAP)
        .join(pad(cell, w, right=r) for cell, w, r in zip(row, widths, right, strict=True))
        .rstrip()
        for row in rows
    )


def _folded(rows: list[list[str]], widths: list[int], right: list[bool], columns: int) -> str:
    lines = []
    indent = _INDENT if columns > 4 * _INDENT else 0
    groups = _groups(widths, right, columns, indent)
    for row in rows:
        for begin, rooms in groups:
            part = [cut(row[begin + at], room) for at, room in enumerate(rooms)]
            if begin == 0 or any(part):
                line = _laid_out([part], rooms, right[begin : begin + len(rooms)])
                lines.append(" " * (indent if begin else 0) + line)
    return "\n".join(lines)


def _narrowed(widths: list[int], right: list[bool], columns: int) -> list[int] | None:
    """Return widths that fit, the widest made narrower first; None when that would be too narrow."""
    floors = [w if flush else min(w, _FLOOR) for w, flush in zip(widths, right, strict=True)]
    floors[0] = min(widths[0], _LONGEST_ID)
    room = columns - _GAP * (len(widths) - 1)
    if sum(floors) > room:
        return None
    low, high = 0, max(widths)
    while low < high:  # the largest limit with which all fits
        limit = (low + high + 1) // 2
        if sum(max(min(w, limit), f) for w, f in zip(widths, floors, strict=True)) <= room:
            low = limit
        else:
            high = limit - 1
    fitting = [max(min(w, low), f) for w, f in zip(widths, floors, strict=True)]
    for at in reversed(range(len(widths))):  # what rounding left over
        fitting[at] += min(widths[at] - fitting[at], room - sum(fitting))
    return fitting


def _groups(
    widths: list[int], right: list[bool], columns: int, indent: int
) -> list[tuple[int, list[int]]]:
    """Return the columns of each line of a row: the first of them, and the widths."""
    groups: list[tuple[int, list[int]]] = []
    room = -1
    for at, w in enumerate(widths):
        left = room - _GAP
        if groups and (w <= left or (left >= _ROOM and not right[at])):
            groups[-1][1].append(min(w, left))
            room = left - groups[-1][1][-1]
            continue
        whole = max(columns - (indent if groups else 0), 1)
        groups.append((at, [min(w, whole)]))
        room = whole - groups[-1][1][-1]
    return groups


def connections_table(rows: "Iterable[ConnectionRow]") -> str:
    """Return connections, one a line."""
    return table(
        (
            "ID",
            "UUID",
            "STARTED",
            "TOOK",
            "CLIENT",
            "AGENT",
            "VER",
            "MESSAGES",
            "BYTES",
            "ENDED",
            "LABEL",
        ),
        (
            (
                row.id,
                row.uuid[:_SHORT_UUID],
                _minute(row.started_ns),
                duration(row.duration_ns),
                _program(row.client),
                _program(row.agent) or command_text(row.command)[:40],
                row.protocol_version,
                row.messages,
                size(sum(row.streams.values())),
                ended_text(row),
                row.label,
            )
            for row in rows
        ),
        right="ID TOOK MESSAGES BYTES",
    )


MESSAGE_HEADERS = (
    "SEQ",
    "TIME",
    "FROM",
    "KIND",
    "WHAT",
    "ABOUT",
    "BYTES",
    "TOOK",
    "FLAGS",
    "PREVIEW",
)


def message_cells(row: "MessageRow", preview: str) -> list[object]:
    """Return the cells of a message under MESSAGE_HEADERS."""
    return [
        row.seq,
        since_start(row.elapsed_ns),
        row.stream,
        row.kind,
        what_text(row),
        about_text(row),
        size(row.size),
        duration(row.duration_ns),
        " ".join(row.flags),
        preview,
    ]


def messages_table(cells: "Iterable[Sequence[object]]") -> str:
    """Return messages, one a line."""
    return table(MESSAGE_HEADERS, cells, right="SEQ TIME BYTES TOOK")


def what_text(row: "MessageRow") -> str:
    """Return a message's method and id, or what it answers."""
    if row.request_seq is not None:
        return f"-> {row.request_seq} {row.request_method or ''}".rstrip()
    if row.kind in ("result", "error"):
        return f"-> ? id {row.id}"
    name = row.session_update or row.method or ""
    return f"{name} #{row.id}" if row.id is not None else name


def about_text(row: "MessageRow") -> str:
    """Return the ids that a message mentions, shortened."""
    found = (("s", row.session_id), ("c", row.tool_call_id), ("t", row.terminal_id))
    return " ".join(f"{mark}:{short_id(text)}" for mark, text in found if text is not None)


def ended_text(row: "ConnectionRow") -> str:
    """Return how a connection ended, in a word or two."""
    gaps = " with gaps" if row.gaps else ""
    if row.unreadable:
        gaps += f", unreadable: {', '.join(row.unreadable)}"
    if row.status == "exited":
        return f"exit {row.exit_code}{gaps}"
    if row.status == "killed":
        return f"signal {row.signal}{gaps}"
    return row.status + gaps


def command_text(command: object) -> str:
    """Return a command as one would type it, near enough to recognise it."""
    return " ".join(map(str, command)) if isinstance(command, list) else str(command or "")


def _program(names: dict[str, str]) -> str:
    return " ".join(filter(None, (names.get("name"), names.get("version"))))[:40]


def short_id(text: str) -> str:
    """Return an id, of a long one the end."""
    return text if len(text) <= 12 else f"…{text[-8:]}"  # noqa: PLR2004 - columns of a table


def _minute(time_ns: int | None) -> str:
    from acp_proxy.views.jsonlines import rfc3339  # noqa: PLC0415 - tables of other rows need no dates

    text = rfc3339(time_ns)
    return "" if text is None else f"{text[:10]} {text[11:19]}Z"


def fit(text: str, columns: int) -> str:
    """Return text in so many columns of a terminal: a table laid out anew, other lines cut."""
    if isinstance(text, Table):
        return text.fitted(columns)
    return "\n".join(cut(line, columns) for line in text.splitlines())


_FACT = re.compile(r"[a-z][a-z _]{0,10}: *(?=\S)")
_FACT_HEAD = 12


def fit_page(parts: "Iterable[str]", columns: int | None) -> str:
    """Return a page for a terminal of so many columns, None for no terminal.

    Tables are laid out anew; facts (``name:       value``) are wrapped under their
    values. Other lines, which are somebody's text, are left to the terminal: so they
    can be copied.
    """
    if columns is None:
        return "\n\n".join(parts)
    return "\n\n".join(
        part.fitted(columns)
        if isinstance(part, Table)
        else "\n".join(_fact(line, columns) for line in part.split("\n"))
        for part in parts
    )


def fit_lines(text: str, columns: int | None) -> str:
    """Return lines of ours for a terminal of so many columns, wrapped under their beginnings."""
    if columns is None or columns < _ROOM:
        return text
    lines = []
    for line in text.split("\n"):
        body = line.lstrip(" ")
        indent = len(line) - len(body)
        first, *rest = [line] if width(line) <= columns else wrap(body, columns - indent - _INDENT)
        lines.append(first if first == line else " " * indent + first)
        lines += [" " * (indent + _INDENT) + one for one in rest]
    return "\n".join(lines)


def _fact(line: str, columns: int) -> str:
    match = _FACT.match(line)
    if match is None or match.end() != _FACT_HEAD or width(line) <= columns or columns < _ROOM:
        return line
    lines = wrap(line[_FACT_HEAD:], columns - _FACT_HEAD)
    return line[:_FACT_HEAD] + f"\n{' ' * _FACT_HEAD}".join(lines)
