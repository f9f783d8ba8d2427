"""Asking the tables of sessions and their things where to look, before a state is read.

What they say is of the latest state; of an earlier one they tell where something
may have been.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from acp_proxy.log import schema
from acp_proxy.log.derived import DerivedReader
from acp_proxy.log.rows import as_stored

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from acp_proxy.log.rows import SessionRow

_SPANS = {
    "sessions": ("first_seq", "last_seq"),
    "turns": ("started_seq", "ended_seq"),
    "tool_calls": ("first_seq", "last_seq"),
    "terminals": ("first_seq", "last_seq"),
    "permissions": ("seq", "answered_seq"),
}  # of each table: the message that made a row, and the last that changed it

_IDS = {"tool_calls": "tool_call_id", "terminals": "terminal_id"}
_ESCAPE = "\\"


class Mentions(NamedTuple):
    """The messages between which things were mentioned, and in which sessions."""

    first: int
    last: int
    sessions: set[str]


class Tables:
    """The latest state of one connection in tables; to be asked where ``DerivedReader.is_there``.

    Raises:
        LogError: From every method: it cannot be read.

    """

    def __init__(self, path: str, db: "sqlite3.Connection", connection_id: int) -> None:
        self._path = path
        self._db = db
        self._id = connection_id

    def are_exact(self) -> bool:
        """Tell whether ids of sessions stand in the tables as they were sent.

        Halves of surrogate pairs do not (``rows.as_stored``): two ids may look the same.
        """
        return not self._sessions_where("sessions", "instr(session_id, ?)", _ESCAPE)

    def sessions_with(
        self,
        table: str,
        seq: int,
        equal: "Mapping[str, Sequence[Any]]",
        unlike: "Mapping[str, Sequence[Any]]",
    ) -> set[str]:
        """Return the sessions that may have had something of a kind just after a message.

        Those that have it now, and those where it was changed later.

        Args:
            table: Of what kind; ``sessions`` for themselves.
            seq: The message.
            equal: What columns of the table hold, one of some values each.
            unlike: What they do not hold.

        """
        first, last = _SPANS[table]
        conditions = [f"{name} IN ({', '.join('?' * len(equal[name]))})" for name in equal]
        conditions += [f"{name} NOT IN ({', '.join('?' * len(unlike[name]))})" for name in unlike]
        values = [value for some in (*equal.values(), *unlike.values()) for value in some]
        told = f"{last} > ? OR {last} IS NULL OR ({' AND '.join(conditions)})"
        if table in _IDS:  # what was escaped may stand for two things
            told += f" OR instr({_IDS[table]}, '{_ESCAPE}')"
        return self._sessions_where(table, f"{first} <= ? AND ({told})", seq, seq, *values)

    def sessions_between(self, first: int, last: int) -> set[str]:
        """Return the sessions in which anything was changed after a message up to another."""
        changed = self._sessions_where("sessions", "first_seq <= ? AND last_seq > ?", last, first)
        open_ = self._sessions_where(
            "permissions", "answered_seq IS NULL AND seq <= ?", last
        )  # the end of a connection changes them, which is no message
        return changed | open_

    def mentions(self, table: str, id_: str) -> Mentions | None:
        """Return where a tool call or terminal, or all of that id, stand; None: not known.

        ``first`` is 0 when there is none.
        """
        stored, is_it = as_stored(id_), f"{_IDS[table]} = ?"
        if _ESCAPE in stored:
            return None
        sql = (
            f"SELECT min(first_seq), max(last_seq) FROM {table} WHERE connection_id = ? AND {is_it}"
        )
        with schema.reading(self._path):
            first, last = self._db.execute(sql, (self._id, stored)).fetchone()
        return Mentions(first or 0, last or 0, self._sessions_where(table, is_it, id_))

    def _sessions_where(self, table: str, condition: str, *values: Any) -> set[str]:
        sql = f"SELECT DISTINCT session_id FROM {table} WHERE connection_id = ? AND {condition}"
        stored = (as_stored(value) if isinstance(value, str) else value for value in values)
        with schema.reading(self._path):
            return {id_ for (id_,) in self._db.execute(sql, (self._id, *stored))}

    def counted(self) -> "dict[str, SessionRow]":
        """Return the sessions in numbers, by id."""
        sessions = DerivedReader(self._path, self._db).sessions(self._id)
        return {row.session_id: row for row in sessions}
