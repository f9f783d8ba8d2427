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
    from acp_proxy.recording import MessageRow, Recording


@click.command()
@click.argument("place", nargs=-1, required=True, metavar="[CONNECTION] SEQ")
@log_option
@click.option("--raw", is_flag=True, help="The exact bytes of its line, and nothing else.")
@json_option
def show(place: tuple[str, ...], log: str | None, raw: bool, as_json: bool) -> None:
    """Show message SEQ of CONNECTION (default: latest): laid out, with all that is known of it."""
    only_one({"--raw": raw, "--json": as_json})
    if len(place) > 2 or not place[-1].isdecimal():  # noqa: PLR2004 - two arguments
        raise click.UsageError("give a connection and a seq: acp-proxy show latest 17")
    connection, seq = (place[0] if len(place) > 1 else "latest"), int(place[-1])
    with opened(log) as recording:
        row = recording.message(connection, seq)
        if raw:
            write_bytes(recording.message_bytes(row))
            return
        other = _other(recording, row)
        if as_json:
            from acp_proxy.views.details import message_detail
            from acp_proxy.views.jsonlines import dumps

            click.echo(dumps(message_detail(row, other)))
        else:
            from acp_proxy.views.details import message_page

            offset = recording.frame_of(row).offset
            echo_page(message_page(recording.connection(connection), row, other, offset))


def _other(recording: "Recording", row: "MessageRow") -> "MessageRow | None":
    """Return the request that a response answers, or the response to a request."""
    if row.request_seq is not None:
        return recording.message(row.connection_id, row.request_seq)
    return recording.answer_to(row) if row.kind == "request" else None
