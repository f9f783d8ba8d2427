"""``acp-proxy export``: a connection's bytes, or all of it as lines that ``import`` reads."""

from typing import TYPE_CHECKING

import click

from acp_proxy.cli.options import connection_argument, log_option, opened, write_bytes
from acp_proxy.log.rows import STREAMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_proxy.recording import Recording


@click.command()
@connection_argument
@log_option
@click.option("--stream", type=click.Choice(STREAMS), help="The exact bytes of this stream.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="All frames as JSON lines.")
@click.option("-o", "--output", metavar="FILE", help="Where to write; default: stdout.")
def export(
    connection: str, log: str | None, stream: str | None, as_jsonl: bool, output: str | None
) -> None:
    """Write CONNECTION to stdout or a file.

    --stream gives the bytes of one stream as they travelled. --jsonl gives all
    frames in order, one JSON object a line, after a line with the connection's
    facts; `acp-proxy import` reads that again. Nothing is blanked: mind what
    secrets the conversation holds before you share it.
    """
    if as_jsonl == (stream is not None):
        raise click.UsageError("give either --stream client|agent|stderr or --jsonl")
    with opened(log) as recording:
        recording.connection(connection)  # a wrong one must not leave an empty file
        if stream is not None:
            write_bytes(recording.stream(connection, stream), output)
        else:
            write_bytes(_lines(recording, connection), output)


def _lines(recording: "Recording", connection: str) -> "Iterator[bytes]":
    from acp_proxy.views.jsonlines import frame_line, header_line

    yield header_line(recording.connection(connection)).encode() + b"\n"
    for frame in recording.frames(connection):
        raw = b"".join(recording.frame_bytes(frame))
        yield frame_line(frame, raw).encode() + b"\n"
