"""The folders of journals: where a new one goes, which are left over, who works on one.

A journal stands beside its log, in ``LOG.journals/``. (``LOG-journal`` would be
the name of SQLite's own rollback journal: a folder of that name makes the log
unusable.) Where that folder cannot be written, a fallback folder serves, and the
journal's first record names its log.
"""

import contextlib
import fcntl
import os
import time
from typing import TYPE_CHECKING

from acp_proxy.clock import wall_clock_ns
from acp_proxy.installation import (
    FALLBACK_ROOTS,
    is_private,
    is_sealed,
    make_private_folder,
    seal,
)
from acp_proxy.journal.records import HEADER_SIZE, SEAL_AT, decode_header, seal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acp_proxy.journal.append import JournalWriter
    from acp_proxy.journal.records import Facts

_FOLDER_SUFFIX = ".journals"
_LOCK_SUFFIX = ".lock"
_DAMAGED_SUFFIX = ".damaged"
_NEW_SUFFIX = ".new"
ADOPT = "if it is yours: acp-proxy log trust LOG, with the path of its log"
"""What the owner of a journal can do that was not written here."""
_STALE_SECONDS = 60
_CLAIM_TRIES = 10
_CLAIM_PAUSE_SECONDS = 0.01


def folder_of(log: str) -> str:
    """Return the folder of the journals of a log."""
    return log + _FOLDER_SUFFIX


def fallback_folders(log: str) -> list[str]:
    """Return where journals of a log go when its own folder cannot be written, best first.

    The same places whatever HOME and TMPDIR say: the client's environment is not the
    one in which somebody looks for the journal later.
    """
    import hashlib  # noqa: PLC0415 - seldom needed; the agent's client waits for the journal

    name = hashlib.sha256(os.fsencode(log)).hexdigest()[:16]
    return [os.path.join(root, f"acp-proxy-{os.getuid()}", name) for root in FALLBACK_ROOTS]


def create(
    log: str,
    uuid: str,
    start: "Facts | None" = None,
    notify: "Callable[[], object] | None" = None,
) -> "JournalWriter | None":
    """Return a new journal for a connection, with its first record in it.

    None when no place can be written, and for /dev/null, by which people mean: do not record.
    """
    from acp_proxy.journal.append import JournalWriter  # noqa: PLC0415 - readers need no writer

    if log == os.devnull:
        return None
    # Twice: an empty fallback folder may be removed between our making and using it.
    for folder in [*_folders(log)] * 2:
        with contextlib.suppress(OSError):
            if folder != folder_of(log):
                make_private_folder(os.path.dirname(folder))
            make_private_folder(folder)
            return JournalWriter(os.path.join(folder, uuid), start, notify)
    return None


def waiting(log: str) -> list[str]:
    """Return the paths of the journals of a log, oldest first, those in use included."""
    return sorted(_journals(log), key=_made)


def is_ours(path: str) -> bool:
    """Tell whether this installation made a journal, or its user said so (``adopt``).

    A folder of journals can be unpacked from an archive. A journal says what is to be deleted from
    its log and comes from a peer byte for byte, so one from elsewhere is left alone.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        status = os.fstat(fd)
        if status.st_uid != os.geteuid():
            return False
        header = os.pread(fd, HEADER_SIZE, 0)
        return is_sealed(seal_of(header), uuid_of(path), status.st_ino)
    finally:
        os.close(fd)


def adopt(path: str) -> bool:
    """Seal a journal as one of this installation, because its user says so.

    Returns False for a file that is no journal, is being written, or belongs to somebody else.

    Raises:
        OSError: It cannot be written.

    """
    fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(fd)
        is_free = _lock(fd, fcntl.LOCK_EX)
        if not is_free or status.st_uid != os.geteuid() or status.st_nlink != 1:
            return False
        if decode_header(os.pread(fd, HEADER_SIZE, 0)) is None:
            return False
        os.pwrite(fd, seal(uuid_of(path), status.st_ino), SEAL_AT)
        return True
    finally:
        os.close(fd)


def uuid_of(path: str) -> str:
    """Return whose a journal is."""
    return os.path.basename(path)


def log_of(path: str, told: str | None) -> str | None:
    """Return the log that a journal is for; None when what it tells cannot be.

    Args:
        path: The journal's.
        told: The log that its first record names.

    """
    folder = os.path.dirname(path)
    if folder.endswith(_FOLDER_SUFFIX):  # wherever it was made: somebody may have moved both
        return folder.removesuffix(_FOLDER_SUFFIX)
    return told if told is not None and folder in fallback_folders(told) else None


def beside(path: str) -> list[str]:
    """Return the journals in the folder of one, itself included while it is there, oldest first."""
    return sorted(_in(os.path.dirname(path)), key=_made)


def is_alive(path: str) -> bool:
    """Tell whether the proxy that writes a journal still runs."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _lock(fd, fcntl.LOCK_SH)
    finally:
        os.close(fd)


def damaged(log: str) -> list[str]:
    """Return the journals of a log of which something could not be read."""
    return [
        os.path.join(folder, name)
        for folder in _folders(log)
        for name in _names(folder)
        if name.endswith(_DAMAGED_SUFFIX)
    ]


def set_aside(path: str) -> str:
    """Keep a journal of which something cannot be read, out of the way; return its new path."""
    with contextlib.suppress(OSError):
        os.rename(path, aside(path))
    return aside(path)


def aside(path: str) -> str:
    """Return where a journal is kept of which something cannot be read."""
    return path + _DAMAGED_SUFFIX


def sweep(path: str) -> None:
    """Delete what killed processes left beside a journal: locks of none, journals never begun."""
    folder = os.path.dirname(path)
    for name in _names(folder):
        left = os.path.join(folder, name)
        if name.endswith(_LOCK_SUFFIX):
            useless = not os.path.exists(left.removesuffix(_LOCK_SUFFIX))
        else:
            useless = name.endswith(_NEW_SUFFIX) and not is_alive(left)
        with contextlib.suppress(OSError):
            if useless and wall_clock_ns() / 1e9 - os.stat(left).st_mtime > _STALE_SECONDS:
                os.unlink(left)


class Claim:
    """The right to put a left-over journal into its log, which one process has at a time.

    Two at once would do no harm (the log refuses the second), only work in vain.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1

    def take(self) -> bool:
        """Try to get it; False when another process has it.

        Raises:
            OSError: The folder cannot be written.

        """
        for _ in range(_CLAIM_TRIES):
            fd = os.open(self._path + _LOCK_SUFFIX, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if _lock(fd, fcntl.LOCK_EX) and _is_at(fd, self._path + _LOCK_SUFFIX):
                self._fd = fd
                return True
            os.close(fd)
            time.sleep(_CLAIM_PAUSE_SECONDS)  # somebody only looked, or is just giving it back
        return False

    def is_taken(self) -> bool:
        """Tell whether a process has it, without touching it."""
        try:
            fd = os.open(self._path + _LOCK_SUFFIX, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            return not _lock(fd, fcntl.LOCK_SH)
        finally:
            os.close(fd)

    def release(self) -> None:
        """Give it back."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.unlink(self._path + _LOCK_SUFFIX)
            _tidy(os.path.dirname(self._path))
            os.close(self._fd)
            self._fd = -1


def _lock(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_at(fd: int, path: str) -> bool:
    """Tell whether a path still names an open file: whoever gave it back has deleted it."""
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path))
    except OSError:
        return False


def remove(path: str) -> None:
    """Delete a journal whose bytes are all in the log, and its fallback folder when it was the last."""
    with contextlib.suppress(OSError):
        os.unlink(path)
    _tidy(os.path.dirname(path))


def _tidy(folder: str) -> None:
    """Remove a fallback folder when it is empty."""
    if not folder.endswith(_FOLDER_SUFFIX):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def _journals(log: str) -> "Iterator[str]":
    for folder in _folders(log):
        yield from _in(folder)


def _folders(log: str) -> "Iterator[str]":
    yield folder_of(log)
    yield from fallback_folders(log)


def _in(folder: str) -> "Iterator[str]":
    for name in _names(folder):
        if "." not in name:  # not a lock, one that is being made, or a damaged one
            yield os.path.join(folder, name)


def _names(folder: str) -> list[str]:
    if not is_private(folder):  # what others may have put there is not to be believed
        return []
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    except OSError:
        return []


def _made(path: str) -> tuple[float, str]:
    try:
        return os.stat(path).st_mtime, path
    except OSError:
        return 0.0, path
