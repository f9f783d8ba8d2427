"""What SQLite gives as a row of connections or messages, to ours. No SQL here."""

from typing import TYPE_CHECKING, Any

from acp_proxy.log import checksums
from acp_proxy.log.rows import KINDS, STATUSES, STREAMS, ConnectionRow, MessageRow
from acp_proxy.wire.shallow import shallow_json

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable


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
    """Return a row of ``connections``, with empty fields for what cannot be read in it.

    Raises:
        LookupError: A column is missing.

    """
    stored = dict(zip(row.keys(), row, strict=True))
    columns = _Columns(stored)

    def names(who: str) -> dict[str, str]:
        found = {key: columns.text(f"{who}_{key}") for key in ("name", "title", "version")}
        return {key: value for key, value in found.items() if value is not None}

    return ConnectionRow(
        id=row["id"],
        label=columns.text("label"),
        cwd=columns.text("cwd"),
        host=columns.text("host"),
        recorded_by=columns.text("recorded_by"),
        proxy_pid=columns.number("proxy_pid"),
        agent_pid=columns.number("agent_pid"),
        started_ns=columns.number("started_ns"),
        ended_ns=columns.number("ended_ns"),
        duration_ns=columns.number("duration_ns"),
        exit_code=columns.number("exit_code"),
        signal=columns.number("signal"),
        uuid=columns.text("uuid") or "",
        added_ns=columns.number("added_ns") or 0,
        status=columns.status("status") or "unreadable",
        protocol_version=columns.version("protocol_version"),
        frames=columns.number("frames") or 0,
        messages=columns.number("messages") or 0,
        facts=columns.facts("facts"),
        command=columns.json("command"),
        client=names("client"),
        agent=names("agent"),
        streams={stream: columns.number(f"{stream}_bytes") or 0 for stream in STREAMS},
        sha256={stream: columns.text(f"{stream}_sha256") for stream in STREAMS},
        gaps=columns.entries("gaps", _is_gap),
        notes=columns.entries("notes", _is_note),
        is_sound=checksums.is_right(stored),
        unreadable=tuple(dict.fromkeys(columns.unreadable)),
    )


class _Columns:
    """The values of a row, each checked for itself: one that is damaged spoils no other.

    Attributes:
        unreadable: The names of those that can never have been written.

    """

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values
        self.unreadable: list[str] = []

    def text(self, name: str) -> str | None:
        """Return a text."""
        value: str | None = self._checked(name, str)
        return value

    def status(self, name: str) -> str | None:
        """Return one of the statuses that a connection may have."""
        value = self.text(name)
        if value is not None and value not in STATUSES:
            self.unreadable.append(name)
            return None
        return value

    def number(self, name: str) -> int | None:
        """Return an integer."""
        value: int | None = self._checked(name, int)
        return value

    def version(self, name: str) -> int | str | None:
        """Return an integer or a text."""
        value: int | str | None = self._checked(name, int, str)
        return value

    def json(self, name: str) -> Any:
        """Return what a JSON text says."""
        value = self._values[name]
        try:
            return None if value is None else shallow_json(value)
        except ValueError:
            self.unreadable.append(name)
            return None

    def facts(self, name: str) -> str | None:
        """Return the text of a JSON object."""
        known = self.json(name)
        if known is not None and not isinstance(known, dict):
            self.unreadable.append(name)
        return self._values[name] if isinstance(known, dict) else None

    def entries(self, name: str, is_right: "Callable[[Any], bool]") -> list[dict[str, Any]]:
        """Return the objects of a JSON list; those that cannot be are left out."""
        found = self.json(name)
        entries = found if isinstance(found, list) else []
        right = [entry for entry in entries if is_right(entry)]
        if not isinstance(found, list) or len(right) < len(found):
            self.unreadable.append(name)
        return right

    def _checked(self, name: str, *types: type) -> Any:
        value = self._values[name]
        if value is None or isinstance(value, types):
            return value
        self.unreadable.append(name)
        return None


def _is_gap(gap: Any) -> bool:
    return (
        isinstance(gap, dict)
        and gap.get("from") in STREAMS
        and all(type(gap.get(name)) is int and gap[name] >= 0 for name in ("offset", "bytes"))
    )


def _is_note(note: Any) -> bool:
    numbers = (note.get(name, 0) for name in ("values", "bytes")) if isinstance(note, dict) else ()
    return isinstance(note, dict) and all(type(number) is int for number in numbers)


def message_row(cells: list[Any]) -> MessageRow:
    """Return a row of ``messages`` from its columns in the order of MessageRow; may raise likewise."""
    cells[4], cells[5] = STREAMS[cells[4]], KINDS[cells[5]]
    cells[16] = tuple((cells[16] or "").split())
    return MessageRow(*cells)
