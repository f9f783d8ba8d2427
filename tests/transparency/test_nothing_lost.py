"""Whoever is killed, at whatever moment: every byte that had arrived is in the log, once."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents.streams import frame
from tests.harness import Log, Process, Way, agent, end_process, needs_linux, wait_gone, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

pytestmark = needs_linux

RUNS = int(os.environ.get("ACP_TEST_KILLS", "7"))
"""Runs per victim."""

FRAMES = 8_000
EVERYTHING = b"".join(map(frame, range(FRAMES)))


@dataclass
class Outcome:
    """What the peers had in their hands when it was over."""

    label: str
    client_got: bytes
    client_sent: bytes
    agent_got: int


def questions() -> Iterator[bytes]:
    """Yield what the client sends: numbered notifications, as many as anybody takes."""
    for number in range(2_000):
        yield b'{"jsonrpc":"2.0","method":"_q","params":{"n":%d,"pad":"%090d"}}\n' % (
            number,
            number,
        )


def recorder_of(process: Process, log: Log) -> list[int]:
    """Return the recorders of this very proxy: those that know its journal."""
    journals = {path.name.encode() for path in log.journals() if journal_is_held(process, path)}
    found = []
    for pid in log.recorders():
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                line = file.read()
            if any(name in line for name in journals):
                found.append(pid)
    return found


def journal_is_held(process: Process, path: Path) -> bool:
    """Tell whether the proxy has this journal open."""
    folder = f"/proc/{process.pid}/fd"
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                if os.readlink(f"{folder}/{name}") == str(path):
                    return True
    return False


def kill(victim: str, process: Process, recorders: list[int]) -> None:
    """Kill whom this round is about, and only processes of this round."""
    if "recorder" in victim:
        for pid in recorders:
            end_process(pid)
    if "proxy" in victim:
        process.signal(signal.SIGKILL)
    if "group" in victim:
        os.killpg(process.pid, signal.SIGKILL)


def one_run(log: Log, counter: Path, victim: str, chance: random.Random) -> Outcome:
    """Let a fast stream run, kill the victim after a random number of bytes, and look."""
    label = counter.name
    counter.write_bytes(bytes(8))
    moment = int(chance.random() ** 2 * FRAMES * 200)
    sent = bytearray()
    command = Way(log).command(agent("streams", FRAMES, counter), "--label", label)
    with Process(command, process_group=0, read_stdout=False) as process:

        def ask() -> None:
            with contextlib.suppress(OSError):
                for question in questions():
                    sent.extend(question)  # before: a part of it may already have arrived
                    process.send(question)

        asker = threading.Thread(target=ask)
        asker.start()
        recorders: list[int] = []
        if "recorder" in victim:
            recorders = wait_until(lambda: recorder_of(process, log), "a recorder runs")
        process.collect_stdout().wait_count(moment)
        kill(victim, process, recorders)
        if victim == "recorder":
            asker.join()
            process.close_stdin()
            assert process.wait() == 0
        else:
            assert process.wait() == -signal.SIGKILL
        got = process.stdout.wait_end()
        assert process.stderr.wait_end() == b""
        asker.join()
        for pid in recorders:
            wait_gone(pid, "the killed recorder")
    return Outcome(label, got, bytes(sent), struct.unpack("<q", counter.read_bytes())[0])


def check(log: Log, victim: str, outcome: Outcome, connection: Mapping[str, Any]) -> None:
    """Fail unless the log holds what the peers had, exactly once and in order."""
    recorded = log.export("agent", connection["uuid"])
    assert recorded.startswith(outcome.client_got)
    assert EVERYTHING.startswith(recorded)
    asked = log.export("client", connection["uuid"])
    assert len(asked) >= outcome.agent_got
    assert outcome.client_sent.startswith(asked)
    assert connection["gaps"] == []
    assert connection["bytes"] == {"client": len(asked), "agent": len(recorded), "stderr": 0}
    if victim == "recorder":
        assert outcome.client_got == recorded == EVERYTHING
        assert outcome.client_sent == asked
        assert (connection["status"], connection["exitCode"]) == ("exited", 0)
    else:
        assert connection["status"] == "lost"


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["proxy", "group", "recorder", "group and recorder"])
def test_every_byte_that_arrived_is_in_the_log_after_killing_the(
    log: Log, tmp_path: Path, victim: str
) -> None:
    chances = [random.Random(f"{victim} {number}") for number in range(RUNS)]
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(
            pool.map(
                lambda number: one_run(log, tmp_path / f"run-{number}", victim, chances[number]),
                range(RUNS),
            )
        )

    if victim != "recorder":
        cut = [outcome for outcome in outcomes if len(outcome.client_got) < len(EVERYTHING)]
        assert len(cut) > RUNS // 2, "hardly any stream was killed in the middle"
    connections = {connection["label"]: connection for connection in log.connections()}
    assert len(connections) == RUNS
    with ThreadPoolExecutor(2) as pool:
        checks = [
            pool.submit(check, log, victim, outcome, connections[outcome.label])
            for outcome in outcomes
        ]
    for done in checks:
        done.result()
    log.assert_clean()
    assert log.journals() == []
