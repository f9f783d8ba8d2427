"""``acp-proxy pending``: who waits for whom."""

from typing import TYPE_CHECKING, Any

import click

from acp_proxy.cli.options import (
    at_option,
    connection_argument,
    echo_lines,
    json_option,
    log_option,
    opened,
    state_at,
)
from acp_proxy.clock import wall_clock_ns
from acp_proxy.events.labels import FINAL_STATUSES
from acp_proxy.log.rows import STREAMS

if TYPE_CHECKING:
    from acp_proxy.log.rows import ConnectionRow
    from acp_proxy.log.tables import Tables
    from acp_proxy.recording import Recording
    from acp_proxy.views.pending import Clock, Seen

_STDERR_LINES = 5
# What is open, as the log's tables tell it.
_OPEN: "tuple[tuple[str, dict[str, Any], dict[str, Any]], ...]" = (
    ("tool_calls", {}, {"status": FINAL_STATUSES}),
    ("terminals", {"exited": [0], "released": [0]}, {}),
    ("permissions", {"status": ["pending"]}, {}),
    ("sessions", {"activity": ["running", "requires_action"]}, {}),
)


@click.command()
@connection_argument
@log_option
@at_option
@json_option
def pending(connection: str, log: str | None, at: str | None, as_json: bool) -> None:
    """Tell what is stuck on CONNECTION (default: latest), in one line and then whole.

    Open requests of each side, permissions, tool calls and terminals that have not
    come to an end, how long each side has been silent, the last lines on stderr, and
    how the agent ended. Ages reach to now for a connection that runs, else to its
    end; with --at to that message, or to that time.
    """
    from acp_proxy.views.parts import seqs_of
    from acp_proxy.views.pending import pending_document, pending_page
    from acp_proxy.views.state_json import state_text

    with opened(log) as recording:
        seen = _seen(recording, connection, at)
        document = pending_document(seen)
        if as_json:
            click.echo(state_text(document))
            return
        ages: dict[int, int | None] = {}
        for key in ("toolCalls", "terminals", "permissions"):
            for seq in seqs_of(document, key):
                ages[seq] = seen.clock.age(recording.message(seen.connection.id, seq))
        echo_lines(pending_page(document, ages))


def _seen(recording: "Recording", connection: str, at: str | None) -> "Seen":
    from acp_proxy.views.pending import Seen
    from acp_proxy.views.state_json import as_it_is, state_document

    def within(tables: "Tables", last: int) -> set[str]:
        return set().union(*(tables.sessions_with(table, last, *told) for table, *told in _OPEN))

    things = ["tool_calls", "terminals", "permissions"]
    row, state = state_at(recording, connection, at, None, things, within)
    seq = state.seq
    newest = {
        message.stream: message
        for stream in STREAMS
        if row.streams[stream]
        for message in recording.newest(row.id, stream, at=seq)
    }
    return Seen(
        row,
        at is None,
        state_document(state, row.id, values=as_it_is),
        list(recording.unanswered(row.id, at=seq)),
        newest,
        recording.newest(row.id, "stderr", at=seq, limit=_STDERR_LINES)
        if row.streams["stderr"]
        else [],
        _clock(recording, row, seq, at),
    )


def _clock(recording: "Recording", row: "ConnectionRow", seq: int, at: str | None) -> "Clock":
    from acp_proxy.views.pending import Clock
    from acp_proxy.views.points import parse_point

    if at is not None:
        point = parse_point(at)
        if point.kind == "elapsed":
            return Clock(None, point.value)
        if point.kind == "time":
            return Clock(point.value, None)
    elif row.status == "running":
        return Clock(wall_clock_ns(), None)
    elif row.duration_ns is not None:
        return Clock(None, row.duration_ns)
    return Clock(None, recording.times(row.id, [seq]).get(seq))
