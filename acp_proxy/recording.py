"""The read side of a log: connections, messages and frames, and whether the record is whole.

Needs neither trio, click nor sqlite_utils. Writing is the recorder's. What only some questions need
is imported when they are asked: the time until a command has begun is most of what it takes.
"""
# ruff: noqa: PLC0415 - see above

import os
from typing import TYPE_CHECKING

from acp_proxy.advance import Advance, unwatched
from acp_proxy.errors import QueryError
from acp_proxy.log.filters import MessageFilter
from acp_proxy.log.reader import LogReader
from acp_proxy.log.rows import ConnectionRow, FrameRow, MessageRow, SessionRow
from acp_proxy.log.search import SearchFilter
from acp_proxy.log.wholeness import all_of_stream
from acp_proxy.state.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from acp_proxy.events.event import Event
    from acp_proxy.following import Following
    from acp_proxy.log.follow import LogWatch
    from acp_proxy.log.search import Hit
    from acp_proxy.log.statistics import Statistics
    from acp_proxy.log.tables import Tables
    from acp_proxy.redaction.redactor import Redactor, Rules
    from acp_proxy.state.fold import State

__all__ = [
    "ConnectionRow",
    "FrameRow",
    "MessageFilter",
    "MessageRow",
    "Recording",
    "open_recording",
]


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

    A ``connection`` is given by its id, the beginning of its uuid, or as ``"latest"``; a wrong one
    raises QueryError. Running connections grow; each call sees what is there when it begins.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._log = LogReader(path)
        self.losses = self._log.losses  # what the answers lacked so far, in words
        self.notice = self._log.notice  # that a private copy is read, and why; None: it is not
        self._seen: set[int] = set()

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
        return self._log.messages(self._id(connection), wanted, raw=raw)

    def message(self, connection: str | int, seq: int) -> MessageRow:
        """Return one message with its whole frame; QueryError when there is none of that seq."""
        return self._log.message(self._id(connection), seq)

    def answer_to(self, message: MessageRow) -> MessageRow | None:
        """Return the response to a request, None while there is none."""
        seq = self._log.answer_to(message.connection_id, message.seq)
        return None if seq is None else self._log.message(message.connection_id, seq)

    def frames(
        self, connection: str | int = "latest", *, stream: str | None = None
    ) -> "Iterator[FrameRow]":
        """Yield the frames of a connection, or of one of its streams, in order."""
        return self._log.frames(self._id(connection), stream=stream)

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
        row = self._log.connection(connection)
        for frame in all_of_stream(self.path, self.frames(row.id, stream=stream), row, stream):
            yield from self._log.pieces(frame)

    def redactor(
        self,
        connection: str | int = "latest",
        rules: "Rules | None" = None,
        *,
        advance: Advance = unwatched,
    ) -> "Redactor":
        """Return what blanks the secrets of a connection; reads all of its frames once or twice.

        ``advance`` is told of each frame twice, whether it had to be read again or not.
        """
        from acp_proxy.learning import redactor_of

        return redactor_of(self._log, self._log.connection(connection), rules, advance)

    def state(
        self,
        connection: str | int = "latest",
        *,
        at: int | None = None,
        sessions: "Collection[str] | None" = None,
        things: "Collection[str] | None" = None,
    ) -> "State":
        """Return what was true just after a message.

        Begins with the last checkpoint before it, so that it takes the same anywhere; in a
        log without checkpoints all messages up to that one are folded, some 10 µs each.
        Of a large state a part is much cheaper.

        Args:
            connection: Of which connection.
            at: The message's seq; default: the last.
            sessions: Only these.
            things: Of each session only these, beside what it tells of itself: ``tool_calls``,
                ``terminals``, ``permissions``, ``turns``.

        Raises:
            QueryError: There is no such connection, or no message of that seq.

        """
        from acp_proxy.state.partial import Wanted
        from acp_proxy.states import state_at

        with self._log.snapshot():
            row, last = self._span(connection, at)
            return state_at(self._log, row, last, Wanted(sessions, things))

    def tables(self, connection: str | int) -> "Tables | None":
        """Return the tables of a connection's latest state, which tell at once where to look.

        None when the log has them not.
        """
        return self._log.tables(self._id(connection), VERSION)

    def steps(
        self,
        connection: str | int = "latest",
        *,
        since: int = 1,
        at: int | None = None,
    ) -> "Iterator[tuple[State, list[Event]]]":
        """Yield the state just after each message up to one, with the events of that message.

        It is one state, which goes on changing. For a connection that has ended, the end
        is the last step, with the seq of the last message. Errors as ``state``.

        Args:
            connection: Of which connection.
            since: The first message of which the step is wanted; a checkpoint may be before it.
            at: The last one; default: the last there is.

        """
        from acp_proxy.states import steps

        with self._log.snapshot():
            row, last = self._span(connection, at)
            yield from steps(self._log, row, since, last)

    def steps_about(
        self, connection: str | int, table: str, id_: str, *, at: int | None = None
    ) -> "Iterator[tuple[State, list[Event]]]":
        """Yield the steps that tell of one tool call or terminal (``tool_calls``, ``terminals``).

        As ``steps``, from its first mention, with nothing in the state but things of that
        kind; steps may be missing that do not change them.
        """
        from acp_proxy.states import steps_about

        with self._log.snapshot():
            row, last = self._span(connection, at)
            yield from steps_about(self._log, row, last, table, id_)

    def meaning(self, connection: str | int, seq: int) -> "list[Event]":
        """Return the events that one message is, which what came before it decides.

        Raises:
            QueryError: There is no such connection, or no message of that seq.

        """
        from acp_proxy.states import meaning

        with self._log.snapshot():
            row, _ = self._span(connection, seq)
            return meaning(self._log, row.id, seq)

    def sessions(self) -> "Iterator[SessionRow]":
        """Yield the sessions of all connections, those of the newest first.

        Costs nothing but for connections of an older log, whose states are folded.
        """
        for row in list(self._log.connections()):
            if self._log.derived.is_there(row.id, VERSION):
                yield from self._log.derived.sessions(row.id)
            else:
                from acp_proxy.summaries import session_rows

                yield from session_rows(self.state(row.id), row.id)

    def search(
        self,
        text: str,
        *,
        connection: str | int | None = None,
        session: str | None = None,
        kinds: "Sequence[str]" = (),
        limit: int = 20,
    ) -> "Iterator[Hit]":
        """Yield the texts in which all words stand, best first.

        Args:
            text: Words, and phrases in double quotes.
            connection: Only in this one.
            session: Only in this session.
            kinds: Only of these kinds (``log.search.TEXT_KINDS``).
            limit: At most so many.

        Raises:
            LogError: The log has no search index.

        """
        number = None if connection is None else self._id(connection)
        return self._log.search(text, SearchFilter(number, session, kinds, limit))

    def without_derived(self) -> int:
        """Return how many connections have neither state in tables nor texts in the index."""
        return sum(
            not self._log.derived.is_there(row.id, VERSION) for row in list(self._log.connections())
        )

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
        from acp_proxy.states import resolve

        return resolve(self._log, self._log.connection(connection), str(at))

    def times(self, connection: str | int, seqs: "Iterable[int]") -> dict[int, int | None]:
        """Return when messages came, in ns since the connection began; None for unknown."""
        return self._log.times(self._id(connection), seqs)

    def unanswered(self, connection: str | int, *, at: int) -> "Iterator[MessageRow]":
        """Yield the requests up to a message that nothing up to there answers."""
        wanted = MessageFilter(until_seq=at, unanswered=True)
        return self._log.messages(self._id(connection), wanted)

    def newest(
        self, connection: str | int, stream: str, *, at: int, limit: int = 1
    ) -> list[MessageRow]:
        """Return the last messages of a stream up to one, in order."""
        wanted = MessageFilter(stream=stream, until_seq=at, limit=limit)
        return list(self._log.messages(self._id(connection), wanted, newest_first=True))[::-1]

    def _id(self, connection: str | int) -> int:
        """Return a connection's id; an id that was seen is not looked up again and again."""
        if type(connection) is not int or connection not in self._seen:
            connection = self._log.connection(connection).id
            self._seen.add(connection)
        return connection

    def _span(self, connection: str | int, at: int | None) -> tuple[ConnectionRow, int]:
        """Return a connection and the message up to which it is wanted."""
        row = self._log.connection(connection)
        if at is not None and not 1 <= at <= row.messages:
            raise QueryError(f"connection {row.id} has no message {at}; it has {row.extent}")
        return row, row.messages if at is None else at

    def counts(self) -> dict[str, int]:
        """Return how many connections, frames and messages there are."""
        return self._log.counts()

    def size(self) -> int:
        """Return the log's bytes on disk."""
        return self._log.size()

    def verify(self, connection: str | int, *, advance: Advance = unwatched) -> list[str]:
        """Return what is wrong with a connection's record; nothing when it is whole.

        Reads all of its frames: offsets must be contiguous but for the gaps that are
        told, hashes must match, and what is derived must be what the frames give.
        ``advance`` is told of each frame.
        """
        with self._log.snapshot():
            from acp_proxy.verifying import problems_of

            return problems_of(self._log, connection, advance)

    def follow(self, connection: str | int) -> "Following":
        """Return a connection to be read on and on while it grows."""
        from acp_proxy.following import Following

        return Following(self._log, self._id(connection))

    def watch(self) -> "LogWatch":
        """Return what tells, cheaply, that the log has grown; to be closed."""
        from acp_proxy.log.follow import LogWatch

        return LogWatch(self.path)

    def statistics(self) -> "Statistics":
        """Return what counts messages in SQL; to be closed."""
        from acp_proxy.log.statistics import Statistics

        return Statistics(self.path)

    def check_integrity(self) -> list[str]:
        """Return what SQLite finds wrong with the file."""
        return self._log.check_integrity()
