"""Rows as tables for people: tabulate lays them out, cells are made harmless first."""

from typing import TYPE_CHECKING

from tabulate import tabulate
from wcwidth import wcwidth

from acp_proxy.views.preview import clip
from acp_proxy.views.safe_text import visible
from acp_proxy.views.units import duration, since_start, size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acp_proxy.log.rows import ConnectionRow, MessageRow

_SHORT_UUID = 8


def table(headers: "Sequence[str]", rows: "Iterable[Sequence[object]]", right: str = "") -> str:
    """Return a table; columns whose headers ``right`` names are flush right."""
    flush_right = right.split()
    cells = [["" if cell is None else visible(str(cell)) for cell in row] for row in rows]
    text = tabulate(
        cells,
        headers=headers,
        tablefmt="plain",
        disable_numparse=True,
        colalign=["right" if name in flush_right else "left" for name in headers]
        if cells
        else None,
    )
    return "\n".join(line.rstrip() for line in text.splitlines())


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


def fit(text: str, width: int) -> str:
    """Return text with each line cut to so many columns of a terminal."""
    return "\n".join(_cut(line, width) for line in text.splitlines())


def _cut(line: str, width: int) -> str:
    if line.isascii():
        return clip(line, width)
    used = 0
    for at, character in enumerate(line):
        used += max(wcwidth(character), 0)
        if used > width:
            return line[: max(at - 1, 0)] + "…"
    return line
