"""Private copies of logs that are not ours: SQLite opens those, never the originals.

A copy lives in a folder of its own (0700) and goes when the process ends. What a killed process
left is removed by the next one that makes a copy.
"""

import atexit
import contextlib
import fcntl
import os
import shutil
import signal
import stat
import tempfile
import time
from typing import Final

from acp_proxy.errors import LogError
from acp_proxy.log.identity import LogUnavailableError, foreign_remedy, why_foreign

_PREFIX: Final = "acp-proxy-copy-"
_LOCK: Final = "lock"
_SUFFIXES: Final = ("", "-wal")
_MARGIN: Final = 64 << 20
"""Bytes that stay free beside a copy: SQLite makes an index of the -wal, and sorts on disk."""
_TRIES: Final = 5
_PAUSE_SECONDS: Final = 0.05
_PIECE: Final = 1 << 20
_MOST_COPIES: Final = 4
_LONG_LIVED: Final = "/var/tmp"  # noqa: S108 - mkdtemp makes a private folder there

_Signature = tuple[tuple[int, int, int, int] | None, ...]
_copies: Final[dict[tuple[str, _Signature], str]] = {}
_locks: Final[dict[str, int]] = {}


def place_to_read(path: str) -> tuple[str, str | None]:
    """Return which file SQLite may open to read a log, and why that is a copy; None when it is not.

    The copy holds what was in the log, and in its ``-wal``, when it was first asked for.

    Raises:
        LogError: It cannot be read, or copied.
        OSError: The same.

    """
    why = why_foreign(path)
    if why is None:
        return path, None
    real = os.path.realpath(path)
    key = real, _signature(real)
    if key not in _copies or not os.path.exists(_copies[key]):
        key, copy = _copied(real)
        _copies[key] = copy
        for old in list(_copies)[:-_MOST_COPIES]:  # what is open of them can still be read
            _remove(os.path.dirname(_copies.pop(old)))
    return _copies[key], f"{why}: a private copy is read; {foreign_remedy(path)}"


def remove_all() -> None:
    """Delete the copies of this process."""
    for folder, fd in list(_locks.items()):
        del _locks[folder]
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.close(fd)
    _copies.clear()


def remove_on_signals() -> None:
    """Let the signals that end a program delete its copies first; for programs, not for libraries."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with contextlib.suppress(ValueError):  # not the main thread
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end_by_signal)


def _end_by_signal(number: int, _frame: object) -> None:
    remove_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _copied(real: str) -> tuple[tuple[str, _Signature], str]:
    """Copy a log; return what its files were like, and the copy."""
    for _ in range(_TRIES):
        before = _signature(real)
        folder = _new_folder(real, sum(one[2] for one in before if one is not None))
        try:
            copy = os.path.join(folder, "log.db")
            for suffix in _SUFFIXES:
                _copy_file(real + suffix, copy + suffix, needed=not suffix)
            if _signature(real) == before:
                return (real, before), copy
            _remove(folder)
        except BaseException:
            _remove(folder)
            raise
        time.sleep(_PAUSE_SECONDS)
    raise LogUnavailableError(f"{real} is being written while it is copied", "try again")


def _signature(real: str) -> _Signature:
    """Return what shows that a log's files changed: device, inode, size and time of each."""
    found: list[tuple[int, int, int, int] | None] = []
    for suffix in _SUFFIXES:
        try:
            status = os.lstat(real + suffix)
        except FileNotFoundError:
            found.append(None)
        else:
            if not stat.S_ISREG(status.st_mode):
                raise LogError(f"{real}{suffix} is no ordinary file", "move it away")
            found.append((status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(found)


def _copy_file(source: str, target: str, *, needed: bool) -> None:
    try:
        fd = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        if needed:
            raise
        return
    with open(fd, "rb") as file:
        out = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(out, "wb") as copy:
            left = os.fstat(fd).st_size  # what grows meanwhile is seen by its signature
            while left > 0 and (piece := file.read(min(left, _PIECE))):
                copy.write(piece)
                left -= len(piece)


def _new_folder(real: str, needed: int) -> str:
    """Make a folder that has room for a copy."""
    room: dict[str, int] = {}
    for root in dict.fromkeys((tempfile.gettempdir(), _LONG_LIVED)):
        with contextlib.suppress(OSError):
            room[root] = shutil.disk_usage(root).free
            if room[root] >= needed + _MARGIN:
                _sweep(root)
                folder = tempfile.mkdtemp(prefix=_PREFIX, dir=root)
                lock = os.path.join(folder, _LOCK)
                fd = os.open(lock + ".new", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                fcntl.flock(fd, fcntl.LOCK_EX)
                os.rename(lock + ".new", lock)  # only now can another process find it
                if not _locks:
                    atexit.register(remove_all)
                _locks[folder] = fd
                return folder
    free = ", ".join(f"{size} in {root}" for root, size in room.items()) or "none"
    raise LogUnavailableError(
        f"no room to copy {real}, which is not a log of this installation and is therefore read "
        f"through a copy: {needed} bytes are needed, free are {free}",
        "set TMPDIR to a folder with room, or, if the log is yours: acp-proxy log trust " + real,
    )


def _remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(KeyError, OSError):
        os.close(_locks.pop(folder))


def _sweep(root: str) -> None:
    """Remove the copies of processes that were killed: nobody holds their locks."""
    with os.scandir(root) as entries:
        left = [entry for entry in entries if entry.name.startswith(_PREFIX)]
    for entry in left:
        with contextlib.suppress(OSError):
            status = entry.stat(follow_symlinks=False)
            if status.st_uid != os.geteuid() or not stat.S_ISDIR(status.st_mode):
                continue
            fd = os.open(os.path.join(entry.path, _LOCK), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(entry.path, ignore_errors=True)
            finally:
                os.close(fd)
