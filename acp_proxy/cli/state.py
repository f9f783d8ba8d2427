"""``acp-proxy state``: what was true just after a message."""

import sys

import click

from acp_proxy.cli.options import connection_argument, json_option, log_option, opened


@click.command()
@connection_argument
@log_option
@click.option("--at", type=int, metavar="SEQ", help="Just after this message; default: the last.")
@click.option("--session", metavar="ID", help="Only this session.")
@json_option
def state(
    connection: str, log: str | None, at: int | None, session: str | None, as_json: bool
) -> None:
    """Show what was true on CONNECTION just after message SEQ.

    Of each session: tool calls, terminals, permissions, messages, plans, turns and
    the rest, as the messages up to that one tell. Exits with 1 when there is no
    session ID.
    """
    from acp_proxy.views.state_json import state_document, state_text

    with opened(log) as recording:
        row = recording.connection(connection)
        document = state_document(recording.state(row.id, at=at), row.id, session)
    if as_json:
        click.echo(state_text(document))
    else:
        from acp_proxy.views.state_page import state_page

        click.echo(state_page(document))
    if session is not None and not document["sessions"]:
        sys.exit(1)
