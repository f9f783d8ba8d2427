"""Descriptors for files that SQLite may have open in this process: once opened they stay open.

POSIX drops all locks that a process has on a file when it closes any descriptor for that file
(fcntl(2)), those of SQLite included; then another process could take the log for unused.
"""

import os
from typing import Final

_OPEN: Final[dict[tuple[int, int], int]] = {}


def lasting(path: str) -> int:
    """Return a descriptor to read a file, the same one each time.

    Raises:
        OSError: It cannot be opened.

    """
    status = os.stat(path)
    key = status.st_dev, status.st_ino
    if key not in _OPEN:
        for other, fd in list(_OPEN.items()):
            if os.fstat(fd).st_nlink == 0:  # nobody can be using it
                os.close(_OPEN.pop(other))
        _OPEN[key] = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    return _OPEN[key]
