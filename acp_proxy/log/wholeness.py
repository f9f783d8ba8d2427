"""Rows that should be there and are not: told at the end of those that are. No SQL here."""

from typing import TYPE_CHECKING

from acp_proxy.errors import LogError
from acp_proxy.log.rows import Gaps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_proxy.log.rows import ConnectionRow, FrameRow, MessageRow


def all_messages(
    path: str, rows: "Iterable[MessageRow]", connection_id: int, first: int, last: int
) -> "Iterator[MessageRow]":
    """Yield messages whose seqs should follow each other.

    Args:
        path: The log.
        rows: What was found.
        connection_id: Of which connection.
        first: The first seq that should be there.
        last: The last one; there may be more.

    Raises:
        LogError: At their end: some are missing.

    """
    missing, expected = Missing(path, connection_id), first
    for row in rows:
        if row.seq != expected:
            missing.between(expected, row.seq)
        expected = row.seq + 1
        yield row
    missing.between(expected, last + 1)
    if words := missing.words():
        raise _error(path, *words)


def all_frames(
    path: str, rows: "Iterable[FrameRow]", connection_id: int, count: int
) -> "Iterator[FrameRow]":
    """Yield frames of which there should be so many, or more.

    Raises:
        LogError: At their end: some are missing.

    """
    found = 0
    for row in rows:
        found += 1
        yield row
    if found < count:
        what = f"{path} is damaged: {count - found} of {count} frames of connection {connection_id}"
        raise _error(path, f"{what} are missing")


def all_of_stream(
    path: str, rows: "Iterable[FrameRow]", row: "ConnectionRow", stream: str
) -> "Iterator[FrameRow]":
    """Yield the frames of a stream, which should follow each other but for the gaps that are known.

    Raises:
        LogError: At their end: some bytes are missing.

    """
    gaps = Gaps(row.gaps, stream)
    missing = at = 0
    for frame in rows:
        at = gaps.skip(at)
        missing += max(frame.offset - at, 0)
        at = frame.offset + frame.size
        yield frame
    at = gaps.skip(at)
    missing += max(row.streams[stream] - at, 0)
    if missing:
        what = f"{missing} bytes from the {stream} of connection {row.id} are missing"
        raise _error(path, f"{path} is damaged: {what}")


class Missing:
    """Counts messages of a connection that are not there."""

    def __init__(self, path: str, connection_id: int) -> None:
        self._path = path
        self._connection_id = connection_id
        self._count = 0
        self._first = 0

    def between(self, expected: int, found: int) -> None:
        """Take note that ``found`` came where ``expected`` should have been."""
        if found > expected:
            self._first = self._first or expected
            self._count += found - expected

    def words(self) -> list[str]:
        """Return what is missing; nothing when nothing is."""
        if not self._count:
            return []
        which = f"message {self._first}"
        if self._count > 1:
            which = f"{self._count} messages, the first of them {self._first},"
        return [f"{self._path} is damaged: {which} of connection {self._connection_id} is missing"]


def _error(path: str, what: str) -> LogError:
    remedy = (
        f"acp-proxy log reindex --log {path} mends what is derived, acp-proxy verify tells the rest"
    )
    return LogError(what, remedy)
