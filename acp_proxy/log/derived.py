"""What the log holds of the state: checkpoints, and the tables of sessions and their things.

It is all derived from the frames and can be left out or built anew. What is in it is
the state room's affair; here are rows. A log that has not these tables yet (migrations
m0001) has nothing of it.
"""

import json
import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_proxy.log import schema
from acp_proxy.log.checksums import of_part
from acp_proxy.log.parts import PLAIN_HEAD, PartUnpacker
from acp_proxy.log.rows import SessionRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_INSERT_CHECKPOINT = (
    "INSERT INTO checkpoints (connection_id, seq, version, bytes, parts) VALUES (?, ?, ?, ?, ?)"
)
_LAST_COUNT = "SELECT parts FROM checkpoints WHERE connection_id = ? ORDER BY seq DESC LIMIT 1"
_INSERT_PART = (
    "INSERT INTO checkpoint_parts (connection_id, part, seq, since, head, tail, head_crc, tail_crc) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_VOID_TEXTS = "DELETE FROM texts WHERE connection_id = ? AND part = ? AND place > 0"
_INSERT_TEXT = (
    "INSERT INTO texts (connection_id, part, place, kind, session_id, seq, last_seq, text) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (connection_id, part, place) "
    "DO UPDATE SET last_seq = excluded.last_seq, text = excluded.text "
    "WHERE last_seq <> excluded.last_seq OR text <> excluded.text"
)
_ONLY = "AND part IN (SELECT value FROM json_each(?)) "
_APPLIED = (
    "(SELECT julianday(applied_at) FROM _sqlite_migrations "
    "WHERE migration_set = 'acp_proxy' AND name = '%s')"
)
_STATE_MADE, _TEXTS_MADE = _APPLIED % "m0002_state", _APPLIED % "m0003_search"
_AS_ONE_DAYS = 10 / 86400  # a new log gets all steps at once
# Checkpoints and tables say of themselves that they are kept; texts came later and do not.
_HAS_TEXTS = (
    f"SELECT {_TEXTS_MADE} - {_STATE_MADE} < {_AS_ONE_DAYS} "
    f"OR c.added_ns > ({_TEXTS_MADE} - 2440587.5) * 86400e9 "
    "OR EXISTS (SELECT 1 FROM texts WHERE connection_id = c.id) "
    "OR NOT EXISTS (SELECT 1 FROM messages m WHERE m.connection_id = c.id "
    "AND (m.session_id IS NOT NULL OR m.stream_code = 2)) FROM connections c WHERE c.id = ?"
)
_PARTS = (
    "SELECT part, seq, since, head, tail, {about} FROM checkpoint_parts "
    "INDEXED BY checkpoint_parts_by_part WHERE connection_id = ? AND seq <= ? {only}"
    "ORDER BY part, seq"
)  # with another index SQLite would sort the bytes too


class StoredCheckpoint(NamedTuple):
    """A checkpoint with all that it and those before it hold.

    Attributes:
        seq: The message just after which it was taken.
        size: The bytes of what it added.
        things: Part, since, head and tails of each thing that was there, in the order of parts;
            none when any of it is damaged.
        is_checked: Whether all of it had checksums, and they were right.

    """

    seq: int
    size: int
    things: list[tuple[int, int, bytes, list[bytes]]]
    is_checked: bool


class DerivedReader:
    """The derived part of an opened log.

    Raises:
        LogError: From every method: it cannot be read.

    """

    def __init__(self, path: str, db: sqlite3.Connection) -> None:
        self._path = path
        self._db = db
        is_summed = schema.has_column(db, "checkpoint_parts", "head_crc")
        may_be_packed = schema.has_column(db, "checkpoint_parts", "packed")
        crcs = "head_crc, tail_crc" if is_summed else "NULL, NULL"
        self._about = f"{crcs}, {'packed' if may_be_packed else 'NULL'}"
        self._head = PLAIN_HEAD if may_be_packed else "head"
        self._unpacker = PartUnpacker(db)
        self._count = "parts" if is_summed else "NULL"

    def is_there(self, connection_id: int, version: int) -> bool:
        """Tell whether checkpoints, tables and texts of a connection are kept, in this version."""
        with schema.reading(self._path):
            rows = self._ask("SELECT derived FROM connections WHERE id = ?", connection_id)
            return any(derived == version for (derived,) in rows) and any(
                has_texts for (has_texts,) in self._ask(_HAS_TEXTS, connection_id)
            )

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
        with schema.reading(self._path):
            found = self._ask(
                f"SELECT seq, bytes, {self._count} FROM checkpoints WHERE connection_id = ? "
                "AND seq <= ? AND version = ? ORDER BY seq DESC LIMIT 1",
                *(connection_id, seq, version),
            )
            for at, size, parts in found:
                is_whole = parts is None or parts == self._parts_up_to(connection_id, at)
                wanted = None if only is None else only(at)
                things = self._things(connection_id, at, wanted) if is_whole else []
                return StoredCheckpoint(at, size, things, parts is not None)
        return None

    def _parts_up_to(self, connection_id: int, seq: int) -> int:
        sql = "SELECT count(*) FROM checkpoint_parts WHERE connection_id = ? AND seq <= ?"
        [(count,)] = self._ask(sql, connection_id, seq)
        return int(count)

    def session_heads(self, connection_id: int, seq: int) -> "Iterator[tuple[int, bytes]]":
        """Yield the parts that are sessions, and their heads, as they were at a checkpoint."""
        sql = (
            f"SELECT part, max(seq), {self._head} FROM checkpoint_parts WHERE connection_id = ? "
            "AND seq <= ? AND part & 4294967295 = 0 AND part > 0 GROUP BY part"
        )
        with schema.reading(self._path):
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
            beginnings.append(f"{self._head} BETWEEN ? AND ?")
            values += (head, head + b"\xff")
        condition = f"AND ({' OR '.join(beginnings)})" if beginnings else ""
        sql = (
            "SELECT DISTINCT part FROM checkpoint_parts WHERE connection_id = ? AND seq <= ? "
            f"AND part BETWEEN ? AND ? {condition}"
        )
        with schema.reading(self._path):
            return [part for (part,) in self._ask(sql, *values)]

    def _things(
        self, connection_id: int, seq: int, only: "Iterable[int] | None" = None
    ) -> list[tuple[int, int, bytes, list[bytes]]]:
        """Return the newest of each thing, none when a checksum is wrong.

        Older heads are read in vain: that is cheaper than to ask for the newest of each, and
        checkpoints hold no more than the frames.
        """
        things: list[tuple[int, int, bytes, list[bytes]]] = []
        last, begun = None, None
        tails: list[bytes] = []
        sql = _PARTS.format(about=self._about, only="" if only is None else _ONLY)
        wanted = () if only is None else (json.dumps(sorted(only)),)
        for stored in self._ask(sql, connection_id, seq, *wanted):
            row = stored[:-1] if stored[-1] is None else self._plain(connection_id, stored)
            if not _is_sound(row):
                return []
            part, _, since, head, tail, _, _ = row
            if part == last and things and things[-1][0] == part:
                things.pop()
            if part != last or since != begun:  # another thing, or its value was replaced
                tails = []
                last, begun = part, since
            if tail is not None:
                tails.append(tail)
            if head is not None:
                things.append((part, since, head, tails))
        return things

    def checkpoints(self, connection_id: int) -> "Iterator[tuple[int, int, int, int | None]]":
        """Yield seq, version, size and, if known, the number of parts so far of the checkpoints."""
        sql = (
            f"SELECT seq, version, bytes, {self._count} FROM checkpoints WHERE connection_id = ? "
            "ORDER BY seq"
        )
        with schema.reading(self._path):
            yield from self._ask(sql, connection_id)

    def parts(self, connection_id: int) -> "Iterator[tuple[Any, ...]]":
        """Yield part, seq, since, head and tail of what the checkpoints added, one after the other.

        Those whose checksums are not right lack the last.
        """
        ids = "SELECT rowid FROM checkpoint_parts WHERE connection_id = ? ORDER BY seq, part"
        one = (
            f"SELECT part, seq, since, head, tail, {self._about} FROM checkpoint_parts "
            "WHERE rowid = ?"
        )
        with schema.reading(self._path):  # one by one: SQLite would sort the bytes too
            for (id_,) in list(self._ask(ids, connection_id)):
                for stored in self._ask(one, id_):
                    row = self._plain(connection_id, stored)
                    yield row[: 5 if _is_sound(row) else 4]

    def _plain(self, connection_id: int, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return a row of parts as it was before it was compacted, without the last column."""
        part, seq, since, head, tail, head_crc, tail_crc, packed = row
        if packed is not None:
            head, tail = self._unpacker.plain(connection_id, packed, head, tail)
        return part, seq, since, head, tail, head_crc, tail_crc

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
        with schema.reading(self._path):
            for row in self._ask(sql, connection_id):
                yield SessionRow(*row)._replace(closed=bool(row[9]))

    def texts(self, connection_id: int) -> "Iterator[tuple[Any, ...]]":
        """Yield part, place, kind, session, first and last seq and text of a connection's texts."""
        sql = (
            "SELECT part, place, kind, session_id, seq, last_seq, text FROM texts "
            "WHERE connection_id = ?"
        )
        with schema.reading(self._path):
            yield from self._ask(sql, connection_id)

    def rows(
        self, table: str, columns: "Iterable[str]", connection_id: int
    ) -> "Iterator[tuple[Any, ...]]":
        """Yield the rows of one of the tables, in the order of its key."""
        sql = f"SELECT {', '.join(columns)} FROM {table} WHERE connection_id = ?"
        with schema.reading(self._path):
            yield from self._ask(sql, connection_id)

    def _ask(self, sql: str, *values: Any) -> "Iterator[tuple[Any, ...]]":
        try:
            # Not "yield from": that closes the cursor, which raises when the log was closed before.
            for row in self._db.execute(sql, values):  # noqa: UP028
                yield row
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


def _is_sound(row: tuple[Any, ...]) -> bool:
    """Tell whether the checksums of a row of ``checkpoint_parts`` are right, if it has any."""
    part, seq, since, head, tail, head_crc, tail_crc = row
    if head_crc is None and tail_crc is None:
        return True
    return of_part(part, seq, since, head, tail) == (head_crc, tail_crc)


def insert(db: sqlite3.Connection, connection_id: int, derived: DerivedRows) -> int:
    """Write into a connection's derived part, inside a transaction.

    Returns:
        For ``index_texts``, which must follow in that transaction.

    """
    for seq, size, parts in derived.checkpoints:
        part_rows = [(connection_id, *part, *of_part(*part)) for part in parts]
        [so_far] = db.execute(_LAST_COUNT, (connection_id,)).fetchone() or [0]
        count = None if so_far is None else so_far + len(part_rows)  # None: an older program began
        db.execute(_INSERT_CHECKPOINT, (connection_id, seq, derived.version, size, count))
        db.executemany(_INSERT_PART, part_rows)
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
