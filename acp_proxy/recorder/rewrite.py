"""Connections into the log that no proxy recorded now: imports, and rebuilt indexes."""

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_proxy.advance import Advance, counted, unwatched
from acp_proxy.clock import wall_clock_ns
from acp_proxy.log.reader import LogReader
from acp_proxy.log.rows import STREAMS
from acp_proxy.log.writer import FrameToWrite, LogWriter
from acp_proxy.recorder.ingest import derived_rows, identity_columns
from acp_proxy.state.columns import TABLES
from acp_proxy.state.following import Follower
from acp_proxy.state.snapshot import VERSION
from acp_proxy.wire.framing import KEPT_PREFIX, Frame
from acp_proxy.wire.jsonrpc import MAX_PARSED, Direction

if TYPE_CHECKING:
    from collections.abc import Iterable

_BATCH_BYTES = 4 * 1024 * 1024


class ImportedFrame(NamedTuple):
    """A frame from an interchange file."""

    stream: str
    raw: bytes
    time_ns: int | None
    elapsed_ns: int | None


def import_connection(
    log: str, uuid: str, columns: dict[str, Any], frames: "Iterable[ImportedFrame]"
) -> int:
    """Write a connection from frames; return its id.

    All or nothing: when ``frames`` raises, nothing of it is in the log.

    Args:
        log: Path of the log, made if need be.
        uuid: Of the new connection; one that the log does not have yet.
        columns: What is known of it, as columns of ``connections``.
        frames: In the order observed.

    Raises:
        LogError: The log cannot be written.

    """
    first: ImportedFrame | None = None
    last: ImportedFrame | None = None
    with LogWriter(log) as writer, writer.transaction():
        connection_id = writer.connection(
            uuid, {"status": "imported", "added_ns": wall_clock_ns(), "derived": VERSION, **columns}
        )
        follower = Follower()
        hashes = [hashlib.sha256() for _ in STREAMS]
        offsets = [0, 0, 0]
        rows: list[FrameToWrite] = []
        entries: list[tuple[Any, ...]] = []
        total = size = 0
        for frame in frames:
            first, last = first or frame, frame
            stream = STREAMS.index(frame.stream)
            framed = _as_framed(offsets[stream], frame.raw)
            found = follower.add(Direction(frame.stream), framed, frame.elapsed_ns)
            entries += found
            seq = found[0][0]
            rows.append(
                FrameToWrite(
                    seq, stream, offsets[stream], frame.time_ns, frame.elapsed_ns, frame.raw
                )
            )
            hashes[stream].update(frame.raw)
            offsets[stream] += len(frame.raw)
            total += 1
            size += len(frame.raw)
            if size > _BATCH_BYTES:
                writer.insert(connection_id, rows, entries, derived_rows(follower.take()))
                rows, entries, size = [], [], 0
        if writer.row(connection_id).ended is not None:
            follower.end()
        writer.insert(connection_id, rows, entries, derived_rows(follower.take()))
        final = identity_columns(follower.index) | {"frames": total}
        if first is not None and last is not None:
            final |= _times(columns, first, last)
        for stream, name in enumerate(STREAMS):
            final[f"{name}_bytes"] = offsets[stream]
            final[f"{name}_sha256"] = hashes[stream].hexdigest()
        writer.update(connection_id, final)
    return connection_id


def _as_framed(offset: int, raw: bytes) -> Frame:
    """Return a frame as a framer that keeps MAX_PARSED would."""
    return Frame(offset, raw if len(raw) <= MAX_PARSED else raw[:KEPT_PREFIX], len(raw))


def _times(columns: dict[str, Any], first: ImportedFrame, last: ImportedFrame) -> dict[str, Any]:
    """Return when the connection was, from its frames, where the file did not say."""
    found = {"started_ns": first.time_ns, "ended_ns": last.time_ns, "duration_ns": last.elapsed_ns}
    return {name: value for name, value in found.items() if columns.get(name) is None}


def reindex(log: str, connection_id: int, advance: Advance = unwatched) -> None:
    """Rebuild from its frames what the log holds of a connection: its messages and its state.

    Args:
        log: Path of the log.
        connection_id: Whose.
        advance: Is told of each frame.

    Raises:
        LogError: The log cannot be written.

    """
    with LogWriter(log) as writer, LogReader(log) as reader, writer.transaction():
        writer.forget_derived(connection_id, TABLES)
        follower = Follower()
        entries: list[tuple[Any, ...]] = []
        size = 0
        # As they were: a reader sees no open transaction. Damaged ones too: the rest is mended.
        for row in counted(reader.frames(connection_id, checked=False), advance):
            if row.seq > follower.index.seq + 1:  # what is missing keeps its numbers
                follower.skip_to(row.seq - 1)
            frame = Frame(row.offset, row.raw or b"", row.size)
            entries += follower.add(Direction(row.stream), frame, row.elapsed_ns)
            size += row.size
            if size > _BATCH_BYTES:
                writer.insert(connection_id, (), entries, derived_rows(follower.take()))
                entries, size = [], 0
        if reader.connection(connection_id).ended is not None:
            follower.end()
        writer.insert(connection_id, (), entries, derived_rows(follower.take()))
        columns = identity_columns(follower.index) | {"derived": VERSION}
        writer.update(connection_id, columns)


def rebuild_search(log: str) -> None:
    """Make the full-text index of a log anew: a damaged one refuses to have texts changed.

    Raises:
        LogError: The log cannot be written.

    """
    with LogWriter(log) as writer:
        writer.rebuild_search()
