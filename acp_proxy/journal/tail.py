"""Reading a journal: the recorder's side, while the proxy still writes it or later."""

import os
from typing import TYPE_CHECKING

from acp_proxy.journal.records import (
    HEAD_SIZE,
    HEADER_SIZE,
    MAX_DATA,
    Record,
    Slot,
    decode_header,
    decode_record,
    holds_record,
    record_length,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_READ_SIZE = 512 * 1024
_SLOT_TRIES = 3


class JournalReader:
    """A journal opened for reading.

    Raises:
        OSError: It cannot be opened.

    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def __enter__(self) -> "JournalReader":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._fd)

    def slot(self) -> Slot | None:
        """Return what the header says now, None when this is no journal."""
        slot = None
        for _ in range(_SLOT_TRIES):  # it may be rewritten just now
            slot = decode_header(os.pread(self._fd, HEADER_SIZE, 0))
            if slot is None or slot.is_sound:
                break
        return slot

    def size(self) -> int:
        """Return the file's size in bytes."""
        return os.fstat(self._fd).st_size

    def read(self, position: int) -> list[Record]:
        """Return the whole records from ``position`` on, some MiB at most; none when none is whole.

        Args:
            position: Where a record begins; 0 stands for the first.

        """
        position = position or HEADER_SIZE
        buffer = os.pread(self._fd, _READ_SIZE, position)
        length = record_length(buffer, 0)
        if length is not None and length > len(buffer) and position + length <= self.size():
            buffer = os.pread(self._fd, length, position)
        view = memoryview(buffer)
        records: list[Record] = []
        at = 0
        while (record := decode_record(view, at, position + at)) is not None:
            records.append(record)
            at += HEAD_SIZE + len(record.data)
        return records

    def is_damaged(self, position: int) -> bool:
        """Tell whether what stands at ``position``, where no whole record is, is more than a torn end.

        The last record is torn when the proxy was killed while it wrote; then fewer
        bytes are there than its head says, and no other record follows. A journal that was
        closed has no torn end.
        """
        position = position or HEADER_SIZE
        size = self.size()
        slot = self.slot()
        if slot is not None and slot.end > position:
            return True
        head = os.pread(self._fd, HEAD_SIZE, position)
        if len(head) < HEAD_SIZE:
            return False
        length = record_length(head, 0)
        if length is None or position + length <= size:
            return True
        rest = size - position
        return rest > HEAD_SIZE + MAX_DATA or holds_record(os.pread(self._fd, rest, position))

    def unread(self, position: int) -> int:
        """Return how many bytes there are, or were, from ``position`` on."""
        slot = self.slot()
        return max(self.size(), slot.end if slot is not None else 0) - position

    def records(self, position: int = 0) -> "Iterator[Record]":
        """Yield all whole records from ``position`` on."""
        while batch := self.read(position):
            yield from batch
            position = batch[-1].end
