"""``acp-proxy terminals`` and ``terminal``: the terminals of a connection, and one whole."""

from typing import Any

import click

from acp_proxy.cli.options import (
    Failure,
    at_option,
    connection_argument,
    echo_page,
    json_option,
    list_things,
    log_option,
    only_one,
    opened,
    place_of,
    session_option,
    state_at,
    write_bytes,
)
from acp_proxy.events.event import Owner

_owner_option = click.option(
    "--owner", type=click.Choice([owner.value for owner in Owner]), help="Only this owner's."
)


@click.command()
@connection_argument
@log_option
@at_option
@session_option
@_owner_option
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
    from acp_proxy.views.state_json import state_document
    from acp_proxy.views.state_tables import terminals_table

    with opened(log) as recording:
        row, state = state_at(recording, connection, at)
        document = narrowed(
            state_document(state, row.id, session),
            "terminals",
            lambda one: owner in (None, one["owner"]) and not (unfinished and "exitStatus" in one),
        )
        list_things(recording, document, "terminals", terminals_table, as_json=as_json)


@click.command()
@click.argument("place", nargs=-1, required=True, metavar="[CONNECTION] ID")
@log_option
@at_option
@session_option
@_owner_option
@click.option("--raw", is_flag=True, help="The exact bytes of its output, and nothing else.")
@json_option
def terminal(
    place: tuple[str, ...],
    log: str | None,
    at: str | None,
    session: str | None,
    owner: str | None,
    raw: bool,
    as_json: bool,
) -> None:
    r"""Show terminal ID of CONNECTION (default: latest) with its output.

    Control characters and escape sequences of the output are shown as escapes (\e,
    \r); line ends are line ends. Exits with 1 when there is no such terminal, with
    --raw also when more than one has that id, or its output is unknown.
    """
    from acp_proxy.views.parts import narrowed, seqs_of, things
    from acp_proxy.views.state_json import state_document, state_text
    from acp_proxy.views.thing_pages import terminal_page

    only_one({"--raw": raw, "--json": as_json})
    connection, id_ = place_of(place, "terminal")
    with opened(log) as recording:
        row, state = state_at(recording, connection, at)
        document = narrowed(
            state_document(state, row.id, session),
            "terminals",
            lambda one: one["terminalId"] == id_ and owner in (None, one["owner"]),
        )
        if not document["sessions"]:
            raise Failure(
                f'connection {row.id} has no such terminal "{id_}"; acp-proxy terminals lists them'
            )
        if raw:
            write_bytes([_output(document, id_)])
        elif as_json:
            click.echo(state_text(document))
        else:
            times = recording.times(row.id, seqs_of(document, "terminals"))
            pages = [terminal_page(name, one, times) for name, one in things(document, "terminals")]
            echo_page(*pages)


def _output(document: dict[str, Any], id_: str) -> bytes:
    from acp_proxy.views.parts import things
    from acp_proxy.views.state_page import output_bytes

    found = [one for _, one in things(document, "terminals")]
    if len(found) > 1:
        raise Failure(f'{len(found)} terminals have the id "{id_}"; give --owner or --session')
    output = output_bytes(found[0])
    if output is None:
        raise Failure(f'the output of terminal "{id_}" is not known at that point')
    return output
