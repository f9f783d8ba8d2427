"""``acp-proxy terminals``: the terminals of a connection."""

import click

from acp_proxy.cli.options import (
    at_option,
    connection_argument,
    json_option,
    list_things,
    log_option,
    opened,
    owner_option,
    session_option,
    state_at,
)


@click.command()
@connection_argument
@log_option
@at_option
@session_option
@owner_option
@click.option("--unfinished", is_flag=True, help="Only what has not exited.")
@json_option
def terminals(
    connection: str,
    log: str | None,
    at: str | None,
    session: str | None,
    owner: str | None,
    unfinished: bool,
    as_json: bool,
) -> None:
    """List the terminals of CONNECTION (default: latest).

    OWNER is agent (version 2), client (version 1, terminal/* requests) or meta
    (version 1, told in _meta). FIRST and LAST are the messages that first mentioned
    and last changed it, TOOK the time between them. Exits with 1 when nothing fits.
    """
    from acp_proxy.views.parts import narrowed
    from acp_proxy.views.state_json import as_it_is, state_document
    from acp_proxy.views.state_tables import terminals_table

    with opened(log) as recording:
        row, state = state_at(recording, connection, at, session, ["terminals"])
        document = narrowed(
            state_document(state, row.id, values=as_it_is),
            "terminals",
            lambda one: owner in (None, one["owner"]) and not (unfinished and "exitStatus" in one),
        )
        list_things(recording, document, "terminals", terminals_table, as_json=as_json)
