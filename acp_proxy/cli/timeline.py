"""``acp-proxy timeline``: a turn as bars over time."""

import shutil
import sys
from typing import TYPE_CHECKING

import click

from acp_proxy.cli.failures import Failure
from acp_proxy.cli.options import (
    at_option,
    connection_argument,
    json_option,
    log_option,
    opened,
    session_option,
    state_at,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_proxy.recording import MessageRow, Recording
    from acp_proxy.views.timeline import Window


@click.command()
@connection_argument
@log_option
@click.option(
    "--turn", type=click.IntRange(min=1), metavar="N", help="The Nth turn; default: the last."
)
@session_option
@at_option
@json_option
def timeline(
    connection: str,
    log: str | None,
    turn: int | None,
    session: str | None,
    at: str | None,
    as_json: bool,
) -> None:
    """Draw a turn of CONNECTION (default: latest) as bars over time.

    Tool calls, permissions and terminals each on a line; the agent's messages and
    thoughts, and requests of one method, share one. A bar that ends in an arrow had
    not ended; what had not when the connection was over reaches to that end. Exits with
    1 when there is no such turn.
    """
    from acp_proxy.views.state_json import state_text
    from acp_proxy.views.timeline import bars, seqs_of_bars, timeline_document, windows
    from acp_proxy.views.timeline_chart import DEFAULT_COLUMNS, chart

    with opened(log) as recording:
        row, state = state_at(recording, connection, at, session, ["turns"])
        turns = windows(state, session)
        if not turns or (turn or 1) > len(turns):
            where = f"session {session}" if session is not None else f"connection {row.id}"
            has = f"; there are {len(turns)}" if turns else ""
            raise Failure(f"{where} has no {f'turn {turn}' if turn else 'turn'}{has}")
        window = turns[-1 if turn is None else turn - 1]
        # Of its session alone, and as it was then: what is told again later is not of this turn.
        whole = recording.state(row.id, at=window.end, sessions=[window.session.session_id])
        window = window.as_in(whole)
        found = bars(window, _rows(recording, row.id, window))
        times = recording.times(row.id, seqs_of_bars(found) | {window.end})
    if as_json:
        click.echo(state_text(timeline_document(row.id, window, found, times)))
        return
    if window.turn.ended_seq is None and at is None and row.duration_ns is not None:
        times[window.end + 1] = row.duration_ns  # the silence at the end was part of the turn
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else DEFAULT_COLUMNS
    click.echo(chart(window, found, times, columns, ascii_only=not _shows_blocks()))


def _rows(recording: "Recording", connection: int, window: "Window") -> "Iterator[MessageRow]":
    """Yield the requests and answers of a turn, and what the agent says of tool calls."""
    begin, end = window.begin, window.end
    for kind in ("request", "result", "error"):
        yield from recording.messages(connection, kind=kind, since_seq=begin, until_seq=end, raw=0)
    yield from recording.messages(
        connection, update="tool_call*", since_seq=begin, until_seq=end, raw=0
    )


def _shows_blocks() -> bool:
    """Tell whether the output's encoding has the characters that bars are made of."""
    from acp_proxy.views.timeline_chart import BLOCKS

    try:
        "".join(BLOCKS.values()).encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
