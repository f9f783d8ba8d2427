"""``acp-proxy terminal``: one terminal whole, its bytes, its screen, or its history."""

from typing import TYPE_CHECKING, Any

import click

from acp_proxy.cli.completion import candidates
from acp_proxy.cli.failures import Failure
from acp_proxy.cli.options import (
    at_option,
    echo_page,
    history_text,
    json_option,
    log_option,
    only_one,
    opened,
    owner_option,
    place_of,
    session_option,
    state_at,
    write_bytes,
)
from acp_proxy.events.event import Owner

if TYPE_CHECKING:
    from acp_proxy.log.tables import Tables
    from acp_proxy.recording import Recording


@click.command()
@click.argument(
    "place",
    nargs=-1,
    required=True,
    shell_complete=candidates.place_of_terminal,
    metavar="[CONNECTION] ID",
)
@log_option
@at_option
@session_option
@owner_option
@click.option("--raw", is_flag=True, help="The exact bytes of its output, and nothing else.")
@click.option("--screen", is_flag=True, help="What a terminal of its size would show; needs pyte.")
@click.option("--history", is_flag=True, help="Each message about it, and what that changed.")
@json_option
def terminal(
    place: tuple[str, ...],
    log: str | None,
    at: str | None,
    session: str | None,
    owner: str | None,
    raw: bool,
    screen: bool,
    history: bool,
    as_json: bool,
) -> None:
    r"""Show terminal ID of CONNECTION (default: latest) with its output.

    Control characters and escape sequences of the output are shown as escapes (\e,
    \r); line ends are line ends. Exits with 1 when there is no such terminal, with
    --raw also when more than one has that id, or its output is unknown.
    """
    only_one({"--raw": raw, "--json": as_json})
    only_one({"--raw": raw, "--screen": screen, "--history": history})
    connection, id_ = place_of(place, "terminal")
    with opened(log) as recording:
        if history:
            owners = [Owner(owner)] if owner is not None else list(Owner)
            click.echo(_history(recording, connection, at, id_, session, owners, as_json=as_json))
            return
        document = _document(recording, connection, at, id_, session, owner)
        if raw:
            write_bytes([_output(document, id_)])
        elif screen:
            click.echo(_screens(recording, document, as_json=as_json))
        else:
            echo_page(_pages(recording, document, as_json=as_json))


def _document(
    recording: "Recording",
    connection: str,
    at: str | None,
    id_: str,
    session: str | None,
    owner: str | None,
) -> dict[str, Any]:
    from acp_proxy.views.parts import narrowed
    from acp_proxy.views.state_json import as_it_is, state_document

    def within(tables: "Tables", seq: int) -> set[str]:
        return tables.sessions_with("terminals", seq, {"terminal_id": [id_]}, {})

    row, state = state_at(recording, connection, at, session, ["terminals"], within)
    document = narrowed(
        state_document(state, row.id, values=as_it_is),
        "terminals",
        lambda one: one["terminalId"] == id_ and owner in (None, one["owner"]),
    )
    if not document["sessions"]:
        raise _nothing(row.id, id_)
    return document


def _pages(recording: "Recording", document: dict[str, Any], *, as_json: bool) -> str:
    from acp_proxy.views.parts import seqs_of, things
    from acp_proxy.views.state_json import state_text
    from acp_proxy.views.thing_pages import terminal_page

    if as_json:
        return state_text(document)
    times = recording.times(document["connection"], seqs_of(document, "terminals"))
    return "\n\n".join(
        terminal_page(name, one, times) for name, one in things(document, "terminals")
    )


def _screens(recording: "Recording", document: dict[str, Any], *, as_json: bool) -> str:
    try:
        from acp_proxy.views.screen import screen_page, screens_document
    except ImportError as error:
        raise click.UsageError(
            f"--screen needs a package that is not here ({error.name}); "
            "install it with: pip install 'acp-proxy[screen]'"
        ) from error
    from acp_proxy.views.parts import seqs_of, things
    from acp_proxy.views.state_json import state_text

    if as_json:
        return state_text(screens_document(document))
    times = recording.times(document["connection"], seqs_of(document, "terminals"))
    return "\n\n".join(screen_page(name, one, times) for name, one in things(document, "terminals"))


def _history(
    recording: "Recording",
    connection: str,
    at: str | None,
    id_: str,
    session: str | None,
    owners: list[Owner],
    *,
    as_json: bool,
) -> str:
    from acp_proxy.views.history import terminal_history

    number = recording.connection(connection).id
    text = history_text(
        recording,
        number,
        at,
        ("terminals", id_),
        lambda steps: terminal_history(steps, id_, session, owners),
        as_json=as_json,
    )
    if text is None:
        raise _nothing(number, id_)
    return text


def _nothing(number: int, id_: str) -> Failure:
    return Failure(
        f'connection {number} has no such terminal "{id_}"; acp-proxy terminals lists them'
    )


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
