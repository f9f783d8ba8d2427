"""Many proxies record into one fresh log while somebody keeps reading it."""

from __future__ import annotations

import json
import threading
from contextlib import ExitStack
from typing import Any

import pytest

from tests.agents.floods_stderr import flood
from tests.agents.streams import frame
from tests.harness import Log, Process, Sender, Way, agent, assert_holds, needs_linux

pytestmark = needs_linux

PROXIES = 8


class Reader(threading.Thread):
    """Polls the log's connections until told to stop, and keeps what went wrong."""

    def __init__(self, log: Log) -> None:
        super().__init__(daemon=True)
        self.log, self.stop = log, threading.Event()
        self.errors: list[str] = []
        self.answers: list[list[dict[str, Any]]] = []
        self.start()

    def run(self) -> None:
        while not self.stop.is_set() and len(self.answers) < 10_000:
            was_there = self.log.path.exists()
            done = self.log.ask("connections", "--json")
            if done.returncode == 0 and not done.stderr:
                self.answers.append(json.loads(done.stdout))
            elif was_there and b"there is no log" not in done.stderr:  # it is being made
                self.errors.append(f"{done.returncode} {done.stderr.decode()}")


@pytest.mark.slow
def test_eight_proxies_and_a_reader_share_a_fresh_log_and_nothing_is_lost(log: Log) -> None:
    sent = {
        str(number): b"".join(frame(number * 10_000 + line) for line in range(2_000))
        for number in range(PROXIES)
    }
    command = agent("floods_stderr", 5_000)
    reader = Reader(log)
    with ExitStack() as stack:
        processes = {
            label: stack.enter_context(Process(Way(log).command(command, "--label", label)))
            for label in sent
        }
        senders = [Sender(processes[label].stdin_fd, [data]) for label, data in sent.items()]
        for sender in senders:
            sender.finish()
        for label, process in processes.items():
            process.stdout.wait_count(len(sent[label]))
        for label, process in processes.items():
            process.close_stdin()
            assert process.stdout.wait_end() == sent[label]
            assert process.stderr.wait_end() == flood(5_000)
            assert process.wait() == 2
    connections = log.connections()
    reader.stop.set()
    reader.join(120)

    assert not reader.is_alive()
    assert reader.errors == []
    assert reader.answers
    assert sorted(connection["label"] for connection in connections) == sorted(sent)
    assert len({connection["uuid"] for connection in connections}) == PROXIES
    for connection in connections:
        data = sent[connection["label"]]
        assert_holds(connection, client=data, agent=data, stderr=flood(5_000))
        assert connection["exitCode"] == 2
    log.assert_clean()
    assert log.journals() == []
