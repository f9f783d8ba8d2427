"""Asking the log: frames and messages. Reads only; rows come as they are needed."""

import json
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from acp_proxy.errors import LogError, QueryError
from acp_proxy.log import blobs, checksums, schema
from acp_proxy.log.converting import (
    SOUND_TYPES,
    check_frame,
    check_message,
    message_row,
)
from acp_proxy.log.derived import DerivedReader
from acp_proxy.log.filters import ALL_MESSAGES, MessageFilter, conditions
from acp_proxy.log.opened import OpenedLog
from acp_proxy.log.rows import (
    STREAMS,
    FrameRow,
    IndexRow,
    MessageRow,
    frame_range,
    place_of,
)
from acp_proxy.log.search import Hit, SearchFilter, search
from acp_proxy.log.sparse import Needed, needed
from acp_proxy.log.tables import Tables
from acp_proxy.log.unpacking import Unpacker
from acp_proxy.log.wholeness import all_frames, all_messages
from acp_proxy.wire.framing import LONGEST

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

KEPT_RAW = LONGEST
"""Of a longer frame a query returns a prefix; its bytes are read with ``pieces``."""
_PREFIX = 64 * 1024
_MOVES = 3
_BATCH_BYTES = 32 << 20
"""How many bytes of batches are kept to be shared by their members."""
_INDEX_COLUMNS = ", ".join(IndexRow._fields)


class _RecentBatches:
    """The bytes of the batches that were read last, by frame and prefix length.

    All members of a batch are rows of their own over one line. Reading and checking the line for
    each of them, or holding it once for each, would cost the square of its length.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], bytes] = OrderedDict()
        self._size = 0

    def get(self, key: tuple[int, int]) -> bytes | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, key: tuple[int, int], raw: bytes) -> None:
        self._kept[key] = raw
        self._size += len(raw)
        while self._size > _BATCH_BYTES and len(self._kept) > 1:
            self._size -= len(self._kept.popitem(last=False)[1])


class LogReader(OpenedLog):
    """A log opened for reading.

    Attributes:
        derived: What it holds of the state.

    Raises:
        LogError: It cannot be read.

    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._crc = "crc" if schema.has_column(self._db, "frames", "crc") else "NULL AS crc"
        self._packs = Unpacker(path, self._db)
        self._batches = _RecentBatches()
        self.derived = DerivedReader(path, self._db)

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
        rows = self._frames(connection_id, stream, from_seq, checked=checked)
        if stream is None and not from_seq and checked:
            count, _ = self._counts_of(connection_id)
            rows = all_frames(self.path, rows, connection_id, count)
        return rows

    def _frames(
        self, connection_id: int, stream: str | None, from_seq: int, *, checked: bool
    ) -> "Iterator[FrameRow]":
        condition = "" if stream is None else f"AND stream_code = {STREAMS.index(stream)} "
        with schema.reading(self.path):
            for row in self._db.execute(
                "SELECT seq, stream_code, offset, time_ns, elapsed_ns, CASE WHEN length(raw) > "
                f"{KEPT_RAW} THEN substr(raw, 1, {_PREFIX}) ELSE raw END, length(raw), id, "
                f"{self._crc} FROM frames WHERE id BETWEEN ? AND ? {condition}ORDER BY id",
                frame_range(connection_id, from_seq),
            ):
                _, code, offset, time_ns, elapsed_ns, raw, size, id_, crc = row
                if size == 0:
                    raw, size = self._packs.begin_of(id_, KEPT_RAW, _PREFIX, checked=checked)
                if not checked and tuple(map(type, row)) not in SOUND_TYPES:
                    check_frame(row)  # else its checksum tells
                if checked and crc is not None and len(raw) == size:
                    begin = checksums.of_frame(id_, code, offset, time_ns, elapsed_ns)
                    self._check(id_, checksums.add(raw, begin), crc)
                yield FrameRow(
                    row[0], STREAMS[code], offset, time_ns, elapsed_ns, raw, size, id_, crc
                )

    def _check(self, id_: int, checksum: int, crc: int) -> None:
        if checksums.finished(checksum) != crc:
            connection_id, seq = place_of(id_)
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
        with schema.reading(self.path):
            for piece in self._long_pieces(frame.id, checked):
                checksum = checksums.add(piece, checksum)
                yield piece
        if checked and frame.crc is not None:
            self._check(frame.id, checksum, frame.crc)

    def _long_pieces(self, id_: int, checked: bool) -> "Iterator[bytes]":
        """Yield the bytes of a frame from its row or from packs; somebody may move them meanwhile."""
        for _ in range(_MOVES):
            found = False
            for piece in blobs.pieces(self._db, id_):
                found = True
                yield piece
            for piece in () if found else self._packs.pieces(id_, checked=checked):
                found = True
                yield piece
            if found:
                return

    def index(self, connection_id: int) -> "Iterator[tuple[int, IndexRow]]":
        """Yield seq and index of the messages of a connection in order, as they are stored."""
        with schema.reading(self.path):
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
            raw: How many bytes of the frame to return with each; of a batch all, or none for 0.
            newest_first: The other way round.
            seqs: Only these.

        """
        rows = self._messages(connection_id, wanted, raw, newest_first, seqs)
        first, limit = wanted.since_seq or 1, wanted.limit
        ranged = wanted._replace(since_seq=None, until_seq=None)
        is_all = ranged == ALL_MESSAGES and limit is None and seqs is None
        if is_all and not newest_first:
            last = self._counts_of(connection_id)[1]
            if wanted.until_seq is not None:
                last = min(last, wanted.until_seq)
            rows = all_messages(self.path, rows, connection_id, max(first, 1), last)
        return rows

    def _messages(
        self,
        connection_id: int,
        wanted: MessageFilter,
        raw: int,
        newest_first: bool,
        seqs: "Iterable[int] | None",
    ) -> "Iterator[MessageRow]":
        rest, values = conditions(wanted, connection_id)
        if seqs is not None:
            rest += " AND m.seq IN (SELECT value FROM json_each(?))"
            values.append(json.dumps(list(seqs)))
        sql = (
            "SELECT m.connection_id, m.seq, f.time_ns, f.elapsed_ns, m.stream_code, m.kind_code, "
            "m.method, m.id, m.session_id, m.session_update, m.tool_call_id, m.terminal_id, "
            "m.request_seq, r.method, m.duration_ns, m.error_code, m.flags, m.reason, "
            "m.batch_index, m.bytes, m.frame_seq, "
            "CASE WHEN m.batch_index IS NULL THEN substr(f.raw, 1, ?) END, length(f.raw), f.id, "
            f"f.stream_code, f.offset, {self._crc} FROM messages m "
            "LEFT JOIN messages r ON r.connection_id = m.connection_id AND r.seq = m.request_seq "
            "LEFT JOIN frames f ON f.id = (m.connection_id << 32) + m.frame_seq "  # last: it costs most
            f"WHERE m.connection_id = ?{rest} "
            f"ORDER BY m.seq {'DESC' if newest_first else 'ASC'} LIMIT ?"
        )
        limit = -1 if wanted.limit is None else wanted.limit
        with schema.reading(self.path), self._packs.telling():
            for row in self._db.execute(sql, (raw, connection_id, *values, limit)):
                *cells, kept, size, id_, code, offset, crc = row
                is_member = cells[18] is not None and size is not None
                most = KEPT_RAW if is_member and raw else raw  # of a cut line no member can be told
                if is_member:
                    kept = self._batches.get((id_, most))
                    if kept is not None:
                        yield message_row([*cells, kept])
                        continue
                    kept = self._begin_of_row(id_, most)
                    row = (*row[:21], kept, *row[22:])  # noqa: PLW2901 - as for other messages
                if tuple(map(type, row)) not in SOUND_TYPES:
                    check_message(row)
                if size == 0:
                    kept, size = self._packs.begin_of(id_, most, most) if raw else (b"", 1)
                if crc is not None and len(kept) == size:
                    begin = checksums.of_frame(id_, code, offset, row[2], row[3])
                    self._check(id_, checksums.add(kept, begin), crc)
                if len(kept) == size and (code, size) != (row[4], row[19]):
                    raise ValueError(f"message {row[1]} is not what its frame is")
                if is_member:
                    self._batches.put((id_, most), kept)
                yield message_row([*cells, kept])

    def _begin_of_row(self, id_: int, size: int) -> Any:
        """Return the first bytes of a frame as its row has them, whatever their type."""
        row = self._db.execute(
            "SELECT substr(raw, 1, ?) FROM frames WHERE id = ?", (size, id_)
        ).fetchone()
        return None if row is None else row[0]

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
        with schema.reading(self.path):
            (last,) = self._db.execute(
                "SELECT max(seq) FROM messages WHERE connection_id = ?", (connection_id,)
            ).fetchone()
        there = f"1 to {last}" if last else "none"
        raise QueryError(f"connection {connection_id} has no message {seq}; it has {there}")

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
        with schema.reading(self.path):
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
        with schema.reading(self.path):
            # Most messages are the first of their frame: then their index need not be looked at.
            found = dict(self._db.execute(by_frame, (json.dumps(sorted(wanted)), connection_id)))
            if rest := sorted(wanted - found.keys()):
                found |= self._db.execute(in_batch, (connection_id, json.dumps(rest)))
        return found

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
        with schema.reading(self.path):
            row = self._db.execute(
                f"SELECT seq FROM frames WHERE id BETWEEN ? AND ? AND {condition} "
                "ORDER BY id LIMIT 1",
                (*frame_range(connection_id), *values),
            ).fetchone()
        return None if row is None else int(row[0])

    def search(self, words: str, wanted: SearchFilter) -> "Iterator[Hit]":
        """Yield the texts that hold all the words, best first (``log.search``)."""
        return search(self.path, self._db, words, wanted)
