"""Files that commands write to: never the log that is read, nor anything that belongs to it."""

import contextlib
import os
import stat
import unicodedata
from typing import TYPE_CHECKING, BinaryIO

from acp_proxy.cli.failures import Failure
from acp_proxy.journal.spool import fallback_folders, folder_of
from acp_proxy.log.schema import SIDE_FILES
from acp_proxy.settings import config_path

if TYPE_CHECKING:
    from collections.abc import Iterator

STDOUT = "-"


def check_output(output: str | None, log: str) -> None:
    """Refuse to write to a file that recording or reading needs, whatever name it is given.

    Args:
        output: The path that a person chose; None or ``-`` for stdout.
        log: The log's absolute path.

    Raises:
        Failure: The path is the log, one of SQLite's files beside it, a journal or in a folder
            of journals, or the settings file; through any link, and also where the file is
            not there yet.

    """
    if output is None or output == STDOUT:
        return
    try:
        place = os.path.realpath(output)
        protected = list(_protected(log))
    except (OSError, ValueError) as error:
        raise Failure(f"cannot write {output}: {error}") from error
    for path, what in protected:
        if _is_same(place, path):
            raise _refusal(output, what)
    for folder in (folder_of(log), *fallback_folders(log)):
        if any(_is_same(above, folder) for above in _ancestors(place)):
            raise _refusal(output, "in a folder of the log's journals")


@contextlib.contextmanager
def opened_output(output: str, log: str | None) -> "Iterator[BinaryIO]":
    """Open a file to be written anew.

    The file is emptied only when the opened descriptor is known to be none that belongs to the
    log, so that nothing is lost where a link changes between the check and the opening.

    Args:
        output: The file's path.
        log: The log's path; None where the command reads no log.

    Raises:
        Failure: It cannot be written, or must not be (``check_output``).

    """
    if log is not None:
        check_output(output, log)
    try:
        fd = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise Failure(f"cannot write {output}: {reason}") from error
    with open(fd, "wb") as file:
        status = os.fstat(fd)
        for path, what in _protected(log) if log is not None else ():
            with contextlib.suppress(OSError):
                if os.path.samestat(status, os.stat(path)):
                    raise _refusal(output, what)
        if stat.S_ISREG(status.st_mode):
            os.ftruncate(fd, 0)
        yield file


def _refusal(output: str, what: str) -> Failure:
    return Failure(f"{output} is {what} and was left alone; choose another file with -o")


def _protected(log: str) -> "Iterator[tuple[str, str]]":
    """Yield the paths that must not be written to, with a phrase for what each is."""
    for name in {log, os.path.realpath(log)}:  # SQLite puts its files beside the real one
        yield name, "the log itself"
        for suffix in SIDE_FILES:
            yield name + suffix, "a file that SQLite keeps beside the log"
    for folder in (folder_of(log), *fallback_folders(log)):
        yield folder, "the folder of the log's journals"
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:  # a journal may have another name elsewhere: a hard link
                yield entry.path, "a journal of the log"
    settings = config_path()
    if settings is not None and not _is_device(settings):  # /dev/null stands for "no settings"
        yield settings, "the settings file"


def _is_same(path: str, other: str) -> bool:
    """Tell whether two paths name one file, also where it is not there yet."""
    with contextlib.suppress(OSError):
        return os.path.samestat(os.stat(path), os.stat(other))
    if _folded(os.path.basename(path)) != _folded(os.path.basename(os.path.realpath(other))):
        return False
    above = os.path.dirname(path), os.path.dirname(os.path.realpath(other))
    with contextlib.suppress(OSError):
        return os.path.samestat(*map(os.stat, above))
    return above[0] == above[1]


def _is_device(path: str) -> bool:
    try:
        return stat.S_ISCHR(os.stat(path).st_mode)
    except OSError:
        return False


def _folded(name: str) -> str:
    """Return a name as a file system compares it that ignores case and composition."""
    return unicodedata.normalize("NFC", name).casefold()


def _ancestors(path: str) -> "Iterator[str]":
    while (above := os.path.dirname(path)) != path:
        yield above
        path = above
