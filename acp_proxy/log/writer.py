"""Putting a connection into the log: its row, its frames, its index, all or nothing per batch.

Every batch is one transaction together with the position in the journal up to
which it reaches, so that each byte is in the log exactly once whatever dies when.
"""

import contextlib
import json
import os
import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from acp_proxy.errors import LogError
from acp_proxy.log import blobs, bulk, checksums, derived, schema
from acp_proxy.log.converting import connection_row
from acp_proxy.log.identity import LogUnavailableError
from acp_proxy.log.rows import ConnectionRow, IndexRow, as_stored, frame_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from acp_proxy.log.derived import DerivedRows

_INSERT_FRAME = (
    "INSERT INTO frames (id, stream_code, offset, time_ns, elapsed_ns, crc, raw) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_LONG_FRAME = _INSERT_FRAME[:-2] + "x'')"
_MESSAGE_COLUMNS = ("seq", *IndexRow._fields)
_INSERT_MESSAGE = (
    f"INSERT INTO messages (connection_id, {', '.join(_MESSAGE_COLUMNS)}) "
    f"VALUES (%d, {', '.join('?' * len(_MESSAGE_COLUMNS))})"
)


class ConflictError(LogError):
    """Another process has put a part of this journal into the log meanwhile, or the log was replaced."""


class LongRaw(NamedTuple):
    """The bytes of a frame too long to hold: how many, and where to get them, as often as asked."""

    size: int
    pieces: "Iterable[bytes]"


class FrameToWrite(NamedTuple):
    """A row for ``frames``."""

    seq: int
    stream_code: int
    offset: int
    time_ns: int | None
    elapsed_ns: int | None
    raw: bytes | LongRaw


class Progress(NamedTuple):
    """How far a connection is in the log; a batch goes from one to the next."""

    journal_position: int
    frames: int


class Batch(NamedTuple):
    """What is written together.

    Attributes:
        connection_id: Whose it is.
        before: Where the last batch ended, as far as we know.
        after: Where this one ends.
        frames: Rows for ``frames``.
        entries: Rows for ``messages``: seq, then IndexRow's columns.
        columns: What else to set in the connection's row.
        derived: What the messages mean for the state, None when it is not kept.
        durably: Whether a loss of power must not lose it.

    """

    connection_id: int
    before: Progress
    after: Progress
    frames: "Sequence[FrameToWrite]"
    entries: "Sequence[tuple[Any, ...]]"
    columns: dict[str, Any]
    derived: "DerivedRows | None"
    durably: bool


class LogWriter:
    """A log opened for writing.

    Raises:
        LogUnavailableError: From every method: locked, or the disk is full. Nothing was written; try later.
        LogError: From every method: it will not work later either.

    """

    def __init__(self, path: str, *, busy_ms: int = 5000) -> None:
        self.path = path
        self._db = schema.open_for_writing(path, busy_ms=busy_ms)
        self._file = _identity(path)
        self._texts: int | None = None
        self._bulk: tuple[int, bulk.Bulk] | None = None

    def __enter__(self) -> "LogWriter":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the log."""
        self._db.close()

    def is_replaced(self) -> bool:
        """Tell whether the file at our path is another one by now, or none."""
        return _identity(self.path) != self._file

    def connection(self, uuid: str, columns: dict[str, Any]) -> int:
        """Return the id of the connection of that uuid, made with these columns when it is new."""
        with schema.explaining(self.path):
            names = ", ".join(["uuid", *columns])
            marks = ", ".join("?" * (len(columns) + 1))
            self._db.execute(
                f"INSERT INTO connections ({names}) VALUES ({marks}) ON CONFLICT (uuid) DO NOTHING",
                (uuid, *map(_storable, columns.values())),
            )
            row = self._db.execute("SELECT id FROM connections WHERE uuid = ?", (uuid,)).fetchone()
            self._seal(int(row[0]), only_new=True)
        return int(row[0])

    def row(self, connection_id: int) -> ConnectionRow:
        """Return a connection's row as it stands in this transaction."""
        with schema.explaining(self.path):
            cursor = self._db.execute("SELECT * FROM connections WHERE id = ?", (connection_id,))
            cursor.row_factory = sqlite3.Row
            return connection_row(cursor.fetchone())

    def progress(self, connection_id: int) -> Progress:
        """Return how far a connection is in the log."""
        with schema.explaining(self.path):
            row = self._db.execute(
                "SELECT journal_position, frames FROM connections WHERE id = ?", (connection_id,)
            ).fetchone()
        if row is None:
            raise ConflictError(f"connection {connection_id} has gone from {self.path}")
        return Progress(*row)

    def write(self, batch: Batch) -> None:
        """Write one batch.

        Raises:
            ConflictError: ``batch.before`` is not where the log is.

        """
        self.begin(batch)
        self.complete()

    def begin(self, batch: Batch) -> None:
        """Write one batch, but for what ``complete`` does; until then nobody sees it.

        Raises as ``write``; then nothing is begun.
        """
        with schema.explaining(self.path):
            if batch.durably:
                self._db.execute("PRAGMA synchronous = FULL")
            with schema.undoing(self._db):
                self._db.execute("BEGIN IMMEDIATE")
                columns = {**batch.after._asdict(), **batch.columns}
                self.update(batch.connection_id, columns, expected=batch.before)
                short = self._insert_long_frames(batch.connection_id, batch.frames)
                rows = bulk.bulk_of(short, batch.entries)
                self._bulk = None if rows is None else (batch.connection_id, rows)
                if rows is None:
                    self._insert_rows(batch.connection_id, short, batch.entries)
                self._texts = None
                if batch.derived is not None:
                    self._texts = derived.insert(self._db, batch.connection_id, batch.derived)

    def complete(self) -> None:
        """Write most of the batch that was begun, and commit it.

        It takes most of its time without Python's lock: a thread may do it. After an
        exception the batch is undone and must be begun again.
        """
        with schema.explaining(self.path), schema.undoing(self._db):
            if not self._db.in_transaction:
                raise LogUnavailableError(f"a batch for {self.path} was undone", "try again")
            if self._bulk is not None:
                connection_id, rows = self._bulk
                bulk.insert(self._db, connection_id, _MESSAGE_COLUMNS, rows)
            if self._texts is not None:
                derived.index_texts(self._db, self._texts)
            self._db.execute("COMMIT")
            self._bulk = self._texts = None

    @contextlib.contextmanager
    def transaction(self) -> "Iterator[None]":
        """In this context, what is written is written together or not at all."""
        with schema.transaction(self.path, self._db):
            yield

    def update(
        self, connection_id: int, columns: dict[str, Any], *, expected: Progress | None = None
    ) -> None:
        """Set columns of a connection's row.

        Raises:
            ConflictError: There is no such row, or it is not where it is expected to be.

        """
        is_sound = self._is_sound(connection_id)
        sets = ", ".join(f"{name} = ?" for name in columns)
        where = "".join(f" AND {name} = ?" for name in Progress._fields) if expected else ""
        cursor = self._db.execute(
            f"UPDATE connections SET {sets} WHERE id = ?{where}",
            (*map(_storable, columns.values()), connection_id, *(expected or ())),
        )
        if cursor.rowcount != 1:
            raise ConflictError(f"{self.path} is not where this recorder left it")
        if is_sound:  # what was damaged must not look right for being written again
            self._seal(connection_id)

    def _is_sound(self, connection_id: int) -> bool:
        return checksums.is_right(self._columns(connection_id))

    def _seal(self, connection_id: int, *, only_new: bool = False) -> None:
        """Give a connection's row its checksum."""
        columns = self._columns(connection_id)
        if not only_new or columns.get("crc") is None:
            self._db.execute(
                "UPDATE connections SET crc = ? WHERE id = ?",
                (checksums.of_columns(columns), connection_id),
            )

    def _columns(self, connection_id: int) -> dict[str, Any]:
        cursor = self._db.execute("SELECT * FROM connections WHERE id = ?", (connection_id,))
        names = [column[0] for column in cursor.description]
        return dict(zip(names, next(iter(schema.fetched(self._db, cursor)), ()), strict=False))

    def insert(
        self,
        connection_id: int,
        frames: "Iterable[FrameToWrite]",
        entries: "Iterable[tuple[Any, ...]]",
        rows: "DerivedRows",
    ) -> None:
        """Insert rows, inside a transaction."""
        short = self._insert_long_frames(connection_id, frames)
        self._insert_rows(connection_id, short, entries)
        derived.index_texts(self._db, derived.insert(self._db, connection_id, rows))

    def _insert_rows(
        self,
        connection_id: int,
        frames: "Iterable[tuple[Any, ...]]",
        entries: "Iterable[tuple[Any, ...]]",
    ) -> None:
        self._db.executemany(_INSERT_FRAME, frames)
        sql = _INSERT_MESSAGE % connection_id  # in the text: no row need be made anew for it
        self._db.executemany(sql, entries)

    def rebuild_search(self) -> None:
        """Make the full-text index of all connections anew from their texts."""
        with schema.explaining(self.path):
            derived.rebuild_index(self._db)

    def forget_derived(self, connection_id: int, tables: "Iterable[str]") -> None:
        """Delete all that was derived from a connection's frames, inside a transaction.

        Args:
            connection_id: Whose.
            tables: Those with the latest state.

        """
        self._db.execute("DELETE FROM messages WHERE connection_id = ?", (connection_id,))
        derived.forget(self._db, connection_id, tables)

    def forget(self, uuid: str) -> None:
        """Delete a connection with all that belongs to it, so that it can be recorded anew."""
        from acp_proxy.log.pruning import delete_connection  # noqa: PLC0415 - hardly ever needed

        with self.transaction():
            row = self._db.execute("SELECT id FROM connections WHERE uuid = ?", (uuid,)).fetchone()
            if row is not None:
                delete_connection(self._db, int(row[0]))

    def _insert_long_frames(
        self, connection_id: int, frames: "Iterable[FrameToWrite]"
    ) -> list[tuple[Any, ...]]:
        """Insert the frames that are too long to hold; return rows of the others."""
        short: list[tuple[Any, ...]] = []
        first = frame_id(connection_id, 0)
        add, finished = checksums.add, checksums.finished
        for seq, stream, offset, time_ns, elapsed_ns, raw in frames:
            id_ = first + seq
            crc = checksums.of_frame(id_, stream, offset, time_ns, elapsed_ns)
            if type(raw) is bytes:
                crc = finished(add(raw, crc))
                short.append((id_, stream, offset, time_ns, elapsed_ns, crc, raw))
                continue
            assert isinstance(raw, LongRaw)
            place = (id_, stream, offset, time_ns, elapsed_ns)
            for piece in raw.pieces:
                crc = add(piece, crc)
            self._db.execute(_INSERT_LONG_FRAME, (*place, finished(crc)))
            blobs.fill(self._db, id_, raw.size, raw.pieces)
        return short


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _storable(value: Any) -> Any:
    if isinstance(value, list | dict):
        try:
            return orjson.dumps(value).decode()
        except orjson.JSONEncodeError:  # a path that is no UTF-8
            return json.dumps(value)
    return as_stored(value) if isinstance(value, str) else value
