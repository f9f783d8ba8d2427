"""Checks of what was recorded: the log's health, who may read it, what waits, and room on the disk."""

import os
import shlex
import shutil
import stat
from typing import TYPE_CHECKING

from acp_proxy.doctor.findings import NOTE, OK, PROBLEM, Finding
from acp_proxy.errors import LogError
from acp_proxy.journal.spool import damaged, folder_of, is_alive, waiting
from acp_proxy.log import identity, schema
from acp_proxy.log.place import log_path
from acp_proxy.recorder.leftovers import settle
from acp_proxy.recording import open_recording
from acp_proxy.settings import Settings
from acp_proxy.views.tables import command_text
from acp_proxy.views.units import count, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acp_proxy.recorder.leftovers import Waiting

_CHECKED_WHOLE = 256 << 20
"""SQLite looks through a log of so many bytes in a second or two; larger ones are left to verify."""
_SAVE = "copy it and acp-proxy export what can be read; then begin a new one with --log"
_LOST = (
    "its journal was deleted or cannot be read; what came before is in the log until you prune it"
)
_TIGHT = 100 << 20
_LOW = 1 << 30


def checks(given: str | None, settings: Settings) -> "Iterator[Callable[[], Iterator[Finding]]]":
    """Yield the checks of a log; what waits for it gets its chance to get in before the first.

    Args:
        given: Path of the log; None for the one of the settings.
        settings: Those that were loaded.

    """
    try:
        path = log_path(given, settings)
    except LogError as error:
        finding = Finding("log", PROBLEM, error.why, error.remedy)
        yield lambda: iter([finding])
        return
    stuck = settle(path)
    yield lambda: _log(path)
    yield lambda: _permissions(path)
    yield lambda: _journals(path, stuck)
    yield lambda: _disk(path)


def _log(path: str) -> "Iterator[Finding]":
    """Yield how the log is: there, readable, sound, of this version, writable."""
    if not os.path.exists(path):
        reason = schema.why_not_writable(path)
        if reason is None:
            yield Finding("log", OK, f"nothing recorded yet: {path} will be made")
        else:
            yield Finding("log", PROBLEM, reason, "until then, what is recorded waits in journals")
        return
    try:
        with schema.explaining(path):
            foreign = identity.why_foreign(path)
        if foreign is not None:
            remedy = identity.foreign_remedy(path)
            yield Finding("log", PROBLEM, f"{foreign}: nothing is recorded into it", remedy)
        missing = [step for step in schema.STEPS if step not in schema.applied_steps(path)]
        yield from _contents(path, looks=foreign is not None or not _is_locked(path))
        if foreign is None:
            schema.check_usable(path)  # last: it leaves none of SQLite's files behind
    except LogError as error:
        yield Finding("log", PROBLEM, error.why, error.remedy)
        return
    if missing:
        what = f"{path} was written by an older acp-proxy (without {', '.join(missing)})"
        yield Finding(
            "log",
            NOTE,
            what,
            f"the next recording, or acp-proxy log migrate --log {shlex.quote(path)}",
        )


def _is_locked(path: str) -> bool:
    try:
        schema.check_usable(path)
    except schema.LogLockedError:
        return True
    except LogError:
        pass
    return False


def _contents(path: str, *, looks: bool) -> "Iterator[Finding]":
    """Yield what is in the log, and if asked what SQLite finds wrong with it: that takes its lock."""
    with open_recording(path) as recording:
        counts, bytes_ = recording.counts(), recording.size()
        yield Finding(
            "log",
            OK,
            f"{path}: {count(counts['connections'], 'connection')}, "
            f"{count(counts['messages'], 'message')}, {size(bytes_)}",
        )
        if looks and bytes_ <= _CHECKED_WHOLE:
            for problem in recording.check_integrity():
                yield Finding("log", PROBLEM, f"SQLite finds it damaged: {problem}", _SAVE)
        elif looks:
            yield Finding("log", NOTE, "too large to be looked through here", "acp-proxy verify")
        for loss in recording.losses:
            yield Finding("log", PROBLEM, loss, _SAVE)
        before = waiting(path)  # some may be in the log, and others begun, once that is read
        ends = [row for row in recording.connections() if row.status == "running"]
        kept = {os.path.basename(journal) for journal in (*before, *waiting(path))}
        lost = [row.id for row in ends if row.uuid not in kept]
    if lost:
        ids = ", ".join(map(str, lost))
        yield Finding("log", NOTE, f"of connection {ids} the end was never recorded", _LOST)


def _permissions(path: str) -> "Iterator[Finding]":
    """Yield which of our files others may read: they hold all that was said."""
    files = [path, f"{path}-wal", f"{path}-shm", *waiting(path)]
    folders = [folder_of(path)]
    open_ = [name for name in files if os.path.isfile(name) and _others(name)]
    open_ += [name for name in folders if os.path.isdir(name) and _others(name)]
    for name in open_:
        mode = "700" if os.path.isdir(name) else "600"
        bits = stat.filemode(os.stat(name).st_mode)
        yield Finding(
            "permissions",
            PROBLEM,
            f"others may read {name} ({bits})",
            f"chmod {mode} {shlex.quote(name)}",
        )
    if os.path.exists(path) and not open_:
        yield Finding("permissions", OK, "only you may read the log and its journals")


def _others(path: str) -> bool:
    return bool(os.stat(path).st_mode & 0o077)


def _journals(path: str, stuck: "list[Waiting]") -> "Iterator[Finding]":
    """Yield which recordings are not in the log, and why."""
    for journal in stuck:
        what = command_text(journal.command) or journal.uuid
        yield Finding(
            "journals",
            PROBLEM,
            f"{what}: {size(journal.bytes)} in {journal.path} are not in the log: {journal.why}",
            journal.remedy,
        )
    for name in damaged(path):
        yield Finding(
            "journals", PROBLEM, f"{name} is damaged", "look at it by hand, then delete it"
        )
    folder = folder_of(path)
    if os.path.isdir(folder) and not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        what = f"{folder} cannot be used: what waits there does not get into the log"
        yield Finding("journals", PROBLEM, what, f"chmod 700 {shlex.quote(folder)}")
        return
    alive = sum(is_alive(journal) for journal in waiting(path))
    if not stuck:
        running = f"; {count(alive, 'conversation')} running" if alive else ""
        yield Finding("journals", OK, f"none waits{running}")


def _disk(path: str) -> "Iterator[Finding]":
    """Yield how much room there is for the log and its journals."""
    place = os.path.dirname(path)
    while not os.path.isdir(place):
        place = os.path.dirname(place)
    free = shutil.disk_usage(place).free
    bytes_ = schema.bytes_on_disk(path)
    remedy = "acp-proxy prune and acp-proxy compact make room; run --keep keeps it"
    if free < _TIGHT:
        yield Finding("disk", PROBLEM, f"only {size(free)} free at {place}", remedy)
    elif free < max(_LOW, bytes_):
        yield Finding(
            "disk", NOTE, f"{size(free)} free at {place}; the log has {size(bytes_)}", remedy
        )
    else:
        yield Finding("disk", OK, f"{size(free)} free at {place}")
