"""``acp-proxy stats``: a connection in numbers."""

from typing import TYPE_CHECKING

import click

from acp_proxy.cli.options import (
    at_option,
    connection_argument,
    echo_page,
    json_option,
    log_option,
    opened,
)

if TYPE_CHECKING:
    from acp_proxy.log.statistics import Things
    from acp_proxy.recording import Recording
    from acp_proxy.state.fold import State
    from acp_proxy.views.stats import Counted

_COUNTED = ("turns", "permissions", "tool_calls")


@click.command()
@connection_argument
@log_option
@at_option
@json_option
def stats(connection: str, log: str | None, at: str | None, as_json: bool) -> None:
    """Count what happened on CONNECTION (default: latest), and how long it took.

    Messages by kind and method with their bytes; how long answers took; the time
    from a prompt to the first update; turns; permissions and how long a person was
    waited for; tool calls by kind; use of the context and cost.
    """
    from acp_proxy.views.state_json import state_text
    from acp_proxy.views.stats import stats_document
    from acp_proxy.views.stats_page import stats_parts

    with opened(log) as recording:
        document = stats_document(_counted(recording, connection, at))
    if as_json:
        click.echo(state_text(document))
    else:
        echo_page(*stats_parts(document))


def _counted(recording: "Recording", connection: str, at: str | None) -> "Counted":
    from acp_proxy.state.snapshot import VERSION
    from acp_proxy.views.stats import Counted, call_spans, named_seqs

    row = recording.connection(connection)
    with recording.statistics() as numbers:
        things = None
        if at is None:
            last = numbers.last(row.id)
            things = numbers.things(row.id, VERSION)
        else:
            last = recording.resolve(row.id, at)
        if things is None:  # an earlier point, or an older log
            things = _things(recording.state(row.id, at=last, things=_COUNTED) if last else None)
        waits = numbers.waits(row.id, last)
        prompts = numbers.prompts(row.id, last)
        spans = call_spans(numbers.tool_calls(row.id, last), waits)
        return Counted(
            row,
            numbers.tallies(row.id, last),
            numbers.flags(row.id, last),
            waits,
            prompts,
            spans,
            last,
            things,
            recording.times(row.id, named_seqs(things, waits, prompts, spans)),
        )


def _things(state: "State | None") -> "Things":
    """Return what is counted of a state."""
    from acp_proxy.log.statistics import Call, Things, TurnSpan

    sessions = [] if state is None else list(state.sessions.values())
    return Things(
        [
            TurnSpan(
                turn.prompt_seq or turn.started_seq,
                turn.ended_seq,
                turn.stop_reason,
                turn.error is not None,
            )
            for session in sessions
            for turn in session.turns
        ],
        [one.status for session in sessions for one in session.permissions.values()],
        [
            Call(session.session_id, call.tool_call_id, call.kind, call.status)
            for session in sessions
            for call in session.tool_calls.values()
        ],
        [
            {
                "sessionId": session.session_id,
                **{
                    key: session.usage[key]
                    for key in ("used", "size", "cost")
                    if session.usage.get(key) is not None
                },
            }
            for session in sessions
            if session.usage is not None
        ],
    )
