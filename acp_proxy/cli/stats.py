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
    state_at,
)

if TYPE_CHECKING:
    from acp_proxy.recording import Recording
    from acp_proxy.views.stats import Counted


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
    from acp_proxy.views.stats import Counted, call_spans, named_seqs

    row, state = state_at(recording, connection, at)
    last = state.seq
    with recording.statistics() as numbers:
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
            state,
            recording.times(row.id, named_seqs(state, waits, prompts, spans)),
        )
