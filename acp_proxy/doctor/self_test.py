"""The self-test: a demonstration through the real proxy into a log of its own, which is verified."""

import os
import tempfile
import time
from typing import TYPE_CHECKING

from acp_proxy.demo import DemoError, play
from acp_proxy.doctor.findings import OK, PROBLEM, Finding
from acp_proxy.errors import AcpProxyError
from acp_proxy.recorder.leftovers import settle
from acp_proxy.recording import open_recording
from acp_proxy.views.units import count

if TYPE_CHECKING:
    from collections.abc import Iterator

_METHODS = ["initialize", "session/new", "session/prompt", "session/request_permission"]


def self_test() -> "Iterator[Finding]":
    """Yield whether a conversation passes the proxy and is recorded whole."""
    begun = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="acp-proxy-doctor-") as folder:
            log = os.path.join(folder, "log.db")
            play(log, quiet=True, as_set=False)  # a rule that blanks a method is no fault of ours
            stuck = settle(log)
            problems, messages = [f"not recorded: {journal.why}" for journal in stuck], 0
            if not problems:
                problems, messages = _recorded(log)
    except (DemoError, AcpProxyError, OSError) as error:
        problems, messages = [str(error)], 0
    for problem in problems:
        yield Finding("self-test", PROBLEM, f"the demonstration: {problem}", "please report this")
    if not problems:
        took = time.monotonic() - begun
        what = f"a conversation of {count(messages, 'message')} was recorded whole, in {took:.1f} s"
        yield Finding("self-test", OK, what)


def _recorded(log: str) -> tuple[list[str], int]:
    """Return what is wrong with what was recorded, and how many messages that is."""
    with open_recording(log) as recording:
        row = recording.connection()
        found = [*recording.check_integrity(), *recording.verify(row.id), *recording.losses]
        asked = [message.method for message in recording.messages(row.id, kind="request")]
        odd = [message.seq for message in recording.messages(row.id) if message.flags]
    if asked != _METHODS:
        found.append(f"of its requests were recorded: {', '.join(map(str, asked)) or 'none'}")
    if odd:
        found.append(f"message {odd[0]} is flagged")
    if (row.status, row.exit_code) != ("exited", 0):
        found.append(f"its agent ended as {row.status}, exit code {row.exit_code}")
    return found, row.messages
