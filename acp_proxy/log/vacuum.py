"""Giving the free space of a log back to the disk, beside whoever records and reads.

SQLite makes the file anew, which needs the write lock for as long as it takes; recorders
wait meanwhile, and what they are to write waits in their journals. A log that was made
incremental once gives pages back a slice at a time instead.
"""

import os
from typing import Final, NamedTuple

from acp_proxy.advance import Advance, unwatched
from acp_proxy.log import schema
from acp_proxy.log.identity import LogUnavailableError
from acp_proxy.log.schema import LogLockedError
from acp_proxy.log.upkeep import Upkeep

_INCREMENTAL: Final = 2
_MARGIN: Final = 16 * 1024 * 1024
_TEMPORARY = ("/var/tmp", "/usr/tmp", "/tmp", ".")  # noqa: S108 - SQLite's own list


class Vacuumed(NamedTuple):
    """What came of it.

    Attributes:
        before: The file's bytes and those of its write-ahead log.
        after: The same.
        in_slices: Whether it was done without a long lock.
        waits: Whether somebody reads who keeps the file from becoming smaller until then.

    """

    before: int
    after: int
    in_slices: bool
    waits: bool


def vacuum(
    upkeep: Upkeep, *, make_incremental: bool = False, advance: Advance = unwatched
) -> Vacuumed:
    """Give the free space of a log back.

    Args:
        upkeep: The log.
        make_incremental: Whether the log is to be one that gives pages back in slices from now on.
        advance: Is told of the bytes given back, where that is done in slices.

    Raises:
        LogLockedError: Somebody else writes for longer than one wants to wait.
        LogUnavailableError: There is not enough room to do it.
        LogError: The log cannot be written.

    """
    path = upkeep.path
    before = schema.bytes_on_disk(path)
    in_slices = give_back_in_slices(upkeep, advance)
    if not in_slices:
        _check_room(path, upkeep.used_bytes())
        _make_anew(upkeep, make_incremental)
    with schema.explaining(path):
        [(is_busy, *_)] = upkeep.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Vacuumed(before, schema.bytes_on_disk(path), in_slices, bool(is_busy))


def give_back_in_slices(upkeep: Upkeep, advance: Advance = unwatched) -> bool:
    """Give free pages back if the log is an incremental one; tell whether it is.

    Args:
        upkeep: The log.
        advance: Is told of the bytes given back.

    Raises:
        LogError: The log cannot be written.

    """
    if found := is_incremental(upkeep):
        upkeep.in_slices(lambda pages: _give_back(upkeep, pages, advance))
    return found


def is_incremental(upkeep: Upkeep) -> bool:
    """Tell whether a log gives its free pages back in slices.

    Raises:
        LogError: The log cannot be read.

    """
    with schema.explaining(upkeep.path):
        [(mode,)] = upkeep.db.execute("PRAGMA auto_vacuum")
    return bool(mode == _INCREMENTAL)


def _give_back(upkeep: Upkeep, pages: int, advance: Advance) -> int:
    before = upkeep.free_bytes()
    for _ in range(
        pages if before else 0
    ):  # one by one: sqlite3 takes but the first step of a pragma
        upkeep.db.execute("PRAGMA incremental_vacuum(1)").fetchall()
    given = before - upkeep.free_bytes()
    advance(given)
    return given


def _make_anew(upkeep: Upkeep, make_incremental: bool) -> None:
    try:
        with schema.explaining(upkeep.path):
            if make_incremental:
                upkeep.db.execute(f"PRAGMA auto_vacuum = {_INCREMENTAL}")
            upkeep.db.execute("VACUUM")
    except LogLockedError as error:
        raise LogLockedError(
            error.why, "somebody writes to it all the time: try again, or when less is recorded"
        ) from error


def _check_room(path: str, used: int) -> None:
    """Refuse to begin what would fill a disk: a copy is made, and goes through the write-ahead log."""
    devices: dict[int, tuple[str, int]] = {}
    for folder, needed in ((os.path.dirname(path) or ".", used), (_temporary_folder(), used)):
        device = os.stat(folder).st_dev
        _, so_far = devices.get(device, (folder, 0))
        devices[device] = folder, so_far + needed
    for folder, needed in devices.values():
        found = os.statvfs(folder)
        room = found.f_bavail * found.f_frsize
        if room < needed + _MARGIN:
            raise LogUnavailableError(
                f"no room to make {path} anew: {needed} bytes are needed in {folder} for a while, "
                f"{room} are free",
                "make room, or prune more: what is free in the log is used again before it grows",
            )


def _temporary_folder() -> str:
    """Return where SQLite makes its temporary files."""
    told = [os.environ.get("SQLITE_TMPDIR"), os.environ.get("TMPDIR"), *_TEMPORARY]
    for folder in told:
        if folder and os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK):
            return folder
    return "."
