"""What the log holds of the state: checkpoints, and the tables of sessions and their things.

It is all derived from the frames and can be left out or built anew. What is in it is
the state room's affair; here are rows. A log that has not these tables yet (migrations
m0001) has nothing of it.
"""

import json
import sqlite3
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_proxy.log import schema
from acp_proxy.log.rows import SessionRow, as_stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_INSERT_CHECKPOINT = (
    "INSERT INTO checkpoints (connection_id, seq, version, bytes) VALUES (?, ?, ?, ?)"
)
_INSERT_PART = (
    "INSERT INTO checkpoint_parts (connection_id, part, seq, since, head, tail) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)
_VOID_TEXTS = "DELETE FROM texts WHERE connection_id = ? AND part = ? AND place > 0"
_INSERT_TEXT = (
    "INSERT INTO texts (connection_id, part, place, kind, session_id, seq, last_seq, text) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (connection_id, part, place) "
    "DO UPDATE SET last_seq = excluded.last_seq, text = excluded.text "
    "WHERE last_seq <> excluded.last_seq OR text <> excluded.text"
)
_NEWEST = (
    "SELECT part, max(seq) AS seq, since FROM checkpoint_parts "
    "WHERE connection_id = ?1 AND seq <= ?2 {only}GROUP BY part"
)
_ONLY = "AND part IN (SELECT value FROM json_each(?3)) "
_PARTS = (
    f"SELECT n.part, p.seq, n.since, CASE WHEN p.seq = n.seq THEN p.head END, p.tail "
    f"FROM ({_NEWEST}) n CROSS JOIN checkpoint_parts p "
    "ON p.connection_id = ?1 AND p.part = n.part AND p.seq BETWEEN n.since AND n.seq"
)  # not ordered: SQLite would sort the bytes too

_SPANS = {
    "sessions": ("first_seq", "last_seq"),
    "turns": ("started_seq", "ended_seq"),
    "tool_calls": ("first_seq", "last_seq"),
    "terminals": ("first_seq", "last_seq"),
    "permissions": ("seq", "answered_seq"),
}  # of each table: the message that made a row, and the last that changed it


class StoredCheckpoint(NamedTuple):
    """A checkpoint with all that it and those before it hold.

    Attributes:
        seq: The message just after which it was taken.
        size: The bytes of what it added.
        things: Part, since, head and tails of each thing that was there, in the order of parts.

    """

    seq: int
    size: int
    things: list[tuple[int, int, bytes, list[bytes]]]


class Mentions(NamedTuple):
    """The messages between which things were mentioned, and in which sessions."""

    first: int
    last: int
    sessions: set[str]


class DerivedReader:
    """The derived part of an opened log.

    Raises:
        LogError: From every method: it cannot be read.

    """

    def __init__(self, path: str, db: sqlite3.Connection) -> None:
        self._path = path
        self._db = db

    def is_there(self, connection_id: int, version: int) -> bool:
        """Tell whether checkpoints and tables of a connection are kept, in this version."""
        with schema.explaining(self._path):
            rows = self._ask("SELECT derived FROM connections WHERE id = ?", connection_id)
            return any(derived == version for (derived,) in rows)

    def checkpoint(
        self,
        connection_id: int,
        seq: int,
        version: int,
        only: "Callable[[int], Iterable[int]] | None" = None,
    ) -> StoredCheckpoint | None:
        """Return the last checkpoint at or before a message, None when there is none.

        Args:
            connection_id: Whose.
            seq: The message.
            version: In which version it has to be written.
            only: Tells the parts that are wanted of the checkpoint at a message; default: all.

        """
        with schema.explaining(self._path):
            found = self._ask(
                "SELECT seq, bytes FROM checkpoints WHERE connection_id = ? AND seq <= ? "
                "AND version = ? ORDER BY seq DESC LIMIT 1",
                *(connection_id, seq, version),
            )
            for at, size in found:
                parts = None if only is None else only(at)
                return StoredCheckpoint(at, size, self._things(connection_id, at, parts))
        return None

    def session_heads(self, connection_id: int, seq: int) -> "Iterator[tuple[int, bytes]]":
        """Yield the parts that are sessions, and their heads, as they were at a checkpoint."""
        sql = (
            "SELECT part, max(seq), head FROM checkpoint_parts WHERE connection_id = ? "
            "AND seq <= ? AND part & 4294967295 = 0 AND part > 0 GROUP BY part"
        )
        with schema.explaining(self._path):
            for part, _, head in self._ask(sql, connection_id, seq):
                if head is not None:
                    yield part, head

    def parts_beginning(
        self, connection_id: int, seq: int, span: tuple[int, int], heads: "Iterable[bytes]"
    ) -> list[int]:
        """Return the parts of a span whose heads begin with one of some texts; with any, if none."""
        values: list[Any] = [connection_id, seq, *span]
        beginnings = []
        for head in heads:
            beginnings.append("head BETWEEN ? AND ?")
            values += (head, head + b"\xff")
        condition = f"AND ({' OR '.join(beginnings)})" if beginnings else ""
        sql = (
            "SELECT DISTINCT part FROM checkpoint_parts WHERE connection_id = ? AND seq <= ? "
            f"AND part BETWEEN ? AND ? {condition}"
        )
        with schema.explaining(self._path):
            return [part for (part,) in self._ask(sql, *values)]

    def sessions_with(
        self,
        connection_id: int,
        table: str,
        seq: int,
        equal: "Mapping[str, Sequence[Any]]",
        unlike: "Mapping[str, Sequence[Any]]",
    ) -> "set[str] | None":
        """Return the sessions that may have had something of a kind just after a message.

        Those that have it now, and those where it was changed later. None when that is not known.

        Args:
            connection_id: Whose.
            table: Of what kind; ``sessions`` for themselves.
            seq: The message.
            equal: What columns of the table hold, one of some values each.
            unlike: What they do not hold.

        """
        first, last = _SPANS[table]
        conditions = [f"{name} IN ({', '.join('?' * len(equal[name]))})" for name in equal]
        conditions += [f"{name} NOT IN ({', '.join('?' * len(unlike[name]))})" for name in unlike]
        values = [value for some in (*equal.values(), *unlike.values()) for value in some]
        condition = (
            f"{first} <= ? AND ({last} > ? OR {last} IS NULL OR ({' AND '.join(conditions)}))"
        )
        return self._sessions_where(connection_id, table, condition, seq, seq, *values)

    def sessions_between(self, connection_id: int, first: int, last: int) -> "set[str] | None":
        """Return the sessions in which anything was changed after a message up to another.

        None when that is not known.
        """
        changed = self._sessions_where(
            connection_id, "sessions", "first_seq <= ? AND last_seq > ?", last, first
        )
        open_ = self._sessions_where(
            connection_id, "permissions", "answered_seq IS NULL AND seq <= ?", last
        )  # the end of a connection changes them, which is no message
        return None if changed is None or open_ is None else changed | open_

    def mentions(self, connection_id: int, table: str, id_: str) -> "Mentions | None":
        """Return where a tool call or terminal, or all of that id, stand; None: not known.

        ``first`` is 0 when there is none.
        """
        column = {"tool_calls": "tool_call_id", "terminals": "terminal_id"}[table]
        sessions = self._sessions_where(connection_id, table, f"{column} = ?", id_)
        sql = f"SELECT min(first_seq), max(last_seq) FROM {table} WHERE connection_id = ? AND {column} = ?"
        with schema.explaining(self._path):
            for first, last in self._ask(sql, connection_id, as_stored(id_)):
                return None if sessions is None else Mentions(first or 0, last or 0, sessions)
        return None

    def _sessions_where(
        self, connection_id: int, table: str, condition: str, *values: Any
    ) -> "set[str] | None":
        sql = f"SELECT DISTINCT session_id FROM {table} WHERE connection_id = ? AND {condition}"
        stored = (as_stored(value) if isinstance(value, str) else value for value in values)
        with schema.explaining(self._path):
            found = {id_ for (id_,) in self._ask(sql, connection_id, *stored)}
        return None if any("\\" in id_ for id_ in found) else found  # it may stand for a surrogate

    def _things(
        self, connection_id: int, seq: int, only: "Iterable[int] | None" = None
    ) -> list[tuple[int, int, bytes, list[bytes]]]:
        things = []
        tails: list[bytes] = []
        sql = _PARTS.format(only="" if only is None else _ONLY)
        wanted = () if only is None else (json.dumps(sorted(only)),)
        rows = list(self._ask(sql, connection_id, seq, *wanted))
        if any(a[0] > b[0] or (a[0] == b[0] and a[1] > b[1]) for a, b in pairwise(rows)):
            rows.sort(key=itemgetter(0, 1))  # nobody promised their order
        for place, (part, _, since, head, tail) in enumerate(rows, 1):
            if tail is not None:
                tails.append(tail)
            if place == len(rows) or rows[place][0] != part:  # the newest of this part
                if head is not None:
                    things.append((part, since, head, tails))
                tails = []
        return things

    def checkpoints(self, connection_id: int) -> "Iterator[tuple[int, int, int]]":
        """Yield seq, version and size of the checkpoints of a connection in order."""
        sql = "SELECT seq, version, bytes FROM checkpoints WHERE connection_id = ? ORDER BY seq"
        with schema.explaining(self._path):
            yield from self._ask(sql, connection_id)

    def parts(self, connection_id: int) -> "Iterator[tuple[Any, ...]]":
        """Yield part, seq, since, head and tail of what the checkpoints added, one after the other."""
        ids = "SELECT rowid FROM checkpoint_parts WHERE connection_id = ? ORDER BY seq, part"
        one = "SELECT part, seq, since, head, tail FROM checkpoint_parts WHERE rowid = ?"
        with schema.explaining(self._path):  # one by one: SQLite would sort the bytes too
            for (id_,) in list(self._ask(ids, connection_id)):
                yield from self._ask(one, id_)

    def sessions(self, connection_id: int) -> "Iterator[SessionRow]":
        """Yield the sessions of a connection in the order of their first mention."""
        of_it = "t.connection_id = s.connection_id AND t.session_id = s.session_id"
        counts = ", ".join(
            f"(SELECT count(*) FROM {what} AND {of_it})"
            for what in (
                "turns t WHERE true",
                "turns t WHERE ended_seq IS NULL",
                "tool_calls t WHERE true",
                "terminals t WHERE true",
                "permissions t WHERE true",
            )
        )
        sql = (
            "SELECT connection_id, session_id, first_seq, last_seq, cwd, title, mode, updated_at, "
            f"activity, closed, {counts}, messages FROM sessions s WHERE connection_id = ? "
            "ORDER BY first_seq, session_id"
        )
        with schema.explaining(self._path):
            for row in self._ask(sql, connection_id):
                yield SessionRow(*row)._replace(closed=bool(row[9]))

    def texts(self, connection_id: int) -> "Iterator[tuple[Any, ...]]":
        """Yield part, place, kind, session, first and last seq and text of a connection's texts."""
        sql = (
            "SELECT part, place, kind, session_id, seq, last_seq, text FROM texts "
            "WHERE connection_id = ?"
        )
        with schema.explaining(self._path):
            yield from self._ask(sql, connection_id)

    def rows(
        self, table: str, columns: "Iterable[str]", connection_id: int
    ) -> "Iterator[tuple[Any, ...]]":
        """Yield the rows of one of the tables, in the order of its key."""
        sql = f"SELECT {', '.join(columns)} FROM {table} WHERE connection_id = ?"
        with schema.explaining(self._path):
            yield from self._ask(sql, connection_id)

    def _ask(self, sql: str, *values: Any) -> "Iterator[tuple[Any, ...]]":
        try:
            yield from self._db.execute(sql, values)
        except sqlite3.OperationalError as error:
            if not str(error).startswith(("no such table", "no such column")):
                raise


class DerivedRows(NamedTuple):
    """What to add to a connection's derived part.

    Attributes:
        version: Of the checkpoints.
        checkpoints: Seq, size and parts (part, seq, since, head, tail) of each.
        columns: Of each table, after ``connection_id``.
        rows: Of each table; they replace those of the same key.
        void: Parts whose texts go, but for that of place 0.
        texts: Part, place, kind, session, first and last seq and text of each; they replace those
            of the same part and place.

    """

    version: int
    checkpoints: "Sequence[tuple[int, int, Iterable[tuple[Any, ...]]]]"
    columns: "Mapping[str, tuple[str, ...]]"
    rows: "Mapping[str, Mapping[int, tuple[Any, ...]]]"
    void: "Sequence[int]"
    texts: "Sequence[tuple[Any, ...]]"


def insert(db: sqlite3.Connection, connection_id: int, derived: DerivedRows) -> int:
    """Write into a connection's derived part, inside a transaction.

    Returns:
        For ``index_texts``, which must follow in that transaction.

    """
    for seq, size, parts in derived.checkpoints:
        db.execute(_INSERT_CHECKPOINT, (connection_id, seq, derived.version, size))
        db.executemany(_INSERT_PART, ((connection_id, *part) for part in parts))
    for table, rows in derived.rows.items():
        names = ("connection_id", *derived.columns[table])
        db.executemany(
            f"INSERT OR REPLACE INTO {table} ({', '.join(names)}) "
            f"VALUES ({', '.join('?' * len(names))})",
            ((connection_id, *row) for row in rows.values()),
        )
    db.executemany(_VOID_TEXTS, ((connection_id, part) for part in derived.void))
    # Asked only now: SQLite gives the ids of deleted rows again.
    [(last_text,)] = db.execute("SELECT coalesce(max(id), 0) FROM texts")
    db.executemany(_INSERT_TEXT, ((connection_id, *text) for text in derived.texts))
    return int(last_text)


def index_texts(db: sqlite3.Connection, after: int) -> None:
    """Put the texts that ``insert`` added into the index, inside its transaction.

    Those that it changed or deleted are seen to by triggers. This is one statement because
    SQLite then works without Python's lock, beside whatever else the program does.
    """
    db.execute("INSERT INTO search (rowid, text) SELECT id, text FROM texts WHERE id > ?", (after,))


def rebuild_index(db: sqlite3.Connection) -> None:
    """Make the full-text index anew from the texts, whatever became of it."""
    db.execute("INSERT INTO search (search) VALUES ('rebuild')")


def forget(db: sqlite3.Connection, connection_id: int, tables: "Iterable[str]") -> None:
    """Delete a connection's derived part, inside a transaction."""
    for table in ("checkpoints", "checkpoint_parts", "texts", *tables):
        db.execute(f"DELETE FROM {table} WHERE connection_id = ?", (connection_id,))
