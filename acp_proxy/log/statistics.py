"""Counting in SQL: how many messages of each kind, how many bytes, how long answers took."""

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from acp_proxy.log import schema
from acp_proxy.log.derived import DerivedReader
from acp_proxy.log.rows import KINDS, STREAMS
from acp_proxy.wire.exact_json import parse_exactly

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

_TURN = ("prompt_seq", "started_seq", "ended_seq", "stop_reason", "error")
_USAGE = ("first_seq", "session_id", "context_used", "context_size", "cost")
_STEP = 500  # rows that are grouped at a time: sorting some hundred stays in the processor's cache


class Tally(NamedTuple):
    """How many messages are alike, and how many bytes their lines have together.

    The bytes of a batch are those of its first member.
    """

    stream: str
    kind: str
    method: str | None
    update: str | None
    messages: int
    bytes: int


class Wait(NamedTuple):
    """A request that was answered.

    Attributes:
        stream: Who asked.
        method: What.
        seq: The request.
        answer_seq: The answer.
        duration_ns: From one to the other; None when unknown.
        is_error: Whether the answer is an error.
        bytes: Of the answer's line.
        session_id: What it was about.

    """

    stream: str
    method: str
    seq: int
    answer_seq: int
    duration_ns: int | None
    is_error: bool
    bytes: int
    session_id: str | None


CallMessage: TypeAlias = tuple[str | None, str, int, bool]
"""Session, tool call and seq of a message of the agent about it, and whether it was over before."""


class Prompt(NamedTuple):
    """A prompt, and the first ``session/update`` of its session before the next one, if any came."""

    seq: int
    update_seq: int | None


class TurnSpan(NamedTuple):
    """A turn: from its prompt if it has one, to its end if that came."""

    begin_seq: int
    end_seq: int | None
    stop_reason: str | None
    is_error: bool


class Call(NamedTuple):
    """A tool call and how it stands."""

    session_id: str
    tool_call_id: str
    kind: str
    status: str


class Things(NamedTuple):
    """What a state holds, as far as it is counted.

    Attributes:
        turns: All turns.
        permissions: The status of each permission.
        calls: All tool calls.
        usage: Of each session that told any: ``sessionId``, ``used``, ``size``, ``cost``.

    """

    turns: list[TurnSpan]
    permissions: list[str]
    calls: list[Call]
    usage: list[dict[str, Any]]


class Statistics:
    """Counts messages of one log; all up to a last one, so that what comes meanwhile is left out.

    Raises:
        LogError: The log cannot be read.

    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._db: sqlite3.Connection = schema.open_for_reading(path)

    def __enter__(self) -> "Statistics":
        with schema.reading(self._path):
            self._db.execute("BEGIN")  # all numbers are of one moment
        return self

    def __exit__(self, *exc: object) -> None:
        self._db.close()

    def last(self, connection_id: int) -> int:
        """Return how many messages there are."""
        with schema.reading(self._path):
            sql = (
                "SELECT messages, (SELECT max(seq) FROM messages WHERE connection_id = c.id) "
                "FROM connections c WHERE id = ?"
            )
            last, found = self._db.execute(sql, (connection_id,)).fetchone()
            if last != (found or 0):
                raise ValueError(f"of {last} messages the last is {found}")
            return int(last)

    def things(self, connection_id: int, version: int) -> Things | None:
        """Return what the latest state holds, None when its tables are not kept in this version."""
        derived = DerivedReader(self._path, self._db)
        if not derived.is_there(connection_id, version):
            return None
        turns = derived.rows("turns", _TURN, connection_id)
        usage = derived.rows("sessions", _USAGE, connection_id)
        with schema.reading(self._path):
            told = [_usage(*row) for row in sorted(usage) if row[2:] != (None, None, None)]
        return Things(
            [
                TurnSpan(prompt or started, ended, reason, error is not None)
                for prompt, started, ended, reason, error in turns
            ],
            [status for (status,) in derived.rows("permissions", ("status",), connection_id)],
            [Call(*row) for row in derived.rows("tool_calls", Call._fields, connection_id)],
            told,
        )

    def tallies(self, connection_id: int, last: int) -> list[Tally]:
        """Return how many messages of each stream, kind and method there are; 0.4 µs a message."""
        counts: dict[tuple[int, int, str | None, str | None], list[int]] = {}
        with schema.reading(self._path):
            for begin in range(1, last + 1, _STEP):
                for stream, kind, method, update, count, size in self._db.execute(
                    "SELECT stream_code, kind_code, method, session_update, count(*), "
                    "sum(CASE WHEN batch_index > 0 THEN 0 ELSE bytes END) FROM messages "
                    "WHERE connection_id = ? AND seq BETWEEN ? AND ? GROUP BY 1, 2, 3, 4",
                    (connection_id, begin, min(begin + _STEP - 1, last)),
                ):
                    known = counts.setdefault((stream, kind, method, update), [0, 0])
                    known[0] += count
                    known[1] += size
            if not all(0 <= key[0] < len(STREAMS) and 0 <= key[1] < len(KINDS) for key in counts):
                raise ValueError("a message of no stream or kind")
        return sorted(
            (
                Tally(STREAMS[stream], KINDS[kind], method, update, *numbers)
                for (stream, kind, method, update), numbers in counts.items()
            ),
            key=lambda tally: (
                -tally.messages,
                tally.stream,
                tally.method or "",
                tally.update or "",
            ),
        )

    def flags(self, connection_id: int, last: int) -> dict[str, int]:
        """Return how many messages have each flag."""
        found: dict[str, int] = {}
        with schema.reading(self._path):
            for flags, count in self._db.execute(
                "SELECT flags, count(*) FROM messages WHERE connection_id = ? AND seq <= ? "
                "AND flags IS NOT NULL GROUP BY flags",
                (connection_id, last),
            ):
                for flag in flags.split():
                    found[flag] = found.get(flag, 0) + count
        return dict(sorted(found.items()))

    def waits(self, connection_id: int, last: int) -> list[Wait]:
        """Return the requests that were answered; 3 µs each."""
        error = KINDS.index("error")
        with schema.reading(self._path):
            return [
                Wait(STREAMS[stream], method, seq, answer_seq, took, kind == error, size, session)
                for stream, method, seq, answer_seq, took, kind, size, session in self._db.execute(
                    "SELECT r.stream_code, coalesce(r.method, ''), r.seq, a.seq, a.duration_ns, "
                    "a.kind_code, CASE WHEN a.batch_index > 0 THEN 0 ELSE a.bytes END, "
                    "r.session_id FROM messages a INDEXED BY messages_by_request "
                    "JOIN messages r ON r.connection_id = a.connection_id AND r.seq = a.request_seq "
                    "WHERE a.connection_id = ? AND a.request_seq IS NOT NULL AND a.seq <= ?",
                    (connection_id, last),
                )
            ]

    def tool_calls(self, connection_id: int, last: int) -> "Iterator[CallMessage]":
        """Yield what the agent said of tool calls, in order; 1 µs each."""
        sql = (
            "SELECT session_id, tool_call_id, seq, flags FROM messages "
            "WHERE connection_id = ? AND seq <= ? AND tool_call_id IS NOT NULL "
            f"AND stream_code = {STREAMS.index('agent')} ORDER BY seq"
        )
        with schema.reading(self._path):
            for session, call, seq, flags in self._db.execute(sql, (connection_id, last)):
                yield session, call, seq, flags is not None and "after-final" in flags.split()

    def prompts(self, connection_id: int, last: int) -> list[Prompt]:
        """Return the prompts in order."""
        with schema.reading(self._path):
            asked = self._db.execute(
                "SELECT seq, session_id FROM messages WHERE connection_id = ? AND seq <= ? "
                f"AND kind_code = {KINDS.index('request')} AND method = 'session/prompt' "
                f"AND stream_code = {STREAMS.index('client')} ORDER BY seq",
                (connection_id, last),
            ).fetchall()
            return list(self._with_updates(connection_id, asked, last))

    def _with_updates(
        self, connection_id: int, asked: list[tuple[int, str | None]], last: int
    ) -> "Iterable[Prompt]":
        following: dict[str | None, int] = {}
        ends = []
        for seq, session in reversed(asked):
            ends.append(following.get(session, last + 1))
            following[session] = seq
        for (seq, session), end in zip(asked, reversed(ends), strict=True):
            row = self._db.execute(
                "SELECT seq FROM messages WHERE connection_id = ? AND seq > ? AND seq < ? "
                f"AND session_id = ? AND stream_code = {STREAMS.index('agent')} "
                "AND method = 'session/update' ORDER BY seq LIMIT 1",
                (connection_id, seq, end, session),
            ).fetchone()
            yield Prompt(seq, None if row is None else int(row[0]))


def _usage(
    _first_seq: int, session_id: str, used: int | None, size: int | None, cost: str | None
) -> dict[str, Any]:
    paid = None if cost is None else parse_exactly(cost.encode()).value  # 1.10 is not 1.1
    told = {"sessionId": session_id, "used": used, "size": size, "cost": paid}
    return {name: value for name, value in told.items() if value is not None}
