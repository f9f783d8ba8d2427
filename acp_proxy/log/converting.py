"""What SQLite gives as a row of connections or messages, to ours. No SQL here."""

import json
from typing import TYPE_CHECKING, Any

from acp_proxy.log import checksums
from acp_proxy.log.rows import KINDS, STATUSES, STREAMS, UNREADABLE, ConnectionRow, MessageRow
from acp_proxy.wire.jsontext import MAX_FACTS_DEPTH, is_shallow

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable


_NUMBERS = frozenset({
    "id", "proxy_pid", "agent_pid", "added_ns", "started_ns", "ended_ns", "duration_ns", "exit_code", "signal",
    "frames", "messages", "client_bytes", "agent_bytes", "stderr_bytes",
})  # fmt: skip
_TEXTS = frozenset({
    "uuid", "label", "cwd", "host", "recorded_by", "status", "client_name", "client_title",
    "client_version", "agent_name", "agent_title", "agent_version", "client_sha256", "agent_sha256",
    "stderr_sha256",
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
    """Return a row of ``connections``.

    Whatever the file holds, the connection is there to be seen and pruned: a column that cannot be
    read counts as unknown, and the status is then ``unreadable``.
    """
    columns = dict(zip(row.keys(), row, strict=True))
    checked = {name: value for name, value in columns.items() if _is_readable(name, value)}
    crc = columns.get("crc")

    def known(name: str, default: Any = None) -> Any:
        return checked.get(name, default)

    def parsed(name: str, default: Any = None) -> Any:
        text = checked.get(name)
        return default if text is None else json.loads(text)

    def names(who: str) -> dict[str, str]:
        found = {key: known(f"{who}_{key}") for key in ("name", "title", "version")}
        return {key: name for key, name in found.items() if name is not None}

    same = (
        "label", "cwd", "host", "proxy_pid", "agent_pid", "recorded_by", "started_ns", "ended_ns",
        "duration_ns", "exit_code", "signal", "protocol_version", "facts",
    )  # fmt: skip
    is_readable = len(checked) == len(columns) and _NEEDED.isdisjoint(
        name for name, value in columns.items() if value is None
    )
    return ConnectionRow(
        **{name: known(name) for name in same},
        id=row["id"],
        uuid=known("uuid") or "",
        added_ns=known("added_ns") or 0,
        status=known("status") or UNREADABLE if is_readable else UNREADABLE,
        frames=known("frames") or 0,
        messages=known("messages") or 0,
        command=parsed("command"),
        client=names("client"),
        agent=names("agent"),
        streams={stream: known(f"{stream}_bytes") or 0 for stream in STREAMS},
        sha256={stream: known(f"{stream}_sha256") for stream in STREAMS},
        gaps=parsed("gaps", []),
        notes=parsed("notes", []),
        is_sound=is_readable and (crc is None or crc == checksums.of_columns(columns)),
    )


def _is_readable(name: str, value: Any) -> bool:
    """Tell whether a column of ``connections`` holds what is written there."""
    if value is None:
        return True
    if name in _NUMBERS:
        return type(value) is int
    if name == "status":
        return value in STATUSES
    if name == "protocol_version":
        return type(value) in (int, str)
    if name in _JSON:
        return isinstance(value, str) and _is_json(name, value)
    return name not in _TEXTS or isinstance(value, str)


def _is_json(name: str, text: str) -> bool:
    if not is_shallow(text.encode(errors="surrogatepass"), MAX_FACTS_DEPTH):
        return False
    try:
        return _JSON[name](json.loads(text))
    except (ValueError, TypeError, LookupError, AttributeError):
        return False


def _are_gaps(gaps: Any) -> bool:
    return isinstance(gaps, list) and all(
        gap["from"] in STREAMS and type(gap["offset"] + gap["bytes"]) is int for gap in gaps
    )


def _are_notes(notes: Any) -> bool:
    return isinstance(notes, list) and all(
        type(note.get("values", 0) + note.get("bytes", 0)) is int for note in notes
    )


_JSON: "dict[str, Callable[[Any], bool]]" = {
    "command": lambda command: isinstance(command, list | str),
    "facts": lambda facts: isinstance(facts, dict),
    "gaps": _are_gaps,
    "notes": _are_notes,
}
_NEEDED = frozenset({"id", "uuid", "added_ns", "status", "frames", "messages", "gaps", "notes"})


def message_row(cells: list[Any]) -> MessageRow:
    """Return a row of ``messages`` from its columns in the order of MessageRow; may raise likewise."""
    cells[4], cells[5] = STREAMS[cells[4]], KINDS[cells[5]]
    cells[16] = tuple((cells[16] or "").split())
    return MessageRow(*cells)
