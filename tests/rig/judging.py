"""What must hold after a conversation: what the log tells is what the client saw, and nothing else.

Each check yields sentences, one for each thing that is not so.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any

from tests.rig.account import Account, differences
from tests.rig.asking import ask
from tests.rig.capture import STREAMS
from tests.rig.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.harness import Log
    from tests.rig.capture import Capture
    from tests.rig.playing import Played
    from tests.rig.plays import Play


def judge(play: Play, played: Played) -> tuple[Account, Counter[str], list[str]]:
    """Return what was seen, the flags in the log, and all complaints."""
    seen = read(played.capture.lines)
    told = ask(played.log)
    flags = Counter(flag for row in played.log.messages() for flag in row.get("flags") or [])
    complaints = chain(
        differences(seen, told),
        _bytes(played.capture, played.log),
        _ending(played.capture, played.log),
        _soundness(played.log),
        (f"{flags[flag]} messages are flagged {flag}" for flag in flags.keys() - play.odd.keys()),
        _happened(play, seen),
        _scripted(play, played, told) if play.client == "script" else _printed(played),
    )
    return seen, flags, list(complaints)


def _bytes(capture: Capture, log: Log) -> Iterator[str]:
    for stream in STREAMS:
        if capture.stream(stream) != log.export(stream):
            yield f"the bytes of {stream} are not those that went by"


def _ending(capture: Capture, log: Log) -> Iterator[str]:
    connection = log.connection()
    ended = connection["exitCode"] if connection["signal"] is None else -connection["signal"]
    if ended != capture.status:
        yield f"the agent ended with {ended}, for the client with {capture.status}"
    if connection["gaps"]:
        yield f"gaps: {connection['gaps']}"


def _soundness(log: Log) -> Iterator[str]:
    done = log.ask("verify")
    if done.returncode != 0:
        yield f"verify: {(done.stdout + done.stderr).decode(errors='replace')}"


def _happened(play: Play, seen: Account) -> Iterator[str]:
    """Without these there would be nothing to compare."""
    yield from (f"there are no {name}" for name in play.has if not getattr(seen, name))
    if "@" in play.scenarios and not any("cancelled" in ends for ends in seen.ends.values()):
        yield "no turn was cancelled"


def _scripted(play: Play, played: Played, told: Account) -> Iterator[str]:
    """client.py keeps an account of its own: updates by kind, its choices, and its troubles."""
    summary: Any = played.summary
    kinds = {kind: n for kind, n in summary["updates"].items() if "/" not in kind}
    if kinds != told.updates:
        yield f"client.py counted {kinds}, the log {told.updates}"
    events = [event for event in summary["events"] if event["what"] == "permission"]
    chosen = [(each["id"], each["choose"]) for each in events if "kinds" in each]
    selected = [
        (each["requestId"], each["optionId"])
        for each in told.permissions
        if each["status"] == "selected"
    ]
    if chosen != selected:
        yield f"client.py chose {chosen}, the log has {selected}"
    if troubles := [each for each in summary["errors"] if each not in play.troubles]:
        yield f"client.py complains: {troubles}"


def _printed(played: Played) -> Iterator[str]:
    """acpx prints each message that it sends or gets."""
    if played.status != 0:
        yield f"acpx ended with {played.status}"
    printed = Counter(map(_plain, played.printed.splitlines()))
    sent = Counter(
        _plain(line.raw) for line in played.capture.lines if line.sender in {"client", "agent"}
    )
    for text in sorted((printed - sent) + (sent - printed)):
        yield f"acpx printed {printed[text]} times, {sent[text]} went by: {text}"


def _plain(line: bytes) -> str:
    return json.dumps(json.loads(line), sort_keys=True)
