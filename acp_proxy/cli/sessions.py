"""``acp-proxy sessions``: the sessions of a connection."""

import sys
from itertools import chain

import click

from acp_proxy.cli.completion import candidates
from acp_proxy.cli.options import (
    at_option,
    echo_table,
    json_option,
    log_option,
    opened,
    state_at,
    write_bytes,
    write_json,
)


@click.command()
@click.argument("connection", required=False, shell_complete=candidates.connections)
@log_option
@at_option
@click.option("--all", "of_all", is_flag=True, help="Those of all connections, newest first.")
@json_option
def sessions(
    connection: str | None, log: str | None, at: str | None, of_all: bool, as_json: bool
) -> None:
    """List the sessions of CONNECTION (default: latest), in order of first mention.

    NOW is closed, replaying (history is being told), or what the agent does; then
    how many turns, tool calls, terminals, permissions and messages there are.
    Exits with 1 when there is no session.
    """
    if of_all and (connection is not None or at is not None):
        raise click.UsageError("--all is for all connections as they are last: without --at")
    if of_all:
        _list_all(log, as_json=as_json)
        return
    from acp_proxy.views.state_json import as_it_is, state_document, state_pieces
    from acp_proxy.views.state_tables import sessions_table

    with opened(log) as recording:
        tables = None if as_json or at is not None else recording.tables(connection or "latest")
        counted = None if tables is None else tables.counted()
        things = None if counted is None else ()
        row, state = state_at(recording, connection or "latest", at, things=things)
        if as_json:
            write_bytes(chain(state_pieces(state, row.id), [b"\n"]))
        elif state.sessions:
            echo_table(sessions_table(state_document(state, row.id, values=as_it_is), counted))
    if not state.sessions:
        sys.exit(1)


def _list_all(log: str | None, *, as_json: bool) -> None:
    from acp_proxy.views.state_tables import all_sessions_table, session_summary

    with opened(log) as recording:
        rows = list(recording.sessions())
    if as_json:
        write_json(map(session_summary, rows))
    elif rows:
        echo_table(all_sessions_table(rows))
    if not rows:
        sys.exit(1)
