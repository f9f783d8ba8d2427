"""``acp-proxy export``: a connection's bytes, or all of it as lines that ``import`` reads."""

import contextlib
import itertools
import tempfile
from typing import TYPE_CHECKING

import click

from acp_proxy.advance import counted
from acp_proxy.cli.options import (
    connection_argument,
    echo_review,
    log_option,
    opened,
    output_option,
    redactor_of,
    review_option,
    write_bytes,
)
from acp_proxy.cli.outputs import check_output
from acp_proxy.cli.progress import is_kept, progress
from acp_proxy.errors import LogError
from acp_proxy.log.rows import STREAMS, Gaps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_proxy.advance import Advance
    from acp_proxy.log.rows import ConnectionRow
    from acp_proxy.recording import Recording


@click.command()
@connection_argument
@log_option
@click.option("--stream", type=click.Choice(STREAMS), help="The exact bytes of this stream.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="All frames as JSON lines.")
@click.option("--raw", is_flag=True, help="Blank nothing in the JSON lines.")
@review_option
@output_option
def export(
    connection: str,
    log: str | None,
    stream: str | None,
    as_jsonl: bool,
    raw: bool,
    review: bool,
    output: str | None,
) -> None:
    """Write CONNECTION to stdout or a file.

    --jsonl gives all frames in order, one JSON object a line, after a line with the
    connection's facts; `acp-proxy import` reads that again. Secrets are blanked in it
    unless --raw is given; mind that no program finds all of them.

    --stream gives the bytes of one stream as they travelled: nothing is blanked.
    """
    if review and (raw or not as_jsonl):
        raise click.UsageError("--review goes with --jsonl, and not with --raw")
    if as_jsonl == (stream is not None):
        raise click.UsageError("give either --stream client|agent|stderr or --jsonl")
    with opened(log) as recording:
        check_output(output, recording.path)
        row = recording.connection(connection)  # a wrong one must not leave an empty file
        if stream is not None:
            total = _recorded(row, stream)
            with progress("exporting", total, "B", wanted=is_kept(output)) as advance:
                write_bytes(
                    counted(recording.stream(row.id, stream), advance, len), output, recording.path
                )
        elif raw:
            with progress("exporting", row.frames, " frames", wanted=is_kept(output)) as advance:
                write_bytes(_lines(recording, row, advance), output, recording.path)
            click.echo("acp-proxy: nothing was blanked", err=True)
        else:
            _write_blanked(recording, row.id, output, review=review)


def _recorded(row: "ConnectionRow", stream: str) -> int:
    """Return how many bytes of a stream the log has."""
    return row.streams[stream] - Gaps(row.gaps, stream).bytes


def _lines(recording: "Recording", row: "ConnectionRow", advance: "Advance") -> "Iterator[bytes]":
    from acp_proxy.views.jsonlines import frame_line, header_line

    yield header_line(row).encode() + b"\n"
    for frame in counted(recording.frames(row.id), advance):
        raw = b"".join(recording.frame_bytes(frame))
        yield frame_line(frame, raw).encode() + b"\n"


def _write_blanked(
    recording: "Recording", number: int, output: str | None, *, review: bool
) -> None:
    """Write the lines without their secrets, and say how many there were."""
    from acp_proxy.views.jsonlines import frame_line, header_line, redacted_header
    from acp_proxy.views.units import count

    redactor = redactor_of(recording, number, review=review)
    row = recording.connection(number)
    header = redactor.redact_frame("client", header_line(row).encode())
    with tempfile.TemporaryFile() as spooled:  # the header, which comes first, tells what was done
        with (
            progress("exporting", row.frames, " frames") as advance,
            _postponed() as failures,
        ):
            for frame in counted(recording.frames(number), advance):
                if frame.seq > redactor.learned:  # it came meanwhile: the rest of it may come yet
                    break
                raw = b"".join(recording.frame_bytes(frame))
                blanked = redactor.redact_frame(frame.stream, raw, frame.seq)
                spooled.write(frame_line(frame, blanked).encode() + b"\n")
        spooled.seek(0)
        first = redacted_header(header.decode(), redactor.blanked).encode() + b"\n"
        write_bytes(
            itertools.chain([first], iter(lambda: spooled.read(1 << 20), b"")),
            output,
            recording.path,
        )
    for failure in failures:
        raise failure
    values = count(redactor.blanked, "value")
    click.echo(f"acp-proxy: {values} blanked; --raw leaves them as they are", err=True)
    echo_review(redactor)


@contextlib.contextmanager
def _postponed() -> "Iterator[list[LogError]]":
    """Collect the error that ends this context, to be raised when what was read is written."""
    failures: list[LogError] = []
    try:
        yield failures
    except LogError as error:
        failures.append(error)
