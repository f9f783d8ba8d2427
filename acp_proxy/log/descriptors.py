"""Descriptors for files that SQLite may have open in this process: closed only when it has not.

POSIX drops all locks that a process has on a file when it closes any descriptor for that file
(fcntl(2)), those of SQLite included; then another process could take the log for unused.
"""

import os
from _thread import allocate_lock
from typing import Final

Key = tuple[int, int]
_LOCK: Final = allocate_lock()
_OPEN: Final[dict[Key, int]] = {}
_USERS: Final[dict[Key, int]] = {}
"""How many connections of this process have a log open."""


def hold(path: str) -> Key:
    """Say that SQLite is about to open a log; return what ``release`` needs.

    Raises:
        OSError: There is no such file.

    """
    with _LOCK:
        key = _key(os.stat(path))
        _USERS[key] = _USERS.get(key, 0) + 1
        return key


def release(key: Key) -> None:
    """Say that SQLite has closed a log."""
    with _LOCK:
        _USERS[key] -= 1
        if not _USERS[key]:
            del _USERS[key]
            if (fd := _OPEN.pop(key, None)) is not None:
                os.close(fd)


def beginning(path: str, size: int) -> tuple[os.stat_result, bytes]:
    """Return the status of a log's file, and its first bytes.

    Raises:
        OSError: It cannot be read.

    """
    with _LOCK:
        is_used = _key(os.stat(path)) in _USERS
        fd = _lasting(path) if is_used else _open(path)
        try:
            return os.fstat(fd), os.pread(fd, size, 0)
        finally:
            if not is_used:
                os.close(fd)


def lasting(path: str) -> int:
    """Return a descriptor to read a file, the same one each time.

    Raises:
        OSError: It cannot be opened.

    """
    with _LOCK:
        return _lasting(path)


def _lasting(path: str) -> int:
    key = _key(os.stat(path))
    if key not in _OPEN:
        for other, fd in list(_OPEN.items()):
            if os.fstat(fd).st_nlink == 0:  # nobody can be using it
                os.close(_OPEN.pop(other))
        _OPEN[key] = _open(path)
    return _OPEN[key]


def _open(path: str) -> int:
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)


def _key(status: os.stat_result) -> Key:
    return status.st_dev, status.st_ino
