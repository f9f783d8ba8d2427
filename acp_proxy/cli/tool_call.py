"""``acp-proxy tool-call``: one tool call whole, or its history."""

from typing import TYPE_CHECKING

import click

from acp_proxy.cli.completion import candidates
from acp_proxy.cli.failures import Failure
from acp_proxy.cli.options import (
    at_option,
    echo_page,
    history_text,
    json_option,
    log_option,
    opened,
    place_of,
    session_option,
    state_at,
)

if TYPE_CHECKING:
    from acp_proxy.log.tables import Tables
    from acp_proxy.recording import Recording


@click.command("tool-call")
@click.argument(
    "place",
    nargs=-1,
    required=True,
    shell_complete=candidates.place_of_tool_call,
    metavar="[CONNECTION] ID",
)
@log_option
@at_option
@session_option
@click.option("--history", is_flag=True, help="Each message about it, and what that changed.")
@json_option
def tool_call(
    place: tuple[str, ...],
    log: str | None,
    at: str | None,
    session: str | None,
    history: bool,
    as_json: bool,
) -> None:
    """Show tool call ID of CONNECTION (default: latest) whole.

    With its input and output, its content, diffs as unified diffs, the permissions
    that were asked for it and the terminals that it embeds. Exits with 1 when there
    is no such tool call.
    """
    from acp_proxy.views.parts import seqs_of
    from acp_proxy.views.state_json import as_it_is, state_document, state_text
    from acp_proxy.views.thing_pages import tool_call_page, with_belongings

    connection, id_ = place_of(place, "tool call")
    with opened(log) as recording:
        if history:
            click.echo(_history(recording, connection, at, id_, session, as_json=as_json))
            return

        def within(tables: "Tables", seq: int) -> set[str]:
            return tables.sessions_with("tool_calls", seq, {"tool_call_id": [id_]}, {})

        things = ["tool_calls", "permissions", "terminals"]
        row, state = state_at(recording, connection, at, session, things, within)
        document = with_belongings(state_document(state, row.id, values=as_it_is), id_)
        if not document["sessions"]:
            raise _nothing(row.id, id_)
        if as_json:
            click.echo(state_text(document))
        else:
            seqs = set().union(
                *(seqs_of(document, key) for key in ("toolCalls", "permissions", "terminals"))
            )
            times = recording.times(row.id, seqs)
            echo_page(*[tool_call_page(one, times) for one in document["sessions"]])


def _history(
    recording: "Recording",
    connection: str,
    at: str | None,
    id_: str,
    session: str | None,
    *,
    as_json: bool,
) -> str:
    from acp_proxy.views.history import tool_call_history

    number = recording.connection(connection).id
    text = history_text(
        recording,
        number,
        at,
        ("tool_calls", id_),
        lambda steps: tool_call_history(steps, id_, session),
        as_json=as_json,
    )
    if text is None:
        raise _nothing(number, id_)
    return text


def _nothing(number: int, id_: str) -> Failure:
    return Failure(
        f'connection {number} has no such tool call "{id_}"; acp-proxy tool-calls lists them'
    )
