"""``acp-proxy permissions``: what was asked, what was answered, and how long that took."""

from typing import TYPE_CHECKING

import click

from acp_proxy.cli.options import (
    at_option,
    connection_argument,
    json_option,
    list_things,
    log_option,
    opened,
    session_option,
    state_at,
)

if TYPE_CHECKING:
    from acp_proxy.log.tables import Tables


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
    from acp_proxy.views.parts import narrowed
    from acp_proxy.views.state_json import as_it_is, state_document
    from acp_proxy.views.state_tables import permissions_table

    def within(tables: "Tables", seq: int) -> set[str]:
        return tables.sessions_with("permissions", seq, {"status": ["pending"]}, {})

    with opened(log) as recording:
        only = within if pending else None
        row, state = state_at(recording, connection, at, session, ["permissions"], only)
        document = narrowed(
            state_document(state, row.id, values=as_it_is),
            "permissions",
            lambda permission: not pending or permission["status"] == "pending",
        )
        list_things(recording, document, "permissions", permissions_table, as_json=as_json)
