"""Settings files replaced as wholes, with what they were kept beside them under a name that pairs.

A backup is called ``FILE.acp-proxy-HASH.bak``; the hash is of what was written over
it. So it is known without any other record whether a file is still as we left it,
and what to put back. ``FILE.acp-proxy-HASH.made`` says that there was no file.
"""

import contextlib
import fcntl
import hashlib
import os
import stat
import sys
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.errors import EditorError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARK = ".acp-proxy-"
_BACKUP = ".bak"
_MADE = ".made"
_PRIVATE = 0o600
_ACCESS_LIST = "system.posix_acl_access"


class SettingsFile(NamedTuple):
    """A settings file as it was read.

    Attributes:
        path: The file itself, where symbolic links lead.
        data: Its bytes; None when there is no file.
        status: Its mode, owner and times; None when there is no file.

    """

    path: str
    data: bytes | None
    status: os.stat_result | None

    @property
    def text(self) -> str:
        """Its text, with line ends and byte order mark as they are; empty when there is no file.

        Raises:
            EditorError: It is not UTF-8.

        """
        try:
            return (self.data or b"").decode()
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise EditorError(
                f"{self.path} is not UTF-8 (line {line}, byte {error.start + 1} of the file); "
                "save it as UTF-8 and run this again"
            ) from error


def read(path: str) -> SettingsFile:
    """Read a settings file, which may not be there yet.

    Raises:
        EditorError: It is there and cannot be read, or is no regular file.

    """
    real = os.path.realpath(os.path.expanduser(path))
    try:
        if not stat.S_ISREG(os.stat(real).st_mode):
            raise EditorError(f"{real} is no file that could hold settings; name another")
        with open(real, "rb") as file:
            return SettingsFile(real, file.read(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return SettingsFile(real, None, None)
    except OSError as error:
        raise EditorError(f"cannot read {real}: {error.strerror}") from error


def write(old: SettingsFile, text: str) -> str:
    """Replace a file by a text, and return where what it was is kept.

    Raises:
        EditorError: It cannot be written, or somebody else changed it meanwhile.

    """
    _ensure_writable(old)
    data = text.encode()
    kept, other = (_companion(old.path, data, ending) for ending in (_BACKUP, _MADE))
    if old.data is None:
        kept, other = other, kept
    try:
        if old.data is None:
            os.makedirs(os.path.dirname(old.path), mode=0o700, exist_ok=True)
        with _alone(old.path):
            _ensure_unchanged(old)  # before the backup is touched, which may be another's
            _replace(kept, old.data or b"", old.status, mode=_PRIVATE)
            try:
                _replace_settings(old, data)
            except BaseException:
                if read(old.path).data != data:  # else it got there, and this is all that is left
                    os.unlink(kept)
                raise
            with contextlib.suppress(FileNotFoundError):
                os.unlink(other)  # from long ago, when the same was written over something else
    except OSError as error:
        raise _cannot_write(old.path, error) from error
    return kept


def rewrite(old: SettingsFile, text: str) -> None:
    """Replace a file by a text, keeping nothing new.

    Raises:
        EditorError: It cannot be written, or somebody else changed it meanwhile.

    """
    try:
        with _alone(old.path):
            _replace_settings(old, text.encode())
    except OSError as error:
        raise _cannot_write(old.path, error) from error


def paired(now: SettingsFile) -> SettingsFile | None:
    """Return what a file was before we wrote it; None when it is not as we wrote it.

    Raises:
        EditorError: The backup cannot be read.

    """
    if now.data is None:
        return None
    if os.path.lexists(_companion(now.path, now.data, _MADE)):
        return SettingsFile(now.path, None, None)
    backup = read(_companion(now.path, now.data, _BACKUP))
    return None if backup.data is None else SettingsFile(now.path, backup.data, backup.status)


def put_back(now: SettingsFile, before: SettingsFile) -> None:
    """Make a file byte for byte what ``paired`` returned, and forget the backup.

    Raises:
        EditorError: It cannot be written, or somebody else changed it meanwhile.

    """
    assert now.data is not None
    try:
        if before.data is None:
            remove(now)
            return
        with _alone(now.path):
            _replace_settings(now, before.data)
            os.unlink(_companion(now.path, now.data, _BACKUP))
    except OSError as error:
        raise _cannot_write(now.path, error) from error


def remove(now: SettingsFile) -> None:
    """Remove a file that we made, and what tells so.

    Raises:
        EditorError: It cannot be removed.

    """
    try:
        with _alone(now.path):
            _ensure_unchanged(now)
            os.unlink(now.path)
            for name in _companions(now.path, _MADE):
                os.unlink(name)
    except OSError as error:
        raise _cannot_write(now.path, error) from error


def earlier(now: SettingsFile) -> list[str]:
    """Return the texts that a file had before each time we wrote it, as far as backups tell.

    Raises:
        EditorError: A backup cannot be read.

    """
    texts = [read(path).text for path in _companions(now.path, _BACKUP)]
    return [""] * was_made(now) + texts


def backups(now: SettingsFile) -> list[str]:
    """Return the paths of a file's backups."""
    return _companions(now.path, _BACKUP)


def was_made(now: SettingsFile) -> bool:
    """Tell whether a file was not there before we wrote it."""
    return bool(_companions(now.path, _MADE))


def _companion(path: str, data: bytes, ending: str) -> str:
    return f"{path}{_MARK}{hashlib.sha256(data).hexdigest()[:16]}{ending}"


def _companions(path: str, ending: str) -> list[str]:
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(
        os.path.join(folder, other)
        for other in names
        if other.startswith(name + _MARK) and other.endswith(ending)
    )


@contextlib.contextmanager
def _alone(path: str) -> "Iterator[None]":
    """Keep other acp-proxies from changing settings in this folder meanwhile."""
    try:
        descriptor = os.open(os.path.dirname(path), os.O_RDONLY)
    except OSError:  # a folder that takes files and does not show them
        yield
        return
    try:
        with contextlib.suppress(OSError):  # some file systems know no locks
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise _changed_meanwhile(path) from None
        yield
    finally:
        os.close(descriptor)


def _replace_settings(old: SettingsFile, data: bytes) -> None:
    _ensure_writable(old)
    mode = _PRIVATE if old.status is None else old.status.st_mode & 0o7777
    _replace(old.path, data, old.status, mode=mode, old=old)


def _ensure_writable(old: SettingsFile) -> None:
    """Make sure that a file may be replaced: that its owner lets us, and nobody is left with the old."""
    if old.data is None or old.status is None:
        return
    if not os.access(old.path, os.W_OK):
        raise EditorError(f"{old.path} is write-protected; change it by hand, or allow writing")
    if old.status.st_nlink > 1:
        raise EditorError(
            f"{old.path} has another name (a hard link), which would go on with the old settings; "
            "change it by hand, or make a symbolic link of one of the two"
        )


def _ensure_unchanged(old: SettingsFile) -> None:
    if read(old.path).data != old.data:
        raise _changed_meanwhile(old.path)


def _changed_meanwhile(path: str) -> EditorError:
    return EditorError(f"{path} was changed meanwhile by somebody else; run this again")


def _replace(
    path: str,
    data: bytes,
    owned_like: os.stat_result | None,
    *,
    mode: int,
    old: SettingsFile | None = None,
) -> None:
    """Put a file with these bytes in a place, whole or not at all, also when the power fails.

    Args:
        path: The place.
        data: The bytes.
        owned_like: Of whose owner and group it is to be.
        mode: Its mode.
        old: What must stand there still; access lists and the like are taken from it.

    """
    folder = os.path.dirname(path)
    descriptor, temporary = tempfile.mkstemp(prefix=".acp-proxy-", dir=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            made = os.fstat(file.fileno())
            if owned_like is not None and _owner(owned_like) != _owner(made):
                os.fchown(file.fileno(), *_owner(owned_like))
            if old is not None and old.data is not None:
                _copy_attributes(old.path, file.fileno())
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        if old is not None:
            _ensure_unchanged(old)  # as late as can be: an editor may save at any moment
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _copy_attributes(source: str, descriptor: int) -> None:
    """Give a new file the access list and other attributes of an old one, where they can be read.

    With an access list the group's bits in the mode are the most that anybody in it
    may do: without the list, they would be what the group may do.
    """
    if sys.platform != "linux":  # elsewhere Python cannot
        return
    wanted, there = _attributes(source), _attributes(descriptor)
    for name in {**there, **wanted}:
        if wanted.get(name) == there.get(name):
            continue
        try:
            if name in wanted:
                os.setxattr(descriptor, name, wanted[name])
            else:
                os.removexattr(descriptor, name)
        except OSError:
            if name == _ACCESS_LIST:  # others are the system's own
                raise


def _attributes(file: str | int) -> dict[str, bytes]:
    """Return the extended attributes of a file that can be read; none where there are no such."""
    found: dict[str, bytes] = {}
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            for name in os.listxattr(file):
                with contextlib.suppress(OSError):
                    found[name] = os.getxattr(file, name)
    return found


def _owner(status: os.stat_result) -> tuple[int, int]:
    return status.st_uid, status.st_gid


def _sync_folder(folder: str) -> None:
    with contextlib.suppress(OSError):  # some cannot, or may not; the file itself is written
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _cannot_write(path: str, error: OSError) -> EditorError:
    return EditorError(f"cannot write {path}: {error.strerror}; nothing was changed")
