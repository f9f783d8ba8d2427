"""Whether the write-ahead log beside the log lost something: SQLite passes over that without a word.

Of a ``-wal`` that was damaged SQLite takes what stands before the damage, and drops the
rest; in a folder that cannot be written it takes nothing of it at all. What is asked
here is what SQLite itself took: the beginning of the ``-shm``, which it makes when it
opens the log (SQLite's description of the WAL-index format). No SQL here.
"""

import fcntl
import os
import struct
import sys
import time
from typing import Final, NamedTuple

from acp_proxy.log.descriptors import lasting

_INDEX: Final = struct.Struct("=12xBxHI12x8s8x")
"""Of the ``-shm``: whether it is initialized, page size, last valid frame, salt."""
_HEADER_SIZE: Final = 32
_HEAD: Final = struct.Struct(">4xI8s8x")
"""Of a frame: size of the database after a commit, 0 for none; salt."""
_MAGIC: Final = 0x377F0682
_WORD: Final = 0xFFFFFFFF
_PAGE_SIZES: Final = frozenset(1 << power for power in range(9, 17))
_USUAL_PAGE: Final = 4096
_LARGE_PAGE: Final = 65536
_TRIES: Final = 3
_PAUSE_SECONDS: Final = 0.05
_WRITE_LOCK: Final = 120
"""The byte of the ``-shm`` that whoever writes has locked."""
_UNREAD: Final = (
    "cannot be read, since its folder cannot be written: what stands in it is not in the answer; copy "
    "both files to where you may write"
)
_LOST: Final = (
    "is damaged: what was recorded last, some of it at least, is not in the answer; keep a copy of both "
    "files if it matters, the next program that writes will drop it"
)


class _Index(NamedTuple):
    page_size: int
    last_frame: int
    salt: bytes


def losses(path: str, *, is_passed_over: bool) -> list[str]:
    """Return what was lost of the ``-wal`` of a log that is open for reading, in words.

    Reads the heads of the frames behind those that SQLite took: some 10 µs when there
    are none, which is nearly always.

    Args:
        path: The log.
        is_passed_over: Whether it was opened so that SQLite does not look at the ``-wal``.

    """
    wal = f"{path}-wal"
    try:
        size = os.stat(wal).st_size
        if size <= _HEADER_SIZE:
            return []
        if is_passed_over:
            return [f"{wal} {_UNREAD}"]
        shm = lasting(f"{path}-shm")
        index = _lost(wal, size, shm)
        for _ in range(_TRIES):
            if index is None or _is_written(shm):  # somebody writes: he may not have said so yet
                return []
            time.sleep(_PAUSE_SECONDS)
            if index != _index(shm):
                return []
            index = _lost(wal, size, shm)
    except OSError:
        return []
    return [] if index is None else [f"{wal} {_LOST}"]


def _lost(wal: str, size: int, shm: int) -> _Index | None:
    """Return what SQLite took when there are commits behind that, else None."""
    index = _index(shm)
    if index is None:
        return None
    with open(wal, "rb") as file:
        header = file.read(_HEADER_SIZE)
        is_refused = not index.last_frame and not _is_sound(header)
        page_size = index.page_size or int.from_bytes(
            header[8:12], "big"
        )  # as long as no frame is sound
        frame_size = _HEAD.size + (page_size if page_size in _PAGE_SIZES else _USUAL_PAGE)
        for at in range(_HEADER_SIZE + index.last_frame * frame_size, size, frame_size):
            head = os.pread(file.fileno(), _HEAD.size, at)
            if len(head) < _HEAD.size:
                break
            commit, salt = _HEAD.unpack(head)
            if commit and (is_refused or salt == index.salt):
                return index
    return None


def _is_sound(header: bytes) -> bool:
    """Tell whether the file's own head is as SQLite wrote it."""
    magic, *right = struct.unpack(">I20xII", header)
    if magic & ~1 != _MAGIC:
        return False
    first = second = 0
    words = struct.unpack(">6I" if magic & 1 else "<6I", header[:24])
    for a, b in zip(words[::2], words[1::2], strict=True):
        first = (first + a + second) & _WORD
        second = (second + b + first) & _WORD
    return [first, second] == right


def _index(shm: int) -> _Index | None:
    head = os.pread(shm, _INDEX.size, 0)
    if len(head) < _INDEX.size:
        return None
    is_initialized, page_size, last_frame, salt = _INDEX.unpack(head)
    if not is_initialized:
        return None
    return _Index(_LARGE_PAGE if page_size == 1 else page_size, last_frame, salt)


def _is_written(shm: int) -> bool:
    """Tell whether another process is writing now, where the system tells."""
    if sys.platform != "linux":
        return False
    asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, _WRITE_LOCK, 1, 0)
    (kind,) = struct.unpack_from("h", fcntl.fcntl(shm, fcntl.F_GETLK, asked))
    return bool(kind != fcntl.F_UNLCK)
