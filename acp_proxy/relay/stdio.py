"""The three descriptors that a client gave us, and the others it may have given.

Nothing here changes how the client sees them; they are shared with it.
"""

import contextlib
import os

STDIN, STDOUT, STDERR = 0, 1, 2


def fill_missing() -> None:
    """Open /dev/null where one of the three is closed, or our own files would take its place."""
    while (fd := os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)) <= STDERR:
        os.set_inheritable(fd, True)
    os.close(fd)


def let_go(fd: int) -> None:
    """Close one of the three as far as the client can see, and keep its number taken."""
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    os.dup2(null, fd)
    os.close(null)


def close_others() -> None:
    """Close what the client gave beside the three: only the agent may keep it open.

    Python's own descriptors are never inheritable, so they are left alone.
    """
    with contextlib.suppress(OSError):
        for name in os.listdir("/dev/fd"):
            with contextlib.suppress(OSError, ValueError):
                if (fd := int(name)) > STDERR and os.get_inheritable(fd):
                    os.close(fd)
