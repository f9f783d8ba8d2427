"""The read side of a log: connections, messages and frames, and whether the record is whole.

Needs neither trio, click nor sqlite_utils. Writing is the recorder's.
"""

import hashlib
import os
from typing import TYPE_CHECKING

from acp_proxy.errors import QueryError
from acp_proxy.events.decoder import Decoder
from acp_proxy.events.index import Indexer
from acp_proxy.events.vocabulary import ConnectionEnded
from acp_proxy.following import Following
from acp_proxy.log.follow import LogWatch
from acp_proxy.log.reader import LogReader, MessageFilter
from acp_proxy.log.rows import STREAMS, ConnectionRow, FrameRow, IndexRow, MessageRow
from acp_proxy.log.statistics import Statistics
from acp_proxy.state.fold import State
from acp_proxy.views.points import Point, parse_point
from acp_proxy.wire.framing import Frame
from acp_proxy.wire.jsonrpc import Direction, classify_frame, text_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_proxy.events.event import Event

__all__ = [
    "ConnectionRow",
    "FrameRow",
    "MessageFilter",
    "MessageRow",
    "Recording",
    "open_recording",
]

_ENDED = ("exited", "killed", "lost")  # statuses after which no answer can come
_MAX_PROBLEMS = 20


def open_recording(path: str | os.PathLike[str]) -> "Recording":
    """Open a log to read it; close it with ``close`` or a with statement.

    Args:
        path: The log's file.

    Raises:
        LogError: There is none, or it cannot be read; the text says why and what to do.

    """
    return Recording(os.fspath(path))


class Recording:
    """An opened log.

    A ``connection`` is given by its id, by the beginning of its uuid, or as
    ``"latest"``; a wrong one raises QueryError. Running connections grow while
    they are read; each call sees what is there when it begins.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._log = LogReader(path)

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the log."""
        self._log.close()

    def connections(self) -> "Iterator[ConnectionRow]":
        """Yield the connections, newest first."""
        return self._log.connections()

    def connection(self, connection: str | int = "latest") -> ConnectionRow:
        """Return one connection."""
        return self._log.connection(connection)

    def messages(
        self,
        connection: str | int = "latest",
        *,
        stream: str | None = None,
        kind: str | None = None,
        method: str | None = None,
        session: str | None = None,
        update: str | None = None,
        tool_call: str | None = None,
        terminal: str | None = None,
        since_seq: int | None = None,
        until_seq: int | None = None,
        grep: str | None = None,
        odd: bool = False,
        limit: int | None = None,
        raw: int = 64 * 1024,
    ) -> "Iterator[MessageRow]":
        """Yield the messages of a connection in order, those that fit all that is given.

        The filters are those of ``log.reader.MessageFilter``.

        Args:
            connection: Whose.
            stream: ``client``, ``agent`` or ``stderr``.
            kind: ``request``, ``notification``, ``result``, ``error``, ``invalid`` or ``text``.
            method: A glob for the method, or for the method of the request that was answered.
            session: A session's id.
            update: A glob for the kind of ``session/update``.
            tool_call: A tool call's id.
            terminal: A terminal's id.
            since_seq: The first seq.
            until_seq: The last seq.
            grep: Text in the frame, as UTF-8 or escaped as in JSON.
            odd: Only what is flagged or invalid.
            limit: At most so many.
            raw: How many bytes of the frame come with each message.

        """
        wanted = MessageFilter(
            stream, kind, method, session, update, tool_call, terminal, since_seq, until_seq, grep,
            odd, limit,
        )  # fmt: skip
        return self._log.messages(self._log.connection(connection).id, wanted, raw=raw)

    def message(self, connection: str | int, seq: int) -> MessageRow:
        """Return one message with its whole frame; QueryError when there is none of that seq."""
        return self._log.message(self._log.connection(connection).id, seq)

    def answer_to(self, message: MessageRow) -> MessageRow | None:
        """Return the response to a request, None while there is none."""
        seq = self._log.answer_to(message.connection_id, message.seq)
        return None if seq is None else self._log.message(message.connection_id, seq)

    def frames(
        self, connection: str | int = "latest", *, stream: str | None = None
    ) -> "Iterator[FrameRow]":
        """Yield the frames of a connection, or of one of its streams, in order."""
        return self._log.frames(self._log.connection(connection).id, stream=stream)

    def frame_bytes(self, frame: FrameRow) -> "Iterator[bytes]":
        """Yield all bytes of a frame in pieces of some MiB at most."""
        return self._log.pieces(frame)

    def message_bytes(self, message: MessageRow) -> "Iterator[bytes]":
        """Yield all bytes of a message's frame in pieces."""
        return self._log.pieces(self.frame_of(message))

    def frame_of(self, message: MessageRow) -> FrameRow:
        """Return the frame that a message stands in."""
        return self._log.frame(message.connection_id, message.frame_seq)

    def stream(self, connection: str | int, stream: str) -> "Iterator[bytes]":
        """Yield a stream's bytes as they travelled, in pieces; gaps leave nothing behind."""
        for frame in self.frames(connection, stream=stream):
            yield from self._log.pieces(frame)

    def state(self, connection: str | int = "latest", *, at: int | None = None) -> State:
        """Return what was true just after a message.

        Folds all messages up to that one: some 20 µs each.

        Args:
            connection: Of which connection.
            at: The message's seq; default: the last.

        Raises:
            QueryError: There is no such connection, or no message of that seq.

        """
        state = State()
        for state, _ in self.steps(connection, at=at):  # noqa: B007 - the last one is the answer
            pass
        return state

    def steps(
        self, connection: str | int = "latest", *, at: int | None = None
    ) -> "Iterator[tuple[State, list[Event]]]":
        """Yield the state just after each message up to one, with the events of that message.

        It is one state, which goes on changing. For a connection that has ended, the end
        is the last step, with the seq of the last message. Arguments and errors as ``state``.
        """
        with self._log.snapshot():
            row = self._log.connection(connection)
            if at is not None and not 1 <= at <= row.messages:
                raise QueryError(
                    f"connection {row.id} has no message {at}; it has 1 to {row.messages}"
                )
            last = row.messages if at is None else at
            state = State()
            for events in self._events(row.id, last):
                for event in events:
                    state.apply(event)
                yield state, events
        if last == row.messages and row.status in _ENDED:
            end = ConnectionEnded(state.seq, None, None, ())
            state.apply(end)
            yield state, [end]

    def resolve(self, connection: str | int, at: str | int) -> int:
        """Return the seq that a point stands for, as ``state`` and the others take it.

        Args:
            connection: Of which connection.
            at: A seq; ``-K``: K messages before the last; seconds since the start, with a point
                or an ``s`` behind; or a time as in RFC 3339. A time stands for the last message
                before the first one that came later.

        Raises:
            QueryError: There is no such point.

        """
        row = self._log.connection(connection)
        try:
            point = parse_point(str(at))
        except ValueError as error:
            raise QueryError(str(error)) from error
        if point.kind == "seq":
            seq = point.value
        elif point.kind == "back":
            seq = row.messages - point.value
        else:
            seq = self._seq_at(row, point)
        if not 1 <= seq <= row.messages:
            raise QueryError(
                f'connection {row.id} has no message at "{at}"; it has 1 to {row.messages}'
            )
        return seq

    def _seq_at(self, row: ConnectionRow, point: Point) -> int:
        clock = "elapsed_ns" if point.kind == "elapsed" else "time_ns"
        later = self._log.first_after(row.id, **{clock: point.value})
        if later is not None:
            return later - 1
        if not self._log.is_timed(row.id, clock):
            raise QueryError(f"connection {row.id} has no such times; give a SEQ")
        return row.messages

    def times(self, connection: str | int, seqs: "Iterable[int]") -> dict[int, int | None]:
        """Return when messages came, in ns since the connection began; None for unknown."""
        return self._log.times(self._log.connection(connection).id, seqs)

    def unanswered(self, connection: str | int, *, at: int) -> "Iterator[MessageRow]":
        """Yield the requests up to a message that nothing up to there answers."""
        wanted = MessageFilter(until_seq=at, unanswered=True)
        return self._log.messages(self._log.connection(connection).id, wanted)

    def newest(
        self, connection: str | int, stream: str, *, at: int, limit: int = 1
    ) -> list[MessageRow]:
        """Return the last messages of a stream up to one, in order."""
        wanted = MessageFilter(stream=stream, until_seq=at, limit=limit)
        number = self._log.connection(connection).id
        return list(self._log.messages(number, wanted, newest_first=True))[::-1]

    def _events(self, connection_id: int, last: int) -> "Iterator[list[Event]]":
        """Yield what each message of a connection means, up to the one of seq ``last``."""
        decoder = Decoder()
        for frame in self._log.frames(connection_id):
            decoder.seq = frame.seq - 1  # the log's own count, whatever is missing
            direction, raw = Direction(frame.stream), frame.raw or b""
            if direction is Direction.STDERR:
                messages = [text_message(raw)]
            else:
                whole = Frame(frame.offset, raw, frame.size)
                messages = classify_frame(whole, as_written=True)
            for message in messages:
                if decoder.seq >= last:
                    return
                yield decoder.add(direction, message)

    def counts(self) -> dict[str, int]:
        """Return how many connections, frames and messages there are."""
        return self._log.counts()

    def size(self) -> int:
        """Return the log's bytes on disk."""
        return self._log.size()

    def verify(self, connection: str | int) -> list[str]:
        """Return what is wrong with a connection's record; nothing when it is whole.

        Reads all of its frames: offsets must be contiguous but for the gaps that are
        told, hashes must match, and the index must be what the frames give.
        """
        with self._log.snapshot():
            return self._verify(connection)

    def _verify(self, connection: str | int) -> list[str]:
        row = self._log.connection(connection)
        problems = _Problems()
        stored = self._log.index(row.id)
        index = Indexer()
        hashes = {stream: hashlib.sha256() for stream in STREAMS}
        offsets = dict.fromkeys(STREAMS, 0)
        gaps = {(gap["from"], gap["offset"]): gap["bytes"] for gap in row.gaps}
        frames = 0
        for frame in self._log.frames(row.id):
            frames += 1
            stream = frame.stream
            offsets[stream] += gaps.pop((stream, offsets[stream]), 0)
            if frame.offset != offsets[stream]:
                problems.add(
                    f"frame {frame.seq}: {stream} should go on at byte {offsets[stream]}, "
                    f"this frame says {frame.offset}"
                )
            if frame.seq != index.seq + 1:
                problems.add(f"frame {frame.seq}: should have seq {index.seq + 1}")
                index.seq = frame.seq - 1
            offsets[stream] = frame.offset + frame.size
            for piece in self._log.pieces(frame):
                hashes[stream].update(piece)
            self._check_index(frame, index, stored, problems)
        for seq, _ in stored:
            problems.add(f"message {seq}: stands in no frame")
        for stream in STREAMS:
            offsets[stream] += gaps.pop((stream, offsets[stream]), 0)
            if offsets[stream] != row.streams[stream]:
                problems.add(
                    f"{stream}: {row.streams[stream]} bytes were relayed, frames reach "
                    f"to {offsets[stream]}"
                )
            if (row.sha256[stream] or hashes[stream].hexdigest()) != hashes[stream].hexdigest():
                problems.add(f"{stream}: the frames do not give the hash {row.sha256[stream]}")
        if (frames, index.seq) != (row.frames, row.messages):
            problems.add(
                f"{row.frames} frames and {row.messages} messages should be there, "
                f"{frames} and {index.seq} are"
            )
        return problems.texts()

    def follow(self, connection: str | int) -> Following:
        """Return a connection to be read on and on while it grows."""
        return Following(self._log, self._log.connection(connection).id)

    def watch(self) -> LogWatch:
        """Return what tells, cheaply, that the log has grown; to be closed."""
        return LogWatch(self.path)

    def statistics(self) -> Statistics:
        """Return what counts messages in SQL; to be closed."""
        return Statistics(self.path)

    def check_integrity(self) -> list[str]:
        """Return what SQLite finds wrong with the file."""
        return self._log.check_integrity()

    @staticmethod
    def _check_index(
        frame: FrameRow,
        index: Indexer,
        stored: "Iterator[tuple[int, IndexRow]]",
        problems: "_Problems",
    ) -> None:
        seq = index.seq
        for entry in index.add(
            Direction(frame.stream),
            Frame(frame.offset, frame.raw or b"", frame.size),
            frame.elapsed_ns,
        ):
            seq += 1
            right, found = IndexRow(*entry), next(stored, None)
            if found is None or found[0] != seq:
                problems.add(f"message {seq}: is not in the index; acp-proxy log reindex mends it")
            elif found[1] != right:
                wrong = [
                    name
                    for name, a, b in zip(IndexRow._fields, right, found[1], strict=True)
                    if a != b
                ]
                problems.add(
                    f"message {seq}: the frame says something else of {', '.join(wrong)}; "
                    "acp-proxy log reindex mends it"
                )


class _Problems:
    """What was found, the first of it in words and the rest as a number."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._more = 0

    def add(self, text: str) -> None:
        if len(self._texts) < _MAX_PROBLEMS:
            self._texts.append(text)
        else:
            self._more += 1

    def texts(self) -> list[str]:
        return [*self._texts, f"and {self._more} more"] if self._more else self._texts
