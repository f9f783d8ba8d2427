"""Journals that wait: whose they are, why, and getting them into the log now if that is possible."""

import contextlib
import os
import subprocess
import time
from typing import NamedTuple

from acp_proxy.errors import LogError
from acp_proxy.journal import handover, spool
from acp_proxy.journal.records import decode_facts
from acp_proxy.journal.tail import JournalReader
from acp_proxy.log import identity, schema

PATIENCE_SECONDS = 10.0
"""How long a reading command waits for left-over journals to get into the log."""
_NOT_OURS = "it was not written by acp-proxy here (copied, unpacked, or damaged at its beginning)"
_POLL_SECONDS = 0.01
_AT_ONCE = 4


class Waiting(NamedTuple):
    """A journal that is not in its log yet.

    Attributes:
        path: The file.
        uuid: The connection's.
        bytes: Size of the file.
        command: The agent's command, empty when the journal does not say.
        alive: Whether its proxy runs, so that waiting is normal.
        why: Why it waits, in words.
        remedy: What to do about it; may be empty.

    """

    path: str
    uuid: str
    bytes: int
    command: list[str]
    alive: bool
    why: str
    remedy: str


def settle(log: str, patience: float = PATIENCE_SECONDS) -> list[Waiting]:
    """Get the journals whose proxies have ended into the log; return those that stay, with reasons.

    Starts a recorder for each that none works on, and waits for all, bounded.
    Costs one listing of a folder when nothing waits.
    """
    give_up = time.monotonic() + patience
    started: dict[str, subprocess.Popen[bytes]] = {}
    reasons = _refused(log)
    while True:
        dead = [path for path in spool.waiting(log) if not spool.is_alive(path)]
        for path, recorder in list(started.items()):
            if recorder.poll() is not None:
                words = _last_words(recorder)
                if recorder.returncode != handover.DONE:  # else another process had it, or it is in
                    reasons[path] = words
                del started[path]
        todo = [path for path in dead if path not in reasons]
        if not (todo or started) or time.monotonic() > give_up:  # also for the last words of each
            break
        for path in todo:
            if path in started or len(started) >= _AT_ONCE or spool.Claim(path).is_taken():
                continue
            try:
                started[path] = handover.start_recorder(path, stderr=subprocess.PIPE)
            except OSError as error:
                reasons[path] = LogError(f"no recorder can be started: {error.strerror}")
        time.sleep(_POLL_SECONDS)
    for recorder in started.values():
        assert recorder.stderr is not None
        recorder.stderr.close()
        recorder.returncode = 0  # it goes on without us; not a thing to warn of
    # Of some the recorder could read nothing at all: it has put them aside.
    aside = [(spool.aside(path), error) for path, error in reasons.items()]
    return [
        _describe(path, reasons.get(path) or _guess(log)) for path in dead if os.path.exists(path)
    ] + [_describe(path, error) for path, error in aside if os.path.exists(path)]


def _refused(log: str) -> dict[str, LogError]:
    """Return the journals that no recorder may put into the log, and why."""
    journals = spool.waiting(log)
    foreign = _foreign(log) if journals else None
    if foreign is not None:
        return dict.fromkeys(journals, foreign)
    mine = LogError(_NOT_OURS, f"if it is yours: acp-proxy log trust {log}")
    return {path: mine for path in journals if not spool.is_ours(path)}


def _foreign(log: str) -> LogError | None:
    """Return why nothing may be written to a log at all, None when something may."""
    try:
        identity.require_ours(log)
    except LogError as error:
        return error
    except OSError:
        pass
    return None


def running(log: str) -> list[Waiting]:
    """Return the journals of a log whose proxies run."""
    return [
        _describe(path, LogError("its proxy runs"), alive=True)
        for path in spool.waiting(log)
        if spool.is_alive(path)
    ]


def _last_words(recorder: "subprocess.Popen[bytes]") -> LogError:
    assert recorder.stderr is not None
    with recorder.stderr as stderr:
        lines = stderr.read().decode(errors="replace").splitlines()
    if recorder.returncode == handover.GAVE_UP and len(lines) > 1:
        return LogError(lines[-2], lines[-1])
    return LogError(
        f"its recorder ended with {recorder.returncode}{': ' if lines else ''}{''.join(lines[-1:])}"
    )


def _guess(log: str) -> LogError:
    """Return what keeps the log from taking journals now."""
    try:
        schema.check_usable(log)
    except LogError as error:
        return error
    return LogError("it is on its way into the log", "ask again")


def _describe(path: str, error: LogError, *, alive: bool = False) -> Waiting:
    command: list[str] = []
    size = 0
    with contextlib.suppress(OSError), JournalReader(path) as journal:
        size = journal.size()
        for record in journal.read(0)[:1]:
            found = decode_facts(record.data).get("command")
            if isinstance(found, list):
                command = found
    uuid = os.path.basename(path)
    return Waiting(path, uuid, size, command, alive, error.why, error.remedy)
