"""``acp-proxy permissions``: what was asked, what was answered, and how long that took."""

import sys

import click

from acp_proxy.cli.options import (
    at_option,
    connection_argument,
    echo_table,
    json_option,
    log_option,
    opened,
    session_option,
    state_at,
)


@click.command()
@connection_argument
@log_option
@at_option
@session_option
@click.option("--pending", is_flag=True, help="Only what is not answered.")
@json_option
def permissions(
    connection: str,
    log: str | None,
    at: str | None,
    session: str | None,
    pending: bool,
    as_json: bool,
) -> None:
    """List the permissions that the agent asked for on CONNECTION (default: latest).

    SEQ is the request; TOOK the time until its answer. Exits with 1 when nothing
    fits.
    """
    from acp_proxy.views.parts import narrowed, seqs_of
    from acp_proxy.views.state_json import state_document, state_text
    from acp_proxy.views.state_tables import permissions_table

    with opened(log) as recording:
        row, state = state_at(recording, connection, at)
        document = narrowed(
            state_document(state, row.id, session),
            "permissions",
            lambda permission: not pending or permission["status"] == "pending",
        )
        if as_json:
            click.echo(state_text(document))
        elif document["sessions"]:
            times = recording.times(row.id, seqs_of(document, "permissions"))
            echo_table(permissions_table(document, times))
    if not document["sessions"]:
        sys.exit(1)
