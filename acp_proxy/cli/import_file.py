"""``acp-proxy import``: a connection from JSON lines into the log."""

import contextlib
import itertools
import json
import os
import tempfile
import uuid as uuids
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from acp_proxy.advance import counted
from acp_proxy.cli.completion import candidates
from acp_proxy.cli.failures import Failure, failing_plainly
from acp_proxy.cli.options import json_option, log_option, own_log
from acp_proxy.cli.progress import progress
from acp_proxy.errors import QueryError
from acp_proxy.log.identity import MAGIC
from acp_proxy.log.schema import NoLogError
from acp_proxy.recording import open_recording
from acp_proxy.views.jsonlines import (
    BadLineError,
    blanked_values,
    dumps,
    parse_header,
    parse_line,
    parse_time,
)
from acp_proxy.views.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_proxy.recorder.rewrite import ImportedFrame

_PIECE = 1024 * 1024


class _Source(click.File):
    """A file to read, left alone while a shell asks what fits: opening a pipe would wait."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the opened file."""
        is_asked = ctx is not None and ctx.resilient_parsing
        return value if is_asked else super().convert(value, param, ctx)


@click.command("import")
@click.argument("file", type=_Source("rb"))
@log_option
@click.option(
    "--label",
    metavar="TEXT",
    shell_complete=candidates.labels,
    help="A text to find the connection by.",
)
@json_option
def import_file(file: BinaryIO, log: str | None, label: str | None, as_json: bool) -> None:
    """Read FILE (- for stdin), as `export --jsonl` writes it, into the log as a new connection.

    FILE may also be another log: all of its connections are imported. Of each line only "from" and the data are needed ("data", "dataBase64" or
    "message"). All of the file is imported, or nothing of it.
    """
    from acp_proxy.recorder.rewrite import import_connection  # slow to import

    name = getattr(file, "name", "FILE")
    with failing_plainly(), contextlib.ExitStack() as stack:
        path = own_log(log)
        if not file.seekable():  # whoever writes it may be slow; the log must not wait locked
            file = _spool(file, stack.enter_context(tempfile.TemporaryFile()))
        if _is_log(file):
            from acp_proxy.cli.import_log import import_log

            import_log(name, path, label, as_json=as_json)
            return
        total = _bytes_left(file)
        lines: Iterator[tuple[int, bytes]] = enumerate(file, 1)
        first = next(lines, None)
        if first is None:
            raise Failure(f"{name} is empty; nothing was imported")
        try:
            facts = parse_header(first[1])
        except BadLineError as error:
            raise Failure(f"{name}, the header: {error}; nothing was imported") from error
        if facts is None:
            lines = itertools.chain([first], lines)
        else:
            total -= len(first[1])
        columns = columns_of(facts, label)
        uuid = free_uuid(path, facts)
        with progress("importing", total, "B") as advance:
            frames = _frames(counted(lines, advance, lambda line: len(line[1])), name)
            connection_id = import_connection(path, uuid, columns, frames)
        with open_recording(path) as recording:
            row = recording.connection(connection_id)
    if as_json:
        click.echo(
            dumps({"id": row.id, "uuid": row.uuid, "frames": row.frames, "messages": row.messages})
        )
    else:
        click.echo(f"connection {row.id}: {row.frames} frames, {row.messages} messages")


def _spool(stream: BinaryIO, file: BinaryIO) -> BinaryIO:
    """Copy what somebody writes as they like into a file, and return that, to be read."""
    read = getattr(stream, "read1", stream.read)  # what is there, rather than all that fits
    piece = read(_PIECE)  # no bar before: who writes may ask for a password at the terminal
    with progress("receiving", None, "B", wanted=not stream.isatty()) as advance:
        while piece:
            file.write(piece)
            advance(len(piece))
            piece = read(_PIECE)
    file.seek(0)
    return file


def _bytes_left(file: BinaryIO) -> int:
    here = file.tell()
    end = file.seek(0, os.SEEK_END)
    return end - file.seek(here)


def _frames(lines: "Iterable[tuple[int, bytes]]", name: str) -> "Iterator[ImportedFrame]":
    from acp_proxy.recorder.rewrite import ImportedFrame

    for number, text in lines:
        if not text.strip():
            continue
        try:
            yield ImportedFrame(*parse_line(text))
        except BadLineError as error:
            raise Failure(f"{name}, line {number}: {error}; nothing was imported") from error


def _is_log(file: BinaryIO) -> bool:
    here = file.tell()
    found = file.read(len(MAGIC)) == MAGIC
    file.seek(here)
    return found


def columns_of(facts: str | None, label: str | None) -> dict[str, Any]:
    """Return the columns of ``connections`` that a header tells, with the label that was asked for."""
    columns = {} if facts is None else _columns(facts)
    return columns if label is None else columns | {"label": label}


def _columns(facts: str) -> dict[str, Any]:
    known = json.loads(facts)
    columns: dict[str, Any] = {"facts": facts}
    for key in ("label", "cwd", "host"):
        if isinstance(known.get(key), str):
            columns[key] = known[key]
    if isinstance(known.get("command"), list | str):
        columns["command"] = dumps(known["command"])
    for key, column in (("started", "started_ns"), ("ended", "ended_ns")):
        try:
            columns[column] = parse_time(known.get(key))
        except BadLineError:
            columns[column] = None
    if values := blanked_values(facts):
        columns["notes"] = dumps([{"event": "redacted", "values": values}])
    duration = known.get("duration_ns")
    if type(duration) is int and abs(duration) < 2**63:
        columns["duration_ns"] = duration
    return columns


def free_uuid(path: str, facts: str | None) -> str:
    """Return the uuid that a header tells when this log has it not yet, else a new one."""
    told = json.loads(facts).get("uuid") if facts is not None else None
    if isinstance(told, str):
        try:
            uuid = str(uuids.UUID(told))
        except ValueError:
            return str(uuids.uuid4())
        try:
            with open_recording(path) as recording:
                recording.connection(uuid)
        except (NoLogError, QueryError):
            return uuid
        click.echo(
            f"acp-proxy: this log has {visible(uuid)} already; a new uuid was given", err=True
        )
    return str(uuids.uuid4())
