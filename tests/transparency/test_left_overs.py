"""A journal that was left over gets into the log exactly once, whoever takes it in or dies of it."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from contextlib import ExitStack

import pytest

from tests.harness import PROXY, Log, Process, end_process, needs_linux, wait_gone, wait_until
from tests.transparency.conversation import Conversation

pytestmark = needs_linux


def leave_over(log: Log, size: int) -> Conversation:
    """Hold a conversation whose recorder is stopped early and killed when it is over."""
    with Conversation(log) as conversation:
        conversation.talk()
        (pid,) = wait_until(log.recorders, "a recorder runs")
        os.kill(pid, signal.SIGSTOP)
        conversation.talk_much(size)
    end_process(pid)
    wait_gone(pid, "the stopped recorder")
    assert len(log.journals()) == 1
    return conversation


def assert_taken_in_once(conversation: Conversation) -> None:
    """Fail unless the log holds just this conversation, byte for byte."""
    log = conversation.log
    conversation.assert_complete(log.connection())
    assert log.export("client") == conversation.said
    assert log.export("agent") == conversation.said
    log.assert_clean()
    assert list(log.journals_path.iterdir()) == []


@pytest.mark.slow
def test_readers_and_recorders_that_are_killed_on_the_way_lose_and_double_nothing(
    log: Log,
) -> None:
    conversation = leave_over(log, 1_500_000)
    chance = random.Random(12)
    for _ in range(10):
        with Process([str(PROXY), "connections", "--log", str(log.path)]) as reader:
            time.sleep(chance.random() * 0.3)  # a random moment; nothing is waited for
            reader.signal(signal.SIGKILL)
            reader.wait()
        for pid in log.recorders():
            end_process(pid)
            wait_gone(pid, "a killed recorder")

    assert_taken_in_once(conversation)


@pytest.mark.slow
def test_many_readers_at_once_take_it_in_once_and_all_see_all_of_it(log: Log) -> None:
    conversation = leave_over(log, 500_000)
    command = [str(PROXY), "connections", "--json", "--log", str(log.path)]
    with ExitStack() as stack:
        readers = [stack.enter_context(Process(command)) for _ in range(5)]
        for reader in readers:
            (connection,) = json.loads(reader.stdout.wait_end())
            conversation.assert_complete(connection)
            assert reader.stderr.wait_end() == b""
            assert reader.wait() == 0

    assert_taken_in_once(conversation)
