"""``acp-proxy show``: one message whole."""

from typing import TYPE_CHECKING

import click

from acp_proxy.cli.options import (
    echo_page,
    json_option,
    log_option,
    only_one,
    opened,
    write_bytes,
)

if TYPE_CHECKING:
    from acp_proxy.events.event import Event
    from acp_proxy.recording import MessageRow, Recording


@click.command()
@click.argument("place", nargs=-1, required=True, metavar="[CONNECTION] SEQ")
@log_option
@click.option("--raw", is_flag=True, help="The exact bytes of its line, and nothing else.")
@json_option
def show(place: tuple[str, ...], log: str | None, raw: bool, as_json: bool) -> None:
    """Show message SEQ of CONNECTION (default: latest): laid out, with all that is known of it.

    With the events that it means for the state, and notes on what was ignored or is
    odd.
    """
    only_one({"--raw": raw, "--json": as_json})
    if len(place) > 2 or not place[-1].isdecimal():  # noqa: PLR2004 - two arguments
        raise click.UsageError("give a connection and a seq: acp-proxy show latest 17")
    connection, seq = (place[0] if len(place) > 1 else "latest"), int(place[-1])
    with opened(log) as recording:
        row = recording.message(connection, seq)
        if raw:
            write_bytes(recording.message_bytes(row))
            return
        other, events = _other(recording, row), _events(recording, row)
        if as_json:
            from acp_proxy.views.details import message_detail
            from acp_proxy.views.jsonlines import dumps

            click.echo(dumps(message_detail(row, other, events)))
        else:
            from acp_proxy.views.details import message_page

            offset = recording.frame_of(row).offset
            whose = recording.connection(connection)
            echo_page(message_page(whose, row, other, offset, events))


def _other(recording: "Recording", row: "MessageRow") -> "MessageRow | None":
    """Return the request that a response answers, or the response to a request."""
    if row.request_seq is not None:
        return recording.message(row.connection_id, row.request_seq)
    return recording.answer_to(row) if row.kind == "request" else None


def _events(recording: "Recording", row: "MessageRow") -> "list[Event]":
    """Return what a message means, which what came before it decides."""
    from acp_proxy.events.vocabulary import ConnectionEnded

    meant: list[Event] = []
    for _, events in recording.steps(row.connection_id, since=row.seq, at=row.seq):
        if not isinstance(events[0], ConnectionEnded):  # that is of no message
            meant = events
    return meant
