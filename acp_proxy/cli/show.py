"""``acp-proxy show``: one message whole."""

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from acp_proxy.cli.completion import candidates
from acp_proxy.cli.options import (
    echo_page,
    echo_review,
    json_option,
    log_option,
    only_one,
    opened,
    redactor_of,
    review_option,
    write_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_proxy.recording import MessageRow, Recording
    from acp_proxy.redaction.redactor import Redactor


@click.command()
@click.argument(
    "place",
    nargs=-1,
    required=True,
    shell_complete=candidates.place_of_message,
    metavar="[CONNECTION] SEQ",
)
@log_option
@click.option("--raw", is_flag=True, help="The exact bytes of its line, and nothing else.")
@click.option("--share", is_flag=True, help="Blank the secrets in it.")
@review_option
@json_option
def show(
    place: tuple[str, ...], log: str | None, raw: bool, share: bool, review: bool, as_json: bool
) -> None:
    """Show message SEQ of CONNECTION (default: latest): laid out, with all that is known of it.

    With the events that it means for the state, and notes on what was ignored or is
    odd.
    """
    only_one({"--raw": raw, "--json": as_json})
    if review and not share:
        raise click.UsageError("--review goes with --share")
    if len(place) > 2 or not place[-1].isdecimal():  # noqa: PLR2004 - two arguments
        raise click.UsageError("give a connection and a seq: acp-proxy show latest 17")
    connection, seq = (place[0] if len(place) > 1 else "latest"), int(place[-1])
    with opened(log) as recording:
        row = recording.message(connection, seq)
        if share:
            redactor = redactor_of(recording, row.connection_id, review=review)
            pieces = _blanked(redactor, recording, row)
        else:
            redactor, pieces = None, recording.message_bytes(row)
        if raw:
            write_bytes(pieces)
            return
        other, events = _other(recording, row), recording.meaning(row.connection_id, row.seq)
        if redactor is not None:
            row = _without_secrets(redactor, row)
            other = None if other is None else _without_secrets(redactor, other)
            for event in events:
                event.notes = tuple(redactor.redact_text(note)[0] for note in event.notes)
        if as_json:
            from acp_proxy.views.details import message_detail
            from acp_proxy.views.jsonlines import dumps

            click.echo(dumps(message_detail(row, other, events)))
        else:
            from acp_proxy.views.details import message_page

            offset = recording.frame_of(row).offset
            whose = recording.connection(connection)
            echo_page(message_page(whose, row, other, offset, events))


def _blanked(redactor: "Redactor", recording: "Recording", row: "MessageRow") -> "Iterator[bytes]":
    """Return the bytes of a message's frame without their secrets; say how many there were."""
    from acp_proxy.views.units import count

    raw = b"".join(recording.message_bytes(row))
    blanked = redactor.redact_frame(row.stream, raw, row.frame_seq)
    click.echo(f"acp-proxy: {count(redactor.blanked, 'value')} blanked", err=True)
    echo_review(redactor)
    redactor.review = None
    return iter([blanked])


def _without_secrets(redactor: "Redactor", row: "MessageRow") -> "MessageRow":
    """Return a message whose texts and bytes hold no secret."""
    raw = redactor.redact_frame(row.stream, row.raw, row.frame_seq)
    texts: dict[str, Any] = {
        name: redactor.redact_text(text)[0]
        for name in ("method", "id", "session_id", "tool_call_id", "terminal_id", "reason")
        if (text := getattr(row, name)) is not None
    }
    size = len(raw) if len(row.raw) == row.size else row.size
    return dataclasses.replace(row, raw=raw, size=size, **texts)


def _other(recording: "Recording", row: "MessageRow") -> "MessageRow | None":
    """Return the request that a response answers, or the response to a request."""
    if row.request_seq is not None:
        return recording.message(row.connection_id, row.request_seq)
    return recording.answer_to(row) if row.kind == "request" else None
