"""``acp-proxy sessions``: the sessions of a connection."""

import sys

import click

from acp_proxy.cli.options import (
    at_option,
    connection_argument,
    echo_table,
    json_option,
    log_option,
    opened,
    state_at,
)


@click.command()
@connection_argument
@log_option
@at_option
@json_option
def sessions(connection: str, log: str | None, at: str | None, as_json: bool) -> None:
    """List the sessions of CONNECTION (default: latest), in order of first mention.

    NOW is closed, replaying (history is being told), or what the agent does; then
    how many turns, tool calls, terminals, permissions and messages there are.
    Exits with 1 when there is no session.
    """
    from acp_proxy.views.state_json import state_document, state_text
    from acp_proxy.views.state_tables import sessions_table

    with opened(log) as recording:
        row, state = state_at(recording, connection, at)
        document = state_document(state, row.id)
    if as_json:
        click.echo(state_text(document))
    elif document["sessions"]:
        echo_table(sessions_table(document))
    if not document["sessions"]:
        sys.exit(1)
