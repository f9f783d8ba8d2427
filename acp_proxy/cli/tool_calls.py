"""``acp-proxy tool-calls``: the tool calls of a connection."""

from typing import TYPE_CHECKING, Any

import click

from acp_proxy.cli.completion import candidates
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
from acp_proxy.events.labels import FINAL_STATUSES

if TYPE_CHECKING:
    from acp_proxy.log.tables import Tables


@click.command("tool-calls")
@connection_argument
@log_option
@at_option
@session_option
@click.option(
    "--status",
    metavar="WORD",
    shell_complete=candidates.tool_call_statuses,
    help="Only what stands so: pending, completed ...",
)
@click.option(
    "--kind",
    metavar="WORD",
    shell_complete=candidates.tool_call_kinds,
    help="Only this kind: read, edit, execute ...",
)
@click.option("--unfinished", is_flag=True, help=f"Only what is not {', '.join(FINAL_STATUSES)}.")
@json_option
def tool_calls(
    connection: str,
    log: str | None,
    at: str | None,
    session: str | None,
    status: str | None,
    kind: str | None,
    unfinished: bool,
    as_json: bool,
) -> None:
    """List the tool calls of CONNECTION (default: latest).

    FIRST and LAST are the messages that first mentioned and last changed the call,
    TOOK the time between them; CONTENT counts its items. Exits with 1 when nothing
    fits.
    """
    from acp_proxy.views.parts import narrowed
    from acp_proxy.views.state_json import as_it_is, state_document
    from acp_proxy.views.state_tables import tool_calls_table

    def fits(call: dict[str, Any]) -> bool:
        return (
            status in (None, call["status"])
            and kind in (None, call["kind"])
            and not (unfinished and call["status"] in FINAL_STATUSES)
        )

    equal = {
        name: [word] for name, word in (("status", status), ("kind", kind)) if word is not None
    }
    unlike = {"status": FINAL_STATUSES} if unfinished else {}

    def within(tables: "Tables", seq: int) -> set[str]:
        return tables.sessions_with("tool_calls", seq, equal, unlike)

    with opened(log) as recording:
        only = within if equal or unlike else None
        row, state = state_at(recording, connection, at, session, ["tool_calls"], only)
        document = narrowed(state_document(state, row.id, values=as_it_is), "toolCalls", fits)
        list_things(recording, document, "toolCalls", tool_calls_table, as_json=as_json)
