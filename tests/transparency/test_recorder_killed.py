"""The recorder may be killed, again and again, or stopped: the journal holds everything."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.harness import Log, Way, agent, end_process, needs_linux, wait_gone, wait_until
from tests.transparency.conversation import Conversation

pytestmark = needs_linux

STARTS = 4
"""The recorder is started once, and three times again."""


def kill_recorder(log: Log) -> int:
    """Wait for a recorder, kill it, and return its process id."""
    (pid,) = wait_until(log.recorders, "a recorder runs")
    end_process(pid)
    wait_gone(pid, "the killed recorder")
    return pid


def assert_recorded(conversation: Conversation) -> None:
    """Fail unless the log holds just this conversation."""
    conversation.assert_complete(conversation.log.connection())
    conversation.log.assert_clean()
    assert conversation.log.journals() == []


def test_a_recorder_that_is_killed_is_replaced(log: Log) -> None:
    with Conversation(log) as conversation:
        conversation.talk()
        killed = kill_recorder(log)
        conversation.talk()
        assert wait_until(log.recorders, "another recorder runs") != [killed]
        conversation.talk()

    assert_recorded(conversation)


@pytest.mark.slow
def test_recorders_that_are_killed_again_and_again_are_given_up(log: Log) -> None:
    with Conversation(log) as conversation:
        killed = set()
        for _ in range(STARTS):
            killed.add(kill_recorder(log))
            conversation.talk()
        assert len(killed) == STARTS
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            conversation.talk(1)
            assert log.recorders() == []
        (journal,) = log.journals()

    assert log.journals() == [journal]
    assert_recorded(conversation)


@pytest.mark.slow
def test_a_recorder_killed_before_the_end_leaves_the_rest_to_the_next_command(log: Log) -> None:
    with Conversation(log) as conversation:
        conversation.talk()
        (pid,) = wait_until(log.recorders, "a recorder runs")
        os.kill(pid, signal.SIGSTOP)
        conversation.talk_much(1_000_000)
    assert log.recorders() == [pid]
    end_process(pid)
    wait_gone(pid, "the stopped recorder")

    assert_recorded(conversation)


@pytest.mark.slow
def test_a_recorder_that_is_stopped_stops_nobody(log: Log) -> None:
    with Conversation(log) as conversation:
        conversation.talk()
        (pid,) = wait_until(log.recorders, "a recorder runs")
        os.kill(pid, signal.SIGSTOP)
        conversation.talk_much(1_000_000)
    told = log.ask("log", "info", "--json")
    os.kill(pid, signal.SIGCONT)

    assert told.returncode == 0
    assert_recorded(conversation)


def test_left_overs_of_killed_recorders_are_picked_up_by_the_next_run(log: Log) -> None:
    left = Conversation(log)
    with left:
        left.talk()
        (pid,) = wait_until(log.recorders, "a recorder runs")
        os.kill(pid, signal.SIGSTOP)
        left.talk()
    end_process(pid)
    wait_gone(pid, "the stopped recorder")

    with Way(log).start(agent("echo")) as process:
        process.send(b"x")
        process.close_stdin()
        assert process.wait() == 0
    first, second = reversed(log.connections())
    left.assert_complete(first)
    assert second["bytes"] == {"client": 1, "agent": 1, "stderr": 0}
    assert log.journals() == []
    log.assert_clean()
