"""``acp-proxy state``: what was true just after a message."""

import sys
from itertools import chain

import click

from acp_proxy.cli.options import (
    at_option,
    connection_argument,
    echo_lines,
    json_option,
    log_option,
    opened,
    session_option,
    state_at,
    write_bytes,
)


@click.command()
@connection_argument
@log_option
@at_option
@session_option
@json_option
def state(
    connection: str, log: str | None, at: str | None, session: str | None, as_json: bool
) -> None:
    """Show what was true on CONNECTION just after a message.

    Of each session: tool calls, terminals, permissions, messages, plans, turns and
    the rest, as the messages up to that one tell. Exits with 1 when there is no
    session ID.
    """
    from acp_proxy.views.state_json import state_pieces

    with opened(log) as recording:
        row, found = state_at(recording, connection, at, session)
    if as_json:
        write_bytes(chain(state_pieces(found, row.id, session), [b"\n"]))
    else:
        from acp_proxy.views.state_page import state_page

        echo_lines(state_page(found, row.id, session))
    if session is not None and session not in found.sessions:
        sys.exit(1)
