"""Whether a log was made by this installation, decided before SQLite opens its file.

SQLite acts on what it finds beside a file: it replays a ``-journal``, and deletes a file that this
names. So a log that is not registered (``acp_proxy.installation``) is never opened in place, and
what must not be beside any log is refused first. A log carries a random mark in its header, in the
fields that SQLite keeps for programs (application id and user version).
"""

import fcntl
import os
import sqlite3
import stat
import time
from contextlib import closing, suppress
from typing import Final, NamedTuple

from acp_proxy import installation
from acp_proxy.errors import LogError
from acp_proxy.installation import LogIdentity
from acp_proxy.log.descriptors import beginning

MAGIC: Final = b"SQLite format 3\0"
_HEADER_SIZE: Final = 100
_USER_VERSION: Final = slice(60, 64)
_APPLICATION_ID: Final = slice(68, 72)
_NO_MARK: Final = bytes(8)
_FORMAT: Final = slice(18, 20)
_WAL_FORMAT: Final = b"\2\2"
_LOCK_TRIES: Final = 200
_LOCK_PAUSE_SECONDS: Final = 0.005
_MADE: Final[set[LogIdentity]] = set()
"""Logs that this process made and could not register, on a full disk perhaps."""


class LogUnavailableError(LogError):
    """The log cannot be used now, but later perhaps: locked, unwritable, no room on the disk."""


class ForeignLogError(LogError):
    """The log was not made by this installation: it is read through a copy, and never written."""


class _Header(NamedTuple):
    size: int
    inode: int
    owner: int
    data: bytes

    @property
    def mark(self) -> bytes:
        return self.data[_USER_VERSION] + self.data[_APPLICATION_ID]


def why_foreign(path: str) -> str | None:
    """Return why a log is not one of this installation, None when it is, or when it is empty.

    Raises:
        LogError: It is no SQLite file, or a file stands beside it that must not be there.
        OSError: It cannot be read.

    """
    header = _header(path)
    if not header.size:
        return None
    if not header.data.startswith(MAGIC):
        raise not_a_log(path, "file is not a database")
    log = LogIdentity(os.path.realpath(path), header.inode, header.mark)
    me = os.geteuid()
    if me and header.owner != me:
        reason = "belongs to another user"
    elif log in _MADE or installation.remembers(log) or _is_known_by_place(log, header):
        check_beside(path, {me, header.owner})
        return None
    else:
        reason = "was not made by acp-proxy here, or was copied, moved or replaced since"
    _refuse_journal(path)
    return f"{path} {reason}"


def require_ours(path: str) -> None:
    """Refuse to write to a log that is not one of this installation; one that is not there is.

    Raises:
        ForeignLogError: It is not ours; the remedy says how its owner can change that.
        LogError: It cannot be used at all.

    """
    if not os.path.exists(path):
        return
    check_regular(path)
    if (why := why_foreign(path)) is not None:
        raise ForeignLogError(f"{why}: it is not written to", foreign_remedy(path))


def check_regular(path: str) -> None:
    """Refuse a pipe, on which opening would wait for ever, and other things that are no file."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise LogUnavailableError(f"{path} is no ordinary file", "choose another with --log")


def foreign_remedy(path: str) -> str:
    """Return what the owner of a log can do when it counts as foreign."""
    return (
        f"if it is yours: acp-proxy log trust {path}; otherwise acp-proxy import {path} puts its "
        "connections into your own log, or choose another with --log"
    )


def not_a_log(path: str, why: str) -> LogError:
    """Return the error for a file that is damaged or none of ours."""
    return LogError(
        f"{path} is damaged, or was never a log ({why})",
        "choose another with --log; or, if it was one, move it away: a new log is made and what "
        "waits in journals goes there, and `sqlite3 FILE .recover` may save what the old one holds",
    )


def trust(path: str) -> bool:
    """Register a log as one of this installation; return False when no place for that can be written.

    Raises:
        LogError: It cannot be ours.
        OSError: It cannot be read.

    """
    header = _header(path)
    me = os.geteuid()
    if me and header.owner != me:
        raise ForeignLogError(
            f"{path} belongs to another user, who could change it at any time",
            f"copy it and trust the copy, or acp-proxy import {path}",
        )
    check_beside(path, {me, header.owner})
    return installation.remember(LogIdentity(os.path.realpath(path), header.inode, header.mark))


def make(path: str) -> None:
    """Turn an empty file into an empty log that is registered; leave one that is not empty alone.

    The file is registered before it has a header, so another recorder that comes meanwhile finds
    either an empty file, and waits for the lock, or a log of ours.

    Raises:
        LogError: A ``-journal`` stands beside it.
        OSError: It cannot be written.

    """
    _refuse_journal(path)
    fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _lock(fd)
        status = os.fstat(fd)
        if status.st_size or not stat.S_ISREG(status.st_mode):
            return
        real = os.path.realpath(path)
        for suffix in ("-wal", "-shm"):  # of a log that was deleted; SQLite would replay the first
            with suppress(FileNotFoundError):
                os.unlink(real + suffix)
        page = _empty_log(os.urandom(8))
        log = LogIdentity(real, status.st_ino, page[_USER_VERSION] + page[_APPLICATION_ID])
        if not installation.remember(log):
            _MADE.add(log)
        os.pwrite(fd, page, 0)
    finally:
        os.close(fd)  # nobody in this process has it open in SQLite yet: it was empty


def check_beside(path: str, owners: set[int]) -> None:
    """Refuse what must not stand beside a log that is opened in place.

    Args:
        path: The log.
        owners: Users to whom the files beside it may belong.

    Raises:
        LogError: A ``-journal``, or a ``-wal`` or ``-shm`` that SQLite did not make.

    """
    _refuse_journal(path)
    for suffix in ("-wal", "-shm"):
        name = os.path.realpath(path) + suffix
        try:
            status = os.lstat(name)
        except FileNotFoundError:
            continue
        # SQLite would write into the file that a link leads to, and delete what a hard link names.
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise LogError(f"{name} is not an ordinary file of its own", "move it away")
        if status.st_uid not in owners:
            raise LogError(f"{name} belongs to another user", "move it away")


def _refuse_journal(path: str) -> None:
    name = os.path.realpath(path) + "-journal"
    if os.path.lexists(name):
        raise LogError(
            f"{name} stands beside the log: a log of acp-proxy has no such file, and SQLite would "
            "change the log by it, or delete another file that it names",
            "move it away; do not open the log with another program before that",
        )


def _is_known_by_place(log: LogIdentity, header: _Header) -> bool:
    """Tell whether a log that is not registered counts as ours.

    That is one without a mark, made by an acp-proxy that did not register logs yet, in our state
    folder. And, where no registry can be kept at all, any with a mark: without that, a system on
    which only the folder of the log can be written could record but once, and read nothing.
    """
    if header.mark == _NO_MARK:
        folder = os.path.dirname(log.path)
        return installation.is_state_folder(folder) and header.data[_FORMAT] == _WAL_FORMAT
    return not installation.can_remember()


def _header(path: str) -> _Header:
    status, data = beginning(path, _HEADER_SIZE)
    return _Header(status.st_size, status.st_ino, status.st_uid, data)


def _empty_log(mark: bytes) -> bytes:
    """Return the one page of a database without tables, in WAL mode, with a mark."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.execute(f"PRAGMA user_version = {int.from_bytes(mark[:4], 'big', signed=True)}")
        db.execute(f"PRAGMA application_id = {int.from_bytes(mark[4:], 'big', signed=True)}")
        page = bytearray(db.serialize())
    page[_FORMAT] = _WAL_FORMAT
    return bytes(page)


def _lock(fd: int) -> None:
    """Wait for other processes that make the same log; go on without a lock where there are none."""
    for _ in range(_LOCK_TRIES):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_LOCK_PAUSE_SECONDS)
        except OSError:
            return
        else:
            return
