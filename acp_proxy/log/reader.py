"""Asking the log: connections, frames, messages. Reads only; rows come as they are needed."""

import contextlib
import json
import os
import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_proxy.errors import QueryError
from acp_proxy.log import schema
from acp_proxy.log.derived import DerivedReader
from acp_proxy.log.rows import (
    KINDS,
    STREAMS,
    ConnectionRow,
    FrameRow,
    IndexRow,
    MessageRow,
    as_stored,
    frame_id,
)
from acp_proxy.log.search import Hit, SearchFilter, search
from acp_proxy.log.sparse import Needed, needed
from acp_proxy.wire.framing import LONGEST

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

KEPT_RAW = LONGEST
"""Of a longer frame a query returns a prefix; its bytes are read with ``pieces``."""
_ODD = f"(m.flags IS NOT NULL OR m.kind_code = {KINDS.index('invalid')})"
_LONGEST_ID = 18
_SHORTEST_PREFIX = 4  # a shorter one would often take a wrong id for a uuid
_PREFIX = 64 * 1024
_PIECE = 1024 * 1024
_INDEX_COLUMNS = ", ".join(IndexRow._fields)
_UNANSWERED = (
    f"m.kind_code = {KINDS.index('request')} AND NOT EXISTS (SELECT 1 FROM messages a WHERE "
    "a.connection_id = m.connection_id AND a.request_seq = m.seq AND a.seq <= ?)"
)


class MessageFilter(NamedTuple):
    """Which messages are wanted; what is None or empty is not asked for.

    Attributes:
        stream: ``client``, ``agent`` or ``stderr``.
        kind: One of the kinds.
        method: A glob pattern (``session/*``) for the method, or the method of the request answered.
        session: A session's id.
        update: A glob pattern for the kind of ``session/update``.
        tool_call: A tool call's id.
        terminal: A terminal's id.
        since_seq: The first seq wanted.
        until_seq: The last seq wanted.
        grep: Text that the frame contains, as UTF-8 or escaped as in JSON.
        odd: Only what is flagged or invalid.
        limit: At most so many.
        unanswered: Only requests that nothing up to ``until_seq`` answers.

    """

    stream: str | None = None
    kind: str | None = None
    method: str | None = None
    session: str | None = None
    update: str | None = None
    tool_call: str | None = None
    terminal: str | None = None
    since_seq: int | None = None
    until_seq: int | None = None
    grep: str | None = None
    odd: bool = False
    limit: int | None = None
    unanswered: bool = False


ALL_MESSAGES = MessageFilter()


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
        raise QueryError(f'no connection "{text}" in {self.path}; acp-proxy connections lists them')

    def _connections(self, rest: str, *values: object) -> "Iterator[ConnectionRow]":
        with schema.explaining(self.path):
            cursor = self._db.execute(f"SELECT * FROM connections {rest}", values)
            cursor.row_factory = sqlite3.Row
            for row in cursor:
                yield _connection_row(row)

    def frames(
        self, connection_id: int, *, stream: str | None = None, from_seq: int = 0
    ) -> "Iterator[FrameRow]":
        """Yield the frames of a connection in order.

        ``raw`` of a frame longer than KEPT_RAW is a prefix; ``pieces`` gives all of it.
        """
        condition = "" if stream is None else f"AND stream_code = {STREAMS.index(stream)} "
        with schema.explaining(self.path):
            yield from (
                FrameRow(row[0], STREAMS[row[1]], *row[2:])
                for row in self._db.execute(
                    "SELECT seq, stream_code, offset, time_ns, elapsed_ns, CASE WHEN length(raw) > "
                    f"{KEPT_RAW} THEN substr(raw, 1, {_PREFIX}) ELSE raw END, length(raw), id "
                    f"FROM frames WHERE id BETWEEN ? AND ? {condition}ORDER BY id",
                    (frame_id(connection_id, from_seq), frame_id(connection_id + 1, 0) - 1),
                )
            )

    def pieces(self, frame: FrameRow) -> "Iterator[bytes]":
        """Yield all bytes of a frame, some MiB at a time."""
        if frame.raw is not None and len(frame.raw) == frame.size:
            yield frame.raw
            return
        with (
            schema.explaining(self.path),
            self._db.blobopen("frames", "raw", frame.id, readonly=True) as blob,
        ):
            while piece := blob.read(_PIECE):
                yield piece

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
        conditions, values = _conditions(wanted)
        if seqs is not None:
            conditions += " AND m.seq IN (SELECT value FROM json_each(?))"
            values.append(json.dumps(list(seqs)))
        sql = (
            "SELECT m.connection_id, m.seq, f.time_ns, f.elapsed_ns, m.stream_code, m.kind_code, "
            "m.method, m.id, m.session_id, m.session_update, m.tool_call_id, m.terminal_id, "
            "m.request_seq, r.method, m.duration_ns, m.error_code, m.flags, m.reason, "
            "m.batch_index, m.bytes, m.frame_seq, substr(f.raw, 1, ?) FROM messages m "
            "LEFT JOIN messages r ON r.connection_id = m.connection_id AND r.seq = m.request_seq "
            "JOIN frames f ON f.id = (m.connection_id << 32) + m.frame_seq "  # last: it costs most
            f"WHERE m.connection_id = ?{conditions} "
            f"ORDER BY m.seq {'DESC' if newest_first else 'ASC'} LIMIT ?"
        )
        limit = -1 if wanted.limit is None else wanted.limit
        with schema.explaining(self.path):
            for row in self._db.execute(sql, (raw, connection_id, *values, limit)):
                yield _message_row(row)

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
        with schema.explaining(self.path):
            return dict(
                self._db.execute(
                    "SELECT m.seq, f.elapsed_ns FROM messages m JOIN frames f ON "
                    "f.id = (m.connection_id << 32) + m.frame_seq WHERE m.connection_id = ? "
                    "AND m.seq IN (SELECT value FROM json_each(?))",
                    (connection_id, json.dumps(sorted(set(seqs)))),
                )
            )

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


def _conditions(wanted: MessageFilter) -> tuple[str, list[Any]]:
    """Return the rest of a WHERE clause and its values."""
    parts: list[str] = [_ODD] if wanted.odd else []
    values: list[Any] = []
    for sql, value in (
        ("m.stream_code = ?", None if wanted.stream is None else STREAMS.index(wanted.stream)),
        ("m.kind_code = ?", None if wanted.kind is None else KINDS.index(wanted.kind)),
        ("coalesce(m.method, r.method) GLOB ?", wanted.method),
        ("m.session_update GLOB ?", wanted.update),
        ("m.session_id = ?", wanted.session),
        ("m.tool_call_id = ?", wanted.tool_call),
        ("m.terminal_id = ?", wanted.terminal),
        ("m.seq >= ?", wanted.since_seq),
        ("m.seq <= ?", wanted.until_seq),
    ):
        if value is not None:
            parts.append(sql)
            values.append(as_stored(value) if isinstance(value, str) else value)
    if wanted.grep is not None:
        needles = {wanted.grep.encode(errors="replace"), json.dumps(wanted.grep)[1:-1].encode()}
        parts.append("(" + " OR ".join(["instr(f.raw, ?)"] * len(needles)) + ")")
        values.extend(sorted(needles))
    if wanted.unanswered:
        parts.append(_UNANSWERED)
        values.append(2**62 if wanted.until_seq is None else wanted.until_seq)
    return "".join(f" AND {part}" for part in parts), values


def _connection_row(row: sqlite3.Row) -> ConnectionRow:
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
    return ConnectionRow(
        **{name: row[name] for name in same},
        command=None if row["command"] is None else json.loads(row["command"]),
        client=names("client"),
        agent=names("agent"),
        streams={stream: row[f"{stream}_bytes"] for stream in STREAMS},
        sha256={stream: row[f"{stream}_sha256"] for stream in STREAMS},
        gaps=json.loads(row["gaps"]),
        notes=json.loads(row["notes"]),
    )


def _message_row(row: tuple[Any, ...]) -> MessageRow:
    stream, kind, flags = STREAMS[row[4]], KINDS[row[5]], tuple((row[16] or "").split())
    cells = [*row]
    cells[4], cells[5], cells[16] = stream, kind, flags
    return MessageRow(*cells)
