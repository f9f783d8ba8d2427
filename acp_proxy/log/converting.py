"""What SQLite gives as a row of connections or messages, to ours. No SQL here."""

import json
from typing import TYPE_CHECKING, Any

from acp_proxy.log import checksums
from acp_proxy.log.rows import KINDS, STREAMS, ConnectionRow, MessageRow

if TYPE_CHECKING:
    import sqlite3


_NUMBERS = frozenset({
    "id", "proxy_pid", "agent_pid", "added_ns", "started_ns", "ended_ns", "duration_ns", "exit_code", "signal",
    "frames", "messages", "client_bytes", "agent_bytes", "stderr_bytes",
})  # fmt: skip
_TEXTS = frozenset({
    "uuid", "label", "command", "cwd", "host", "recorded_by", "status", "client_name", "client_title",
    "client_version", "agent_name", "agent_title", "agent_version", "client_sha256", "agent_sha256",
    "stderr_sha256", "facts",
})  # fmt: skip
_INTEGER = (int, type(None))
_TEXT = (str, type(None))
_OF_FRAME = ((int,), (int,), (int,), _INTEGER, _INTEGER, (bytes,), (int,), (int,), _INTEGER)
_OF_MESSAGE = (
    (int,), (int,), _INTEGER, _INTEGER, (int,), (int,), _TEXT, _TEXT, _TEXT, _TEXT, _TEXT, _TEXT, _INTEGER,
    _TEXT, _INTEGER, _INTEGER, _TEXT, _TEXT, _INTEGER, (int,), (int,), (bytes, type(None)), (int,), (int,), (int,),
    (int,), _INTEGER,
)  # fmt: skip
SOUND_TYPES: set[tuple[type, ...]] = set()
"""Combinations of types in rows that were looked at already: whoever has one of them need not ask."""


def check_frame(row: tuple[Any, ...]) -> None:
    """Raise ValueError when a value of a row of ``frames`` is of a type that is never written there."""
    _check_types(row, _OF_FRAME, "frame", row[0])


def check_message(row: tuple[Any, ...]) -> None:
    """Raise ValueError when a value of a row of ``messages``, with its frame, is of a wrong type."""
    if row[23] is None:
        raise ValueError(f"message {row[1]} has no frame")
    _check_types(row, _OF_MESSAGE, "message", row[1])


def _check_types(
    row: tuple[Any, ...], allowed: tuple[tuple[type, ...], ...], what: str, seq: Any
) -> None:
    types = tuple(map(type, row))
    for type_, some in zip(types, allowed, strict=True):
        if type_ not in some:
            raise ValueError(f"{what} {seq} holds a {type_.__name__} where none can be")
    SOUND_TYPES.add(types)


def connection_row(row: "sqlite3.Row") -> ConnectionRow:
    """Return a row of ``connections``; raises ValueError, TypeError or LookupError when it is damaged."""
    columns = dict(zip(row.keys(), row, strict=True))
    crc = columns.get("crc")

    def names(who: str) -> dict[str, str]:
        return {
            key: row[f"{who}_{key}"]
            for key in ("name", "title", "version")
            if row[f"{who}_{key}"] is not None
        }

    same = (
        "id", "uuid", "label", "cwd", "host", "proxy_pid", "agent_pid", "recorded_by", "added_ns", "started_ns",
        "ended_ns", "duration_ns", "status", "exit_code", "signal", "protocol_version", "frames",
        "messages", "facts",
    )  # fmt: skip
    gaps, notes = json.loads(row["gaps"]), json.loads(row["notes"])
    _check_connection(columns, gaps, notes)
    return ConnectionRow(
        **{name: row[name] for name in same},
        command=None if row["command"] is None else json.loads(row["command"]),
        client=names("client"),
        agent=names("agent"),
        streams={stream: row[f"{stream}_bytes"] for stream in STREAMS},
        sha256={stream: row[f"{stream}_sha256"] for stream in STREAMS},
        gaps=gaps,
        notes=notes,
        is_sound=crc is None or crc == checksums.of_columns(columns),
    )


def _check_connection(columns: dict[str, Any], gaps: Any, notes: Any) -> None:
    """Raise ValueError or another when a value is of a type that is never written there."""
    for name, value in columns.items():
        right = int if name in _NUMBERS else str if name in _TEXTS else type(value)
        if type(value) not in (right, type(None)):
            raise ValueError(f"{name} is {value!r}")
    if type(columns["protocol_version"]) not in (int, str, type(None)):
        raise ValueError("a version of no such type")
    for gap in gaps:
        if gap["from"] not in STREAMS or type(gap["offset"] + gap["bytes"]) is not int:
            raise ValueError("a gap that cannot be")
    for note in notes:
        if type(note.get("values", 0) + note.get("bytes", 0)) is not int:
            raise ValueError("a note that cannot be")
    if columns["facts"] is not None:
        json.loads(columns["facts"]).get("uuid")


def message_row(cells: list[Any]) -> MessageRow:
    """Return a row of ``messages`` from its columns in the order of MessageRow; may raise likewise."""
    cells[4], cells[5] = STREAMS[cells[4]], KINDS[cells[5]]
    cells[16] = tuple((cells[16] or "").split())
    return MessageRow(*cells)
