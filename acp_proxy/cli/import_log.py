"""``acp-proxy import`` of another log: each of its connections, as export and import would do it."""

import os
from typing import TYPE_CHECKING

import click

from acp_proxy.advance import counted
from acp_proxy.cli.failures import Failure
from acp_proxy.cli.import_file import columns_of, free_uuid
from acp_proxy.cli.options import reading
from acp_proxy.cli.progress import progress
from acp_proxy.views.jsonlines import dumps, frame_line, header_line, parse_header, parse_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_proxy.advance import Advance
    from acp_proxy.log.rows import ConnectionRow
    from acp_proxy.recorder.rewrite import ImportedFrame
    from acp_proxy.recording import Recording


def import_log(source: str, log: str, label: str | None, *, as_json: bool) -> None:
    """Import all connections of another log, oldest first, and print what they became.

    Each of them is imported whole or not at all; those before one that fails stay.

    Args:
        source: The file of the other log.
        log: The log to write to.
        label: The label to give them, None for their own.
        as_json: Whether to print one JSON object a connection.

    Raises:
        LogError: One of the two cannot be used.
        Failure: The other log cannot be opened by its name, or is the same.

    """
    from acp_proxy.recorder.rewrite import import_connection  # slow to import

    if not os.path.isfile(source):
        raise Failure("a log cannot be read from stdin; give the path of its file")
    if os.path.exists(log) and os.path.samefile(source, log):
        raise Failure(f"{source} is the log itself; give another one with --log")
    with reading(source) as other:
        rows = sorted(other.connections(), key=lambda row: row.id)
        with progress("importing", sum(row.frames for row in rows), " frames") as advance:
            for row in rows:
                facts = parse_header(header_line(row).encode())
                frames = _frames(other, row, advance)
                columns, uuid = columns_of(facts, label), free_uuid(log, facts)
                number = import_connection(log, uuid, columns, frames)
                _tell(log, number, row, as_json=as_json)
    if not rows:
        raise Failure(f"{source} holds no connection; nothing was imported")


def _frames(
    other: "Recording", row: "ConnectionRow", advance: "Advance"
) -> "Iterator[ImportedFrame]":
    from acp_proxy.recorder.rewrite import ImportedFrame

    for frame in counted(other.frames(row.id), advance):
        line = frame_line(frame, b"".join(other.frame_bytes(frame)))
        yield ImportedFrame(*parse_line(line.encode()))


def _tell(log: str, number: int, source: "ConnectionRow", *, as_json: bool) -> None:
    with reading(log) as recording:
        row = recording.connection(number)
    if as_json:
        facts = {"id": row.id, "uuid": row.uuid, "frames": row.frames, "messages": row.messages}
        click.echo(dumps(facts | {"of": source.id}))
    else:
        click.echo(
            f"connection {row.id}, which was {source.id}: {row.frames} frames, "
            f"{row.messages} messages"
        )
