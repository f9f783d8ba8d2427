"""One journal into the log: records to frames to rows, and the point from which to go on.

Theory of operation. The log says how far it is: a position in the journal before
which every byte is in a frame, and per stream how many bytes are. Starting, or
starting again after any death, reads the journal from there, steps over what is
stored, and has followed all stored frames with the Follower first, so that going on
gives the rows that going through would have given.
"""

import hashlib
import os
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_proxy.clock import LATEST_NS
from acp_proxy.journal import spool
from acp_proxy.journal.records import HEADER_SIZE, Facts, Record, Slot, Stream, decode_facts
from acp_proxy.log.derived import DerivedRows
from acp_proxy.log.reader import LogReader
from acp_proxy.log.rows import STREAMS
from acp_proxy.log.writer import Batch, FrameToWrite, LogWriter, LongRaw, Progress
from acp_proxy.recorder.blanking import Blanking
from acp_proxy.recorder.readback import Recorded, journal_hashes
from acp_proxy.state.columns import TABLES
from acp_proxy.state.following import Derived, Follower
from acp_proxy.state.snapshot import VERSION, BadSnapshotError
from acp_proxy.wire.framing import Frame, LineFramer
from acp_proxy.wire.jsonrpc import MAX_PARSED, Direction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_proxy.events.index import Indexer
    from acp_proxy.journal.tail import JournalReader

DIRECTIONS = (Direction.CLIENT, Direction.AGENT, Direction.STDERR)
_LONGEST_ROW = 512 * 1024 * 1024  # SQLite's own limit for a value is 1,000,000,000 bytes

_LONGEST_NS = 2**63 - 1
_LONGEST_STREAM = 2**62
_LAST_STATUS = 0xFFFF
"""wait(2) gives 16 bits."""


class _Line(NamedTuple):
    """Where in the journal the unfinished line of a stream began, and when it last grew."""

    position: int
    last: Record


class Ingest:
    """A connection on its way from a journal into the log.

    Args:
        journal: Its journal.
        start: The journal's first record.
        writer: The log.

    """

    def __init__(self, journal: "JournalReader", start: Record, writer: LogWriter) -> None:
        self._journal = journal
        self._writer = writer
        self._start = start
        facts = decode_facts(start.data) if start.stream is Stream.CONTROL else {}
        uuid = str(facts.get("uuid") or spool.uuid_of(journal.path))
        self._blanking = Blanking(facts) if facts.get("redact") else None
        if self._blanking is not None:
            facts = self._blanking.facts(facts)
        self._uuid = uuid
        self._id = writer.connection(uuid, _start_columns(facts, start))
        self._follower = Follower()
        self._waiting: Batch | None = None
        self._sha = [hashlib.sha256() for _ in STREAMS]
        self._unhashed: list[list[bytes]] = [[] for _ in STREAMS]  # many at once are cheaper
        self._last = (
            _told(start.time_ns),
            0,
        )  # wall clock and time since the start, of the last record
        # Asked first: if another recorder goes on meanwhile, ours is the position that is refused.
        self._progress = writer.progress(self._id)
        with LogReader(writer.path) as reader, reader.snapshot():
            row = reader.connection(uuid)
            self._is_derived = self._resume(reader, row.messages)
            self._follow(reader)
        begins = [row.streams[stream] for stream in STREAMS]
        if self._blanking is not None:
            begins = self._blanking.begin_again(row.frames)
            self._sha = [hashlib.sha256() for _ in STREAMS]
        self._framers = [LineFramer(begin, MAX_PARSED) for begin in begins]
        self._lines: list[_Line | None] = [None, None, None]
        self._gaps = list(row.gaps)
        self._notes = [note for note in row.notes if note.get("event") != "redacted"]
        self._wait_status: int | None = None
        self._exit_position: int | None = None
        self._frames: list[FrameToWrite] = []
        self._entries: list[tuple[Any, ...]] = []
        self._dirty = False
        self.position = 0 if self._blanking is not None else self._progress.journal_position
        self.is_finished = row.status != "running"
        self._uuid = uuid
        self._is_from_start = self._blanking is not None or self.position == 0
        """Whether the log has all of it already."""

    @property
    def has_ended(self) -> bool:
        """Whether the record of the agent's end was taken: nothing follows it."""
        return self._exit_position is not None

    def recorded(self) -> Recorded:
        """Return what the log must have of the connection, to be compared before the journal goes.

        Where all of the journal was read here, its bytes were hashed on the way; else it is read
        once more, since hashes of what the log had then would only confirm themselves.
        """
        if not self.is_finished and self._is_from_start:
            return Recorded(self._uuid, tuple(hash_.hexdigest() for hash_ in self._sha))
        if self._blanking is not None:
            return Recorded(self._uuid, None)
        return Recorded(self._uuid, journal_hashes(self._journal))

    def take(self, records: list[Record]) -> None:
        """Turn records into rows; ``commit`` writes them."""
        for record in records:
            self._last = (_told(record.time_ns), self._elapsed(record))
            if record.stream is Stream.CONTROL:
                self._take_facts(record)
            else:
                self._take_bytes(record)
            self.position = record.end

    def batch(self) -> Batch | None:
        """Return what was taken since the last one, to be written before the next; None for nothing."""
        if self._blanking is not None and self._blanking.is_behind:
            return None
        if self._frames or self._dirty:
            return self._batch({}, durably=False)
        return None

    def commit(self) -> None:
        """Write what was taken. After an exception it can be tried again.

        Raises:
            LogUnavailableError: Nothing was written; try later.
            LogError: It will not work later either, ConflictError included.

        """
        if self._waiting is None:
            self._waiting = self.batch()
        if self._waiting is not None:
            self._writer.write(self._waiting)
            self._waiting = None

    def finish(self) -> None:
        """Write the connection's end: all that the journal holds is in the log then.

        After an exception it can be tried again.
        """
        self.commit()
        self._waiting = self._last_batch()
        self.commit()

    def _last_batch(self) -> Batch:
        slot = self._journal.slot() or Slot()
        for stream in (Stream.CLIENT, Stream.AGENT, Stream.STDERR):
            self._gap(stream, slot.reached[stream])
            self._flush(stream)
        status = slot.wait_status if self._wait_status is None else self._wait_status
        time_ns, elapsed_ns = self._last
        columns: dict[str, Any] = {
            "status": "lost",
            "ended_ns": time_ns,
            "duration_ns": elapsed_ns,
        }
        if status is not None and os.WIFSIGNALED(status):
            columns |= {"status": "killed", "signal": os.WTERMSIG(status)}
        elif status is not None:
            columns |= {"status": "exited", "exit_code": os.waitstatus_to_exitcode(status)}
        if not slot.is_sound:
            self._note({"event": "journal damaged", "position": 0, "bytes": HEADER_SIZE})
        if self._journal.is_damaged(self.position):
            left = self._journal.unread(self.position)
            self._note({"event": "journal damaged", "position": self.position, "bytes": left})
        self._follower.end()
        return self._batch(columns, durably=True)

    @property
    def is_damaged(self) -> bool:
        """Whether there are bytes in the journal that could not be read."""
        return any(note.get("event") == "journal damaged" for note in self._notes)

    def _resume(self, reader: LogReader, seq: int) -> bool:
        """Take up the state from the last checkpoint; tell whether the log keeps the state.

        One that an older recorder began goes on without: ``log reindex`` builds it.
        """
        if not reader.derived.is_there(self._id, VERSION):
            return False
        found = reader.derived.checkpoint(self._id, seq, VERSION)
        if found is None:
            return True
        try:
            self._follower.resume(found.seq, found.size, found.things)
        except BadSnapshotError:
            return False
        return True

    def _follow(self, reader: LogReader) -> None:
        """Bring hashes, index and state to where the log is, from the frames stored so far."""
        for row in reader.frames(self._id, checked=False):  # damage there is no reason to stop
            stream = STREAMS.index(row.stream)
            for piece in reader.pieces(row, checked=False):
                self._sha[stream].update(piece)
            if row.seq > self._follower.index.seq + 1:  # the log lost some
                self._follower.skip_to(row.seq - 1)
            frame = Frame(row.offset, row.raw or b"", row.size)
            self._follower.add(DIRECTIONS[stream], frame, row.elapsed_ns)
            if row.time_ns is not None and row.elapsed_ns is not None:
                self._last = (row.time_ns, row.elapsed_ns)
        self._follower.take()  # the log has it

    def _take_bytes(self, record: Record) -> None:
        stream = record.stream
        framer = self._framers[stream]
        line = self._lines[stream]
        expected = framer.offset if line is None else line.last.offset + len(line.last.data)
        data = record.data
        if record.offset < expected:  # stored before the recorder died
            data = data[expected - record.offset :]
            if not data:
                return
        elif record.offset > expected:
            self._gap(stream, record.offset)
            line = None
        begin = record.position if line is None else line.position
        for frame in framer.feed(data):
            self._add(stream, frame, record, begin)
            begin = record.position
        self._lines[stream] = None if data.endswith(b"\n") else _Line(begin, record)

    def _take_facts(self, record: Record) -> None:
        facts = decode_facts(record.data)
        event = facts.get("event")
        if event == "exit":
            self._exit_position = record.position
            status = _number(facts, "wait_status")
            self._wait_status = (
                status if status is not None and 0 <= status <= _LAST_STATUS else None
            )
        elif event == "gap":
            stream_code = _number(facts, "stream") or 0
            end = (_number(facts, "offset") or 0) + (_number(facts, "bytes") or 0)
            if stream_code in (0, 1, 2) and end < _LONGEST_STREAM:  # else we never wrote it
                self._gap(Stream(stream_code), end)
        elif event == "end":
            stream = Stream.CLIENT if facts.get("stream") == "client" else Stream.AGENT
            self._flush(stream)
            self._note({**facts, "elapsed_ns": self._elapsed(record)})
        elif event != "start":
            if self._blanking is not None:
                facts = self._blanking.facts(facts)
            self._note({**facts, "elapsed_ns": self._elapsed(record)})

    def _gap(self, stream: Stream, end: int) -> None:
        """Note that what is missing up to ``end`` was relayed but not recorded, unless it is known.

        The line around it is cut there.
        """
        line, framer = self._lines[stream], self._framers[stream]
        known = framer.offset if line is None else line.last.offset + len(line.last.data)
        if end <= known:
            return
        self._flush(stream)
        offset = known if self._blanking is None else self._blanking.offset(stream, known)
        gap = {"from": STREAMS[stream], "offset": offset, "bytes": end - known}
        if gap not in self._gaps:
            self._gaps.append(gap)
        framer.skip(end - known)
        self._dirty = True

    def _note(self, note: dict[str, Any]) -> None:
        if note not in self._notes:
            self._notes.append(note)
            self._dirty = True

    def _flush(self, stream: Stream) -> None:
        """Take an unfinished line as it stands."""
        line = self._lines[stream]
        frame = self._framers[stream].close()
        self._lines[stream] = None
        if frame is not None and line is not None:
            self._add(stream, frame, line.last, line.position)

    def _add(self, stream: Stream, frame: Frame, record: Record, position: int) -> None:
        """Add a frame; ``record`` brought its last byte, its first stands at ``position``."""
        if self._blanking is not None:
            frame = self._blanking.blanked(stream, frame)
        if frame.size == len(frame.raw):
            self._unhashed[stream].append(frame.raw)
            self._add_row(stream, frame, record, frame.raw)
            return
        self._hash(stream)
        for piece in self._pieces(stream, frame, position):
            self._sha[stream].update(piece)
        # Parts of equal size are all too long to be parsed, so that nobody takes one for a line.
        parts = -(-frame.size // _LONGEST_ROW)
        ends = [frame.offset + frame.size * n // parts for n in range(parts + 1)]
        for begin, end in pairwise(ends):
            part = Frame(begin, frame.raw if begin == frame.offset else b"", end - begin)
            pieces = _Pieces(self, stream, part, position)
            self._add_row(stream, part, record, LongRaw(part.size, pieces))

    def _hash(self, stream: int) -> None:
        self._sha[stream].update(b"".join(self._unhashed[stream]))
        self._unhashed[stream].clear()

    def _add_row(self, stream: Stream, frame: Frame, record: Record, raw: bytes | LongRaw) -> None:
        if self._blanking is not None and self._blanking.is_stored():
            return
        elapsed_ns = self._elapsed(record)
        entries = self._follower.add(DIRECTIONS[stream], frame, elapsed_ns)
        row = (entries[0][0], stream, frame.offset, _told(record.time_ns), elapsed_ns, raw)
        self._frames.append(tuple.__new__(FrameToWrite, row))  # in a third of the usual time
        self._entries += entries

    def _pieces(self, stream: Stream, frame: Frame, position: int) -> "Iterator[bytes]":
        """Yield the bytes of a long frame from the journal."""
        end = frame.offset + frame.size
        for record in self._journal.records(position):
            if record.stream is stream and record.offset + len(record.data) > frame.offset:
                yield record.data[max(frame.offset - record.offset, 0) : end - record.offset]
                if record.offset + len(record.data) >= end:
                    return

    def _elapsed(self, record: Record) -> int:
        elapsed_ns = record.monotonic_ns - self._start.monotonic_ns
        return min(max(elapsed_ns, -_LONGEST_NS), _LONGEST_NS)  # two hostile clocks differ by more

    def _batch(self, columns: dict[str, Any], *, durably: bool) -> Batch:
        unfinished = [line.position for line in self._lines if line is not None]
        if self._exit_position is not None:  # whoever goes on must see it again
            unfinished.append(self._exit_position)
        before = self._progress
        self._progress = Progress(
            min([self.position, *unfinished]), before.frames + len(self._frames)
        )
        index = self._follower.index
        columns = {
            **columns,
            **identity_columns(index),
            "derived": VERSION if self._is_derived else None,
            "gaps": list(self._gaps),
            "notes": list(self._notes),
        }
        if self._blanking is not None:
            columns["notes"].append(self._blanking.note())
        for stream, name in enumerate(STREAMS):
            end = self._framers[stream].offset
            columns[f"{name}_bytes"] = (
                end if self._blanking is None else self._blanking.offset(stream, end)
            )
            self._hash(stream)
            columns[f"{name}_sha256"] = self._sha[stream].hexdigest()
        derived = self._follower.take()
        batch = Batch(
            self._id,
            before,
            self._progress,
            self._frames,
            self._entries,
            columns,
            derived_rows(derived) if self._is_derived else None,
            durably,
        )
        self._frames, self._entries, self._dirty = [], [], False
        return batch


class _Pieces:
    """The bytes of a long frame, as often as somebody asks: a batch may be tried again."""

    def __init__(self, ingest: Ingest, stream: Stream, frame: Frame, position: int) -> None:
        self._of = (stream, frame, position)
        self._ingest = ingest

    def __iter__(self) -> "Iterator[bytes]":
        return self._ingest._pieces(*self._of)


def identity_columns(index: "Indexer") -> dict[str, Any]:
    """Return the columns of ``connections`` that the messages tell."""
    columns: dict[str, Any] = {"messages": index.seq, "protocol_version": index.protocol_version}
    for who, names in (("client", index.client), ("agent", index.agent)):
        for key in ("name", "title", "version"):
            columns[f"{who}_{key}"] = names.get(key)
    return columns


def derived_rows(derived: Derived) -> DerivedRows:
    """Return as rows what the messages mean for the state."""
    return DerivedRows(VERSION, derived.checkpoints, TABLES, *derived[1:])


def _start_columns(facts: Facts, start: Record) -> dict[str, Any]:
    version = facts.get("version")
    return {
        "label": facts.get("label"),
        "command": facts.get("command"),
        "cwd": facts.get("cwd"),
        "host": facts.get("host"),
        "proxy_pid": facts.get("proxy_pid"),
        "agent_pid": facts.get("agent_pid"),
        "recorded_by": f"acp-proxy {version}" if version else None,
        "added_ns": start.time_ns,
        "started_ns": _told(start.time_ns),
        "status": "running",
        "derived": VERSION,
    }


def _told(time_ns: int) -> int | None:
    """Return a time of the wall clock, None when the clock could not be told."""
    return None if time_ns == LATEST_NS else time_ns


def _number(facts: Facts, key: str) -> int | None:
    value = facts.get(key)
    return value if isinstance(value, int) else None
