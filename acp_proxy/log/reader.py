"""Asking the log: connections, frames, messages. Reads only; rows come as they are needed."""

import contextlib
import json
import os
import sqlite3
from typing import TYPE_CHECKING

from acp_proxy.errors import LogError, QueryError
from acp_proxy.log import checksums, schema
from acp_proxy.log.derived import DerivedReader
from acp_proxy.log.filters import ALL_MESSAGES, MessageFilter, conditions
from acp_proxy.log.gone import told_of
from acp_proxy.log.rows import (
    STREAMS,
    ConnectionRow,
    FrameRow,
    IndexRow,
    MessageRow,
    connection_row,
    frame_id,
    message_row,
)
from acp_proxy.log.search import Hit, SearchFilter, search
from acp_proxy.log.sparse import Needed, needed
from acp_proxy.log.tables import Tables
from acp_proxy.log.unpacking import Unpacker
from acp_proxy.wire.framing import LONGEST

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

KEPT_RAW = LONGEST
"""Of a longer frame a query returns a prefix; its bytes are read with ``pieces``."""
_LONGEST_ID = 18
_SHORTEST_PREFIX = 4  # a shorter one would often take a wrong id for a uuid
_PREFIX = 64 * 1024
_PIECE = 1024 * 1024
_MOVES = 3
_INDEX_COLUMNS = ", ".join(IndexRow._fields)


class LogReader:
    """A log opened for reading.

    Attributes:
        derived: What it holds of the state.

    Raises:
        LogError: It cannot be read.

    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._db = schema.open_for_reading(path)
        self._crc = "crc" if schema.has_column(self._db, "frames", "crc") else "NULL AS crc"
        self._packs = Unpacker(path, self._db)
        self.derived = DerivedReader(path, self._db)

    def __enter__(self) -> "LogReader":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the log."""
        self._db.close()

    @contextlib.contextmanager
    def snapshot(self) -> "Iterator[None]":
        """In this context, see the log as it was when the first question was asked."""
        with schema.explaining(self.path):
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                self._db.execute("COMMIT")

    def connections(self) -> "Iterator[ConnectionRow]":
        """Yield the connections, newest first."""
        yield from self._connections("ORDER BY added_ns DESC, id DESC")

    def connection(self, reference: str | int) -> ConnectionRow:
        """Return one connection.

        Args:
            reference: Its id, the beginning of its uuid that no other has, or ``latest``.

        Raises:
            QueryError: There is no such connection, or more than one.

        """
        text = str(reference)
        if text == "latest":
            found = list(self._connections("ORDER BY added_ns DESC, id DESC LIMIT 1"))
        else:
            found = []
            if text.isdecimal() and len(text) <= _LONGEST_ID:
                found = list(self._connections("WHERE id = ?", int(text)))
            if not found and len(text) >= _SHORTEST_PREFIX:
                begins = "WHERE substr(uuid, 1, ?) = ? LIMIT 2"
                found = list(self._connections(begins, len(text), text.lower()))
        if len(found) == 1:
            return found[0]
        if found:
            raise QueryError(f'"{text}" begins more than one uuid in {self.path}; give more of it')
        if text == "latest":
            raise QueryError(f"{self.path} holds no connection yet; record one with: acp-proxy run")
        why = told_of(self._db, text) or "acp-proxy connections lists them"
        raise QueryError(f'no connection "{text}" in {self.path}; {why}')

    def _connections(self, rest: str, *values: object) -> "Iterator[ConnectionRow]":
        with schema.explaining(self.path):
            cursor = self._db.execute(f"SELECT * FROM connections {rest}", values)
            cursor.row_factory = sqlite3.Row
            for row in cursor:
                yield connection_row(row)

    def frames(
        self,
        connection_id: int,
        *,
        stream: str | None = None,
        from_seq: int = 0,
        checked: bool = True,
    ) -> "Iterator[FrameRow]":
        """Yield the frames of a connection in order.

        ``raw`` of a frame longer than KEPT_RAW is a prefix; ``pieces`` gives all of it.

        Args:
            connection_id: Whose.
            stream: Only those of this stream.
            from_seq: Only those from this one on.
            checked: Whether to refuse one whose checksum is not right.

        """
        condition = "" if stream is None else f"AND stream_code = {STREAMS.index(stream)} "
        with schema.explaining(self.path):
            for row in self._db.execute(
                "SELECT seq, stream_code, offset, time_ns, elapsed_ns, CASE WHEN length(raw) > "
                f"{KEPT_RAW} THEN substr(raw, 1, {_PREFIX}) ELSE raw END, length(raw), id, "
                f"{self._crc} FROM frames WHERE id BETWEEN ? AND ? {condition}ORDER BY id",
                (frame_id(connection_id, from_seq), frame_id(connection_id + 1, 0) - 1),
            ):
                _, code, offset, time_ns, elapsed_ns, raw, size, id_, crc = row
                if size == 0:
                    raw, size = self._packs.begin_of(id_, KEPT_RAW, _PREFIX, checked=checked)
                if checked and crc is not None and len(raw) == size:
                    begin = checksums.of_frame(id_, code, offset, time_ns, elapsed_ns)
                    self._check(id_, checksums.add(raw, begin), crc)
                yield FrameRow(
                    row[0], STREAMS[code], offset, time_ns, elapsed_ns, raw, size, id_, crc
                )

    def _check(self, id_: int, checksum: int, crc: int) -> None:
        if checksums.finished(checksum) != crc:
            connection_id, seq = divmod(id_, frame_id(1, 0))
            raise LogError(
                f"{self.path} is damaged: frame {seq} of connection {connection_id} is not what "
                "was recorded",
                "acp-proxy verify lists what is damaged; what comes before and after can be read "
                "with ranges of messages",
            )

    def pieces(self, frame: FrameRow, *, checked: bool = True) -> "Iterator[bytes]":
        """Yield all bytes of a frame, some MiB at a time.

        Args:
            frame: Which, as ``frames`` gave it.
            checked: Whether to refuse, at its end, a long one whose checksum is not right.

        """
        if frame.raw is not None and len(frame.raw) == frame.size:
            yield frame.raw
            return
        checksum = frame.checksum()
        with schema.explaining(self.path):
            for piece in self._long_pieces(frame.id, checked):
                checksum = checksums.add(piece, checksum)
                yield piece
        if checked and frame.crc is not None:
            self._check(frame.id, checksum, frame.crc)

    def _long_pieces(self, id_: int, checked: bool) -> "Iterator[bytes]":
        """Yield the bytes of a frame from its row or from packs; somebody may move them meanwhile."""
        for _ in range(_MOVES):
            found = False
            with self._db.blobopen("frames", "raw", id_, readonly=True) as blob:
                while piece := blob.read(_PIECE):
                    found = True
                    yield piece
            for piece in () if found else self._packs.pieces(id_, checked=checked):
                found = True
                yield piece
            if found:
                return

    def index(self, connection_id: int) -> "Iterator[tuple[int, IndexRow]]":
        """Yield seq and index of the messages of a connection in order, as they are stored."""
        with schema.explaining(self.path):
            for row in self._db.execute(
                f"SELECT seq, {_INDEX_COLUMNS} FROM messages WHERE connection_id = ? ORDER BY seq",
                (connection_id,),
            ):
                yield row[0], IndexRow(*row[1:])

    def messages(
        self,
        connection_id: int,
        wanted: MessageFilter = ALL_MESSAGES,
        *,
        raw: int = _PREFIX,
        newest_first: bool = False,
        seqs: "Iterable[int] | None" = None,
    ) -> "Iterator[MessageRow]":
        """Yield messages of a connection in order.

        Args:
            connection_id: Whose.
            wanted: Which.
            raw: How many bytes of the frame to return with each.
            newest_first: The other way round.
            seqs: Only these.

        """
        rest, values = conditions(wanted)
        if seqs is not None:
            rest += " AND m.seq IN (SELECT value FROM json_each(?))"
            values.append(json.dumps(list(seqs)))
        sql = (
            "SELECT m.connection_id, m.seq, f.time_ns, f.elapsed_ns, m.stream_code, m.kind_code, "
            "m.method, m.id, m.session_id, m.session_update, m.tool_call_id, m.terminal_id, "
            "m.request_seq, r.method, m.duration_ns, m.error_code, m.flags, m.reason, "
            "m.batch_index, m.bytes, m.frame_seq, substr(f.raw, 1, ?), length(f.raw), f.id, "
            f"f.stream_code, f.offset, {self._crc} FROM messages m "
            "LEFT JOIN messages r ON r.connection_id = m.connection_id AND r.seq = m.request_seq "
            "JOIN frames f ON f.id = (m.connection_id << 32) + m.frame_seq "  # last: it costs most
            f"WHERE m.connection_id = ?{rest} "
            f"ORDER BY m.seq {'DESC' if newest_first else 'ASC'} LIMIT ?"
        )
        limit = -1 if wanted.limit is None else wanted.limit
        with schema.explaining(self.path), self._packs.telling():
            for row in self._db.execute(sql, (raw, connection_id, *values, limit)):
                *cells, kept, size, id_, code, offset, crc = row
                if size == 0:
                    kept, size = self._packs.begin_of(id_, raw, raw) if raw else (b"", 1)
                if crc is not None and len(kept) == size:
                    begin = checksums.of_frame(id_, code, offset, row[2], row[3])
                    self._check(id_, checksums.add(kept, begin), crc)
                yield message_row([*cells, kept])

    def tables(self, connection_id: int, version: int) -> Tables | None:
        """Return the tables of a connection's state.

        None when they are not kept in this version, or do not tell all its sessions apart.
        """
        if not self.derived.is_there(connection_id, version):
            return None
        tables = Tables(self.path, self._db, connection_id)
        return tables if tables.are_exact() else None

    def needed(
        self, connection_id: int, span: tuple[int, int], wanted: "Collection[int]", *, updates: bool
    ) -> Needed:
        """Return the messages of a span that the wanted ones need (``log.sparse``)."""
        return needed(self.path, self._db, connection_id, span, wanted, updates=updates)

    def message(self, connection_id: int, seq: int) -> MessageRow:
        """Return one message with its whole frame.

        Raises:
            QueryError: There is no message of that seq.

        """
        seq = min(seq, 2**62)
        wanted = MessageFilter(since_seq=seq, until_seq=seq)
        for message in self.messages(connection_id, wanted, raw=KEPT_RAW):
            return message
        with schema.explaining(self.path):
            (last,) = self._db.execute(
                "SELECT max(seq) FROM messages WHERE connection_id = ?", (connection_id,)
            ).fetchone()
        raise QueryError(
            f"connection {connection_id} has no message {seq}; it has 1 to {last or 0}"
        )

    def frame(self, connection_id: int, seq: int) -> FrameRow:
        """Return the frame whose first message is ``seq``.

        Raises:
            QueryError: There is none.

        """
        for frame in self.frames(connection_id, from_seq=seq):
            if frame.seq == seq:
                return frame
            break
        raise QueryError(f"connection {connection_id} has no frame {seq}")

    def answer_to(self, connection_id: int, seq: int) -> int | None:
        """Return the seq of the response to a request, None while there is none."""
        with schema.explaining(self.path):
            row = self._db.execute(
                "SELECT seq FROM messages WHERE connection_id = ? AND request_seq = ?",
                (connection_id, seq),
            ).fetchone()
        return None if row is None else int(row[0])

    def times(self, connection_id: int, seqs: "Iterable[int]") -> dict[int, int | None]:
        """Return when messages came, in ns since the connection began; None for unknown."""
        wanted = set(seqs)
        by_frame = (
            "SELECT value, f.elapsed_ns FROM json_each(?) JOIN frames f ON f.id = (? << 32) + value"
        )
        in_batch = (
            "SELECT m.seq, f.elapsed_ns FROM messages m JOIN frames f ON "
            "f.id = (m.connection_id << 32) + m.frame_seq WHERE m.connection_id = ? "
            "AND m.seq IN (SELECT value FROM json_each(?))"
        )
        with schema.explaining(self.path):
            # Most messages are the first of their frame: then their index need not be looked at.
            found = dict(self._db.execute(by_frame, (json.dumps(sorted(wanted)), connection_id)))
            rest = json.dumps(sorted(wanted - found.keys()))
            return found | dict(self._db.execute(in_batch, (connection_id, rest)))

    def first_after(
        self, connection_id: int, *, elapsed_ns: int | None = None, time_ns: int | None = None
    ) -> int | None:
        """Return the first message that came later than a point in time, None when none did.

        Give one of the two clocks. Messages without that time count as no later.
        """
        column, value = ("time_ns", time_ns) if elapsed_ns is None else ("elapsed_ns", elapsed_ns)
        return self._first_frame(connection_id, f"{column} > ?", value)

    def is_timed(self, connection_id: int, clock: str) -> bool:
        """Tell whether any message has a time on ``elapsed_ns`` or ``time_ns``."""
        column = "time_ns" if clock == "time_ns" else "elapsed_ns"
        return self._first_frame(connection_id, f"{column} IS NOT NULL") is not None

    def _first_frame(self, connection_id: int, condition: str, *values: object) -> int | None:
        with schema.explaining(self.path):
            row = self._db.execute(
                f"SELECT seq FROM frames WHERE id BETWEEN ? AND ? AND {condition} "
                "ORDER BY id LIMIT 1",
                (frame_id(connection_id, 0), frame_id(connection_id + 1, 0) - 1, *values),
            ).fetchone()
        return None if row is None else int(row[0])

    def search(self, words: str, wanted: SearchFilter) -> "Iterator[Hit]":
        """Yield the texts that hold all the words, best first (``log.search``)."""
        return search(self.path, self._db, words, wanted)

    def check_integrity(self) -> list[str]:
        """Return what SQLite finds wrong with the file, nothing when it is sound."""
        with schema.explaining(self.path):
            rows = self._db.execute("PRAGMA integrity_check").fetchall()
        return [text for (text,) in rows if text != "ok"]

    def counts(self) -> dict[str, int]:
        """Return how many connections, frames and messages the log holds."""
        with schema.explaining(self.path):
            return {
                table: int(self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
                for table in ("connections", "frames", "messages")
            }

    def size(self) -> int:
        """Return the bytes on disk, the write-ahead log included."""
        return sum(
            os.stat(self.path + suffix).st_size
            for suffix in ("", "-wal")
            if os.path.exists(self.path + suffix)
        )
