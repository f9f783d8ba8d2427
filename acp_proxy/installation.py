"""What this installation remembers outside of its logs and journals: which of them it made.

A log or a journal can be unpacked from anybody's archive, so nothing inside one proves where it
came from. The state folder holds a key, which seals journals, and one small file for each log
that was made or trusted here. Imported while a client waits for its agent: quick to import.
"""

import contextlib
import os
import stat
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

FALLBACK_ROOTS = ("/var/tmp", "/tmp")  # noqa: S108 - a private folder is made there and checked
SEAL_BYTES = 8
UNSEALED = bytes(SEAL_BYTES)
_KEY = "key"
_KEY_BYTES = 32
_LOGS = "logs"
_MOST_ENTRIES = 10_000
_SHORT = tuple(f"{root}/".encode() for root in FALLBACK_ROOTS)
"""What lies below these lives not long, folders included."""
_ENTRY_BYTES = 64 * 1024


class LogIdentity(NamedTuple):
    """What makes a log the one that was registered.

    Attributes:
        path: Its absolute path, symbolic links resolved.
        inode: Its inode number: a copy or a restored backup has another one.
        mark: The random mark in its header; zeros in a log made before marks were introduced.

    """

    path: str
    inode: int
    mark: bytes

    @property
    def entry(self) -> str:
        """The name of the file that stands for this log in the registry."""
        text = b"\0".join((str(self.inode).encode(), self.mark.hex().encode(), _encoded(self.path)))
        return digest(text, size=16).hex()


def is_private(folder: str) -> bool:
    """Tell whether a folder is a real one, belongs to this user, and nobody else can write to it."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    ours = status.st_uid == os.geteuid()
    return stat.S_ISDIR(status.st_mode) and ours and not status.st_mode & 0o022


def make_private_folder(folder: str) -> None:
    """Make a folder, and the missing ones above it, with mode 0700.

    Raises:
        OSError: It cannot be made, or belongs to somebody else.

    """
    parent = os.path.dirname(folder)
    if not os.path.isdir(folder):
        if parent != folder and not os.path.isdir(parent):
            make_private_folder(parent)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
            os.chmod(folder, 0o700)  # whatever the umask
    if not is_private(folder):
        raise PermissionError(f"{folder} belongs to somebody else, or others may write there")


def remember(log: LogIdentity) -> bool:
    """Register a log; return False when no state folder can be written.

    The environment of an editor and that of a shell may name different state folders, so the
    entry goes to both the environment's folder and the account's.
    """
    kept = [_remember_in(folder, log) for folder in _homes()]
    return any(kept) or any(_remember_in(folder, log) for folder in _fallbacks())


def remembers(log: LogIdentity) -> bool:
    """Tell whether a log is registered."""
    name = log.entry
    return any(_is_ours(os.path.join(place, name)) for place in _registries())


def can_remember() -> bool:
    """Tell whether there is any place for a registry; it is made if need be."""
    for folder in _folders():
        with contextlib.suppress(OSError):
            make_private_folder(folder)
            if os.access(folder, os.W_OK | os.X_OK):
                return True
    return False


def is_state_folder(folder: str) -> bool:
    """Tell whether a folder is one in which this program keeps its state, and private."""
    return is_private(folder) and any(
        os.path.realpath(one) == os.path.realpath(folder) for one in _folders()
    )


def seal(name: str, inode: int) -> bytes:
    """Return the seal of a journal: SEAL_BYTES bytes, ``UNSEALED`` when there is no place for a key.

    It binds the journal's name to its inode, so a journal of ours that comes back in an archive,
    changed, does not pass for the one that was written here.

    Args:
        name: The journal's file name, which is the connection's uuid.
        inode: Inode number of its file.

    """
    key = next(_keys(), None) or _new_key()
    return UNSEALED if key is None else _seal(key, name, inode)


def is_sealed(found: bytes, name: str, inode: int) -> bool:
    """Tell whether a journal carries a seal of this installation (see ``seal``)."""
    if found != UNSEALED and any(found == _seal(key, name, inode) for key in _keys()):
        return True
    return found == UNSEALED and next(_keys(), None) is None and not can_remember()


def _seal(key: bytes, name: str, inode: int) -> bytes:
    return digest(b"journal\0%d\0%s" % (inode, _encoded(name)), size=SEAL_BYTES, key=key)


def digest(data: bytes, *, size: int, key: bytes = b"") -> bytes:
    """Return the BLAKE2b digest of bytes.

    Args:
        data: The bytes.
        size: Size of the digest in bytes.
        key: Makes it one that only somebody with the key can compute.

    """
    try:
        from _blake2 import blake2b  # noqa: PLC0415 - 4 ms less than hashlib, for which a client waits
    except ImportError:  # not every Python has it under this name
        from hashlib import blake2b  # noqa: PLC0415
    found: bytes = blake2b(data, key=key, digest_size=size).digest()
    return found


def _encoded(path: str) -> bytes:
    return path.encode(errors="surrogateescape")


def _remember_in(folder: str, log: LogIdentity) -> bool:
    place = os.path.join(folder, _LOGS)
    text = b"%d %s %s\n" % (log.inode, log.mark.hex().encode(), _encoded(log.path))
    try:
        make_private_folder(place)
        if not is_private(folder):
            return False
        _drop_stale(place)
        _write(os.path.join(place, log.entry), text, replace=True)
    except OSError:
        return False
    return True


def _homes() -> "Iterator[str]":
    """Yield the state folders of the environment and of the account, best first."""
    found = ""
    for root in (_environment_root(), _account_root()):
        folder = os.path.join(root, "acp-proxy")
        if os.path.isabs(folder) and folder != found:
            found = folder
            yield folder


def _fallbacks() -> list[str]:
    return [os.path.join(root, f"acp-proxy-{os.getuid()}") for root in FALLBACK_ROOTS]


def _folders() -> "Iterator[str]":
    """Yield all places for our state; the account's is looked up only when it is needed."""
    yield from _homes()
    yield from _fallbacks()


def _registries() -> "Iterator[str]":
    for folder in _folders():
        place = os.path.join(folder, _LOGS)
        if is_private(place) and is_private(folder):
            yield place


def _environment_root() -> str:
    chosen = os.environ.get("XDG_STATE_HOME", "").strip() if sys.platform != "darwin" else ""
    home = os.environ.get("HOME", "")
    return chosen if os.path.isabs(chosen) else os.path.join(home, _below_home()) if home else ""


def _account_root() -> str:
    try:
        import pwd  # noqa: PLC0415 - asks the system, which may take long; seldom needed

        return os.path.join(pwd.getpwuid(os.geteuid()).pw_dir, _below_home())
    except (ImportError, KeyError):
        return ""


def _below_home() -> str:
    return "Library/Application Support" if sys.platform == "darwin" else ".local/state"


def _keys() -> "Iterator[bytes]":
    for folder in _folders():
        if is_private(folder) and (key := _read(os.path.join(folder, _KEY))) is not None:
            yield key


def _new_key() -> bytes | None:
    for folder in _folders():
        path = os.path.join(folder, _KEY)
        with contextlib.suppress(OSError):
            make_private_folder(folder)
            _write(path, os.urandom(_KEY_BYTES), replace=False)
            if (key := _read(path)) is not None:  # another process may have been faster
                return key
    return None


def _read(path: str) -> bytes | None:
    """Return a key; None when there is none that only this user can read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(fd)
        is_safe = stat.S_ISREG(status.st_mode) and not status.st_mode & 0o077
        if not is_safe or status.st_uid != os.geteuid():
            return None
        key = os.read(fd, _KEY_BYTES + 1)
    except OSError:
        return None
    finally:
        os.close(fd)
    return key if len(key) == _KEY_BYTES else None


def _is_ours(path: str) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()


def _write(path: str, data: bytes, *, replace: bool) -> None:
    """Write a small file, whole or not at all.

    Args:
        path: The file.
        data: Its bytes.
        replace: Whether it may replace one that is there; otherwise that one stays.

    Raises:
        OSError: It cannot be written.

    """
    unfinished = f"{path}.{os.getpid()}.{os.urandom(4).hex()}.new"
    fd = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        try:
            os.fchmod(fd, 0o600)  # whatever the umask
            if os.write(fd, data) != len(data):
                raise OSError(f"no room for {path}")
        finally:
            os.close(fd)
        if replace:
            os.rename(unfinished, path)
        else:
            _link(unfinished, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unfinished)


def _link(unfinished: str, path: str) -> None:
    """Give a file its name unless another has that name."""
    try:
        os.link(unfinished, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        if not os.path.lexists(path):
            os.rename(unfinished, path)


def _drop_stale(place: str) -> None:
    """Remove the entries of logs that are gone, so that the registry does not grow for ever.

    An entry stays while the folder of its log is not there: that may be a disk not mounted now.
    """
    with os.scandir(place) as entries:
        for entry, _ in zip(entries, range(_MOST_ENTRIES), strict=False):
            with contextlib.suppress(OSError, ValueError):
                if not entry.is_file(follow_symlinks=False):
                    continue
                with open(entry.path, "rb") as file:
                    inode, _, path = file.read(_ENTRY_BYTES).rstrip(b"\n").split(b" ", 2)
                is_gone = _inode(path) != int(inode)
                if is_gone and (os.path.isdir(os.path.dirname(path)) or path.startswith(_SHORT)):
                    os.unlink(entry.path)


def _inode(path: bytes) -> int | None:
    try:
        return os.lstat(path).st_ino
    except (FileNotFoundError, NotADirectoryError):
        return None
