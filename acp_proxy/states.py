"""States of a recorded connection: from the last checkpoint before a point, folded on to it.

What is asked for may be a part (``state.partial``): then only that is read of the checkpoint.
"""

import contextlib
from typing import TYPE_CHECKING

from acp_proxy.errors import QueryError
from acp_proxy.events.decoder import Decoder
from acp_proxy.events.index import messages_of
from acp_proxy.events.vocabulary import ConnectionEnded
from acp_proxy.log.wholeness import Missing
from acp_proxy.state.fold import State
from acp_proxy.state.partial import WHOLE, Wanted
from acp_proxy.state.snapshot import (
    VERSION,
    BadSnapshotError,
    beginnings,
    restore,
    session_id_of,
)
from acp_proxy.views.points import Point, parse_point
from acp_proxy.wire.framing import Frame
from acp_proxy.wire.jsonrpc import Direction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acp_proxy.events.event import Event
    from acp_proxy.log.derived import DerivedReader
    from acp_proxy.log.reader import LogReader
    from acp_proxy.log.rows import ConnectionRow

_SESSION = 1 << 32  # the parts of a session are those from its own up to the next one's
_LAST = 2**63 - 1
_NOTHING = Wanted(sessions=(), things=())


def resolve(log: "LogReader", row: "ConnectionRow", at: str) -> int:
    """Return the seq that a point stands for (``Recording.resolve``)."""
    try:
        point = parse_point(at)
    except ValueError as error:
        raise QueryError(str(error)) from error
    if point.kind == "seq":
        seq = point.value
    elif point.kind == "back":
        seq = row.messages - point.value
    else:
        seq = _seq_at(log, row, point)
    if not 1 <= seq <= row.messages:
        raise QueryError(f'connection {row.id} has no message at "{at}"; it has {row.extent}')
    return seq


def _seq_at(log: "LogReader", row: "ConnectionRow", point: Point) -> int:
    clock = "elapsed_ns" if point.kind == "elapsed" else "time_ns"
    later = log.first_after(row.id, **{clock: point.value})
    if later is not None:
        return later - 1
    if not log.is_timed(row.id, clock):
        raise QueryError(f"connection {row.id} has no such times; give a SEQ")
    return row.messages


def state_at(log: "LogReader", row: "ConnectionRow", last: int, wanted: Wanted = WHOLE) -> State:
    """Return what was true just after a message, or the part of it that is wanted."""
    state, decoder = _start(log, row.id, last, wanted)
    seq = state.seq
    for events in _events(log, row.id, decoder, last):
        seq = decoder.seq
        for event in wanted.about(events):
            state.apply(event)
    state.seq = seq
    if last == row.messages and row.ended is not None:
        state.apply(ConnectionEnded(seq, None, None, ()))
    wanted.trim(state)
    return state


def steps(
    log: "LogReader", row: "ConnectionRow", since: int, last: int, wanted: Wanted = WHOLE
) -> "Iterator[tuple[State, list[Event]]]":
    """Yield the state just after each message of a range, and what the message means."""
    state, decoder = _start(log, row.id, min(since, last) - 1, wanted)
    for events in _events(log, row.id, decoder, last):
        some = wanted.about(events)
        for event in some:
            state.apply(event)
        if decoder.seq >= since:
            state.seq = decoder.seq
            yield state, some
    if last == row.messages and row.ended is not None:
        end = ConnectionEnded(state.seq, None, None, ())
        state.apply(end)
        yield state, [end]


def steps_about(
    log: "LogReader", row: "ConnectionRow", last: int, table: str, id_: str
) -> "Iterator[tuple[State, list[Event]]]":
    """Yield the steps that tell of one thing (``Recording.steps_about``)."""
    tables = log.tables(row.id, VERSION)
    found = None if tables is None else tables.mentions(table, id_)
    if found is None:
        yield from steps(log, row, 1, last)
    elif 0 < found.first <= last:
        wanted = Wanted(found.sessions, (table,))
        yield from steps(log, row, found.first, min(last, found.last), wanted)


def meaning(log: "LogReader", connection_id: int, seq: int) -> "list[Event]":
    """Return what one message means; needs no state, only what the decoder knows."""
    _, decoder = _start(log, connection_id, seq - 1, _NOTHING)
    meant: list[Event] = []
    for events in _events(log, connection_id, decoder, seq):
        if decoder.seq == seq:
            meant = events
    return meant


def _start(
    log: "LogReader", connection_id: int, seq: int, wanted: Wanted
) -> "tuple[State, Decoder]":
    """Return the state, and who goes on from there, at the last checkpoint up to a message."""
    only = None if wanted == WHOLE else _parts(log.derived, connection_id, wanted)
    found = log.derived.checkpoint(connection_id, seq, VERSION, only)
    if found is not None:
        with contextlib.suppress(BadSnapshotError):
            return restore(
                found.things,
                at_leisure=found.is_checked and only is None,
                is_part=only is not None,
                has_messages=wanted.things is None,
            )
    return State(), Decoder()


def _parts(
    derived: "DerivedReader", connection_id: int, wanted: Wanted
) -> "Callable[[int], list[int]]":
    """Return what tells the parts of a checkpoint that are wanted."""

    def of(seq: int) -> list[int]:
        kinds = wanted.kinds
        heads = [] if kinds is None else beginnings(["Session", *kinds])
        if wanted.sessions is None and not kinds and kinds is not None:
            return [0, *(part for part, _ in derived.session_heads(connection_id, seq))]
        if wanted.sessions is None:
            return [0, *derived.parts_beginning(connection_id, seq, (1, _LAST), heads)]
        found = [0]
        sessions = derived.session_heads(connection_id, seq) if wanted.sessions else ()
        for part, head in list(sessions):
            if session_id_of(head) in wanted.sessions:
                span = (part, part + _SESSION - 1)
                found += derived.parts_beginning(connection_id, seq, span, heads)
        return found

    return of


def _events(
    log: "LogReader", connection_id: int, decoder: "Decoder", last: int
) -> "Iterator[list[Event]]":
    """Yield what each message after the decoder's means, up to the one of seq ``last``."""
    missing = Missing(log.path, connection_id)
    for frame in log.frames(connection_id, from_seq=decoder.seq + 1):
        missing.between(decoder.seq + 1, frame.seq)
        decoder.seq = frame.seq - 1  # the log's own count, whatever is missing
        direction = Direction(frame.stream)
        for message in messages_of(direction, Frame(frame.offset, frame.raw or b"", frame.size)):
            if decoder.seq >= last:
                log.losses += missing.words()
                return
            yield decoder.add(direction, message)
    missing.between(decoder.seq + 1, last + 1)
    log.losses += missing.words()
