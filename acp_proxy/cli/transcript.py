"""``acp-proxy transcript``: a connection told from the beginning, to read, share or keep."""

import io
import os
import sys
import tempfile
from typing import IO, TYPE_CHECKING, Protocol, Self

import click

from acp_proxy.advance import counted
from acp_proxy.cli.failures import Failure
from acp_proxy.cli.options import (
    at_option,
    connection_argument,
    echo_review,
    last_seq,
    log_option,
    opened,
    output_option,
    redactor_of,
    review_option,
    session_option,
    write_bytes,
)
from acp_proxy.cli.outputs import check_output
from acp_proxy.cli.progress import is_kept, progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_proxy.log.rows import ConnectionRow, MessageRow
    from acp_proxy.recording import Recording
    from acp_proxy.redaction.redactor import Redactor
    from acp_proxy.views.transcript.timeline import Timeline

FORMATS = ("text", "markdown", "html", "json")


@click.command()
@connection_argument
@log_option
@session_option
@at_option
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="Default: text.")
@output_option
@click.option(
    "--thoughts/--no-thoughts", default=True, help="With the agent's thoughts or without."
)
@click.option("--raw", is_flag=True, help="Blank no secrets.")
@review_option
@click.option(
    "--full", is_flag=True, help="Show long texts whole, and repeated messages one by one."
)
@click.option("--no-pager", is_flag=True, help="Do not page on a terminal.")
def transcript(
    connection: str,
    log: str | None,
    session: str | None,
    at: str | None,
    form: str,
    output: str | None,
    thoughts: bool,
    raw: bool,
    review: bool,
    full: bool,
    no_pager: bool,
) -> None:
    """Tell CONNECTION (default: latest) session by session, in order.

    Prompts, messages, thoughts, plans, tool calls with their diffs and terminals,
    permissions and who waited for them, ends of turns, errors; each once, at its place.
    The same log gives the same bytes everywhere. Secrets are blanked, and their number
    told on stderr. Text is paged, and in colour, on a terminal only.
    """
    if review and raw:
        raise click.UsageError("--review does not go with --raw")
    with opened(log) as recording, _Shelf() as shelf:
        check_output(output, recording.path)
        row = recording.connection(connection)
        seq = last_seq(recording, row.id, at)
        redactor = None if raw else redactor_of(recording, row.id, review=review)
        timeline = _timeline(recording, row, seq, session, shelf, redactor, is_full=full)
        if not thoughts:
            timeline.leave_out_thoughts()
        is_shown = output in (None, "-") and sys.stdout.isatty() and form == "text"
        colour = is_shown and not os.environ.get("NO_COLOR")
        pieces = _writer(form, colour=colour, full=full).pieces(timeline, row, seq)
        if is_shown and not no_pager:
            click.echo_via_pager(pieces, color=True if colour else None)
        elif is_shown:
            for piece in pieces:
                click.echo(piece, nl=False, color=colour)
        else:
            in_utf_8 = (piece.encode(errors="backslashreplace") for piece in pieces)
            total = timeline.marks()
            with progress("writing", total, " entries", wanted=is_kept(output)) as advance:
                timeline.advance = advance
                write_bytes(in_utf_8, output, recording.path)
        _tell_blanked(timeline, is_raw=raw)
        if redactor is not None:
            echo_review(redactor)


def _timeline(
    recording: "Recording",
    row: "ConnectionRow",
    seq: int,
    session: str | None,
    shelf: "_Shelf",
    redactor: "Redactor | None",
    *,
    is_full: bool,
) -> "Timeline":
    """Fold the connection, and gather what is worth telling."""
    from acp_proxy.events.vocabulary import ConnectionEnded
    from acp_proxy.state.fold import State
    from acp_proxy.views.transcript.gathering import Gatherer
    from acp_proxy.views.transcript.shelving import Values
    from acp_proxy.views.transcript.source import NothingBlanked
    from acp_proxy.views.transcript.timeline import Timeline

    gatherer, values = Gatherer(is_full=is_full), Values(shelf)
    state = State()
    with progress("reading", seq, " messages") as advance:
        rows = counted(recording.messages(row.id, until_seq=seq, raw=0) if seq else (), advance)
        for state, events in recording.steps(row.id, at=seq) if seq else ():
            message = next(rows, None)  # the end of a connection is a step without a message
            if message is not None:
                gatherer.add(message, state, events)
                values.note(state, message.size)
        next(rows, None)  # there are no more: the rest is counted
    if seq == row.messages and row.ended is not None:
        state.apply(ConnectionEnded(seq, None, None, ()))
    values.finish()
    if session is not None and session not in state.sessions:
        raise Failure(
            f'connection {row.id} has no session "{session}"; acp-proxy sessions lists them'
        )
    messages = _Messages(recording, row.id)
    return Timeline(messages, gatherer, state, values, redactor or NothingBlanked(), session)


class _Shelf:
    """A file without a name; in memory where none can be made. Short transcripts need neither."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._file is not None:
            self._file.close()

    def put(self, data: bytes) -> int:
        """Keep bytes; return where they are."""
        if self._file is None:
            try:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the shelf
            except OSError:
                self._file = io.BytesIO()
        self._file.seek(self._size)
        self._file.write(data)
        self._size += len(data)
        return self._size - len(data)

    def get(self, at: int, size: int) -> bytes:
        """Return bytes."""
        assert self._file is not None
        self._file.seek(at)
        return self._file.read(size)


class _Messages:
    """The messages of one connection, as the timeline asks for them."""

    def __init__(self, recording: "Recording", connection: int) -> None:
        self._recording, self._connection = recording, connection

    def row(self, seq: int) -> "MessageRow":
        """Return a message with its frame."""
        return self._recording.message(self._connection, seq)

    def lines(self, stream: str, kind: str, first: int, last: int) -> "Iterator[MessageRow]":
        """Yield the messages of a stream and a kind from one to another."""
        return self._recording.messages(
            self._connection, stream=stream, kind=kind, since_seq=first, until_seq=last
        )

    def times(self, seqs: "Iterable[int]") -> dict[int, int | None]:
        """Return when messages came, in ns since the connection began."""
        return self._recording.times(self._connection, seqs)


class _Writer(Protocol):
    """What writes a format."""

    def pieces(self, timeline: "Timeline", row: "ConnectionRow", at: int) -> "Iterator[str]":
        """Yield the transcript in pieces."""


def _writer(form: str, *, colour: bool, full: bool) -> _Writer:
    """Return what writes a format; each is imported when it is used."""
    if form == "json":
        from acp_proxy.views.transcript.json_document import JSONWriter

        return JSONWriter()
    if form == "html":
        from acp_proxy.views.transcript.html_page import HTMLWriter

        return HTMLWriter(full=full)
    if form == "markdown":
        from acp_proxy.views.transcript.markdown import MarkdownWriter

        return MarkdownWriter(full=full)
    from acp_proxy.views.transcript.text import TextWriter

    return TextWriter(colour=colour, full=full)


def _tell_blanked(timeline: "Timeline", *, is_raw: bool) -> None:
    from acp_proxy.views.units import count

    if is_raw:
        click.echo("acp-proxy: nothing was blanked", err=True)
    else:
        values = count(timeline.blanked, "value")
        click.echo(f"acp-proxy: {values} blanked; --raw leaves them as they are", err=True)
