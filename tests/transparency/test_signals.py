"""Signals reach the agent once, deaths reach the client, and nobody is left behind."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.agents.counts_signals import NAMES
from tests.harness import (
    Log,
    Process,
    Way,
    agent,
    children,
    is_gone,
    needs_linux,
    process_state,
    wait_gone,
    wait_until,
)

pytestmark = needs_linux


def agent_of(process: Process, way: Way) -> int:
    """Return the process id of the agent itself."""
    return process.child() if way.log else process.pid


def test_each_signal_reaches_the_agent_exactly_once(way: Way) -> None:
    with way.start(agent("counts_signals")) as process:
        process.stdout.wait_for(b"ready")
        for turn, name in enumerate(NAMES, 1):
            process.signal(signal.Signals[name])
            process.stdout.wait_for(f"got {name}\n".encode())
            process.send(b"ping\n")
            process.stdout.wait_count(len("pong\n") * turn)
        process.close_stdin()
        output = process.stdout.wait_end()
        assert process.wait() == 0
        assert process.stderr.wait_end() == b""

    assert output.count(b"pong\n") == len(NAMES)
    totals = json.loads(output.rpartition(b"totals ")[2])
    assert totals == dict.fromkeys(NAMES, 1)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"])
def test_a_signal_that_kills_the_agent_is_mirrored(way: Way, name: str) -> None:
    with way.start(["cat"]) as process:
        process.send(b"hello\n")
        process.stdout.wait_for(b"hello\n")
        process.signal(signal.Signals[name])
        assert process.wait() == -signal.Signals[name]
        assert process.stdout.wait_end() == b"hello\n"
        assert process.stderr.wait_end() == b""

    way.assert_recorded(client=b"hello\n", agent=b"hello\n", stderr=b"")


def test_a_signal_to_the_agent_itself_is_mirrored(way: Way) -> None:
    with way.start(["cat"]) as process:
        process.send(b"hello\n")
        process.stdout.wait_for(b"hello\n")
        os.kill(agent_of(process, way), signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert process.stderr.wait_end() == b""


def test_a_signal_to_the_whole_group_ends_both(way: Way) -> None:
    with way.start(["cat"], process_group=0) as process:
        process.send(b"hello\n")
        process.stdout.wait_for(b"hello\n")
        os.killpg(process.pid, signal.SIGTERM)
        assert process.wait() == -signal.SIGTERM
        assert process.stderr.wait_end() == b""


@pytest.mark.slow
def test_a_signal_at_any_moment_of_the_start_ends_it(way: Way) -> None:
    chance = random.Random(4)
    for _ in range(8):
        with way.start(["cat"]) as process:
            time.sleep(chance.random() * 0.25)  # a random moment; nothing is waited for
            process.signal(signal.SIGTERM)
            assert process.wait() == -signal.SIGTERM
            assert process.stdout.wait_end() == b""
            assert process.stderr.wait_end() == b""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_as_soon_as_the_agent_lives_ends_it_silently(
    log: Log, proxied: Way, name: str
) -> None:
    for _ in range(4):
        with proxied.start(["cat"]) as process:
            the_agent = process.child()
            wait_until(lambda pid=the_agent: command_of(pid) == b"cat\0", "the agent lives")  # type: ignore[misc]
            process.signal(signal.Signals[name])
            assert process.wait() == -signal.Signals[name]
            assert process.stdout.wait_end() + process.stderr.wait_end() == b""

    assert {c["signal"] for c in log.connections()} == {signal.Signals[name]}


def test_an_agent_that_minds_no_signal_talks_on(way: Way) -> None:
    with way.start(["sh", "-c", "trap '' TERM INT HUP; echo ready; cat; exit 3"]) as process:
        process.stdout.wait_for(b"ready\n")
        for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGTERM"):
            process.signal(signal.Signals[name])
        process.send(b"hello\n")
        process.stdout.wait_for(b"hello\n")
        process.close_stdin()
        assert process.wait() == 3
        assert process.stderr.wait_end() == b""


@pytest.mark.parametrize("how", ["3", "SIGSEGV"])
def test_the_end_is_mirrored_for_a_client_that_ignores_its_children(way: Way, how: str) -> None:
    launcher = agent("with_signals", "SIGCHLD", "")
    with Process([*launcher, *way.command(agent("last_words", how))]) as process:
        assert process.wait() == (3 if how == "3" else -signal.SIGSEGV)
        assert process.stderr.wait_end() == b"goodbye\n"


def test_a_flood_of_signals_is_survived(way: Way) -> None:
    with way.start(agent("counts_signals")) as process:
        process.stdout.wait_for(b"ready")
        for _ in range(1000):
            process.signal(signal.SIGUSR1)
            process.signal(signal.SIGWINCH)
        process.stdout.wait_for(b"got SIGUSR1")
        process.send(b"ping\n")
        process.stdout.wait_for(b"pong\n")
        process.close_stdin()
        assert process.wait() == 0
        assert process.stderr.wait_end() == b""


@pytest.mark.slow
def test_a_proxy_behind_a_proxy_is_as_transparent(log: Log, proxied: Way) -> None:
    twice = proxied.command(proxied.command(agent("counts_signals")))
    with Process(twice) as process:
        process.stdout.wait_for(b"ready")
        process.signal(signal.SIGINT)
        process.stdout.wait_for(b"got SIGINT\n")
        process.send(b"ping\n")
        process.stdout.wait_for(b"pong\n")
        process.close_stdin()
        assert process.stdout.wait_end().endswith(b'totals {"SIGINT": 1}\n')
        assert process.wait() == 0
    with Process(proxied.command(proxied.command(agent("ignores_eof")))) as process:
        process.close_stdin()
        process.stdout.wait_for(b"still here\n")
        inner = process.child()
        proxy = command_of(inner)  # also that of its recorder, for the moment before it is executed
        commands = {pid: command_of(pid) for pid in children(inner)}
        (the_agent,) = [
            pid for pid, words in commands.items() if b"ignores_eof" in words and words != proxy
        ]
        process.signal(signal.SIGKILL)
        process.wait()
        wait_gone(inner, "the inner proxy")
        wait_gone(the_agent, "the agent")

    assert [c["status"] for c in log.connections()] == ["lost", "lost", "exited", "exited"]
    log.assert_clean()


def command_of(pid: int) -> bytes:
    """Return the command line of a process, as the kernel holds it."""
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_a_group_that_is_stopped_and_continued_goes_on(way: Way) -> None:
    with way.start(agent("echo"), process_group=0) as process:
        process.send(b"one\n")
        process.stdout.wait_for(b"one\n")
        the_agent = agent_of(process, way)
        os.killpg(process.pid, signal.SIGTSTP)
        wait_until(lambda: process_state(process.pid) == "T", "the started process is stopped")
        wait_until(lambda: process_state(the_agent) == "T", "the agent is stopped")
        os.killpg(process.pid, signal.SIGCONT)
        process.send(b"two\n")
        assert process.stdout.wait_for(b"two\n") == b"one\ntwo\n"
        process.close_stdin()
        assert process.wait() == 0


@pytest.mark.slow
def test_killing_the_proxy_leaves_no_agent(log: Log, proxied: Way) -> None:
    with proxied.start(agent("ignores_eof")) as process:
        process.send(b'{"jsonrpc":"2.0","id":1,"method":"x"}\n')
        the_agent = process.child()
        wait_until(log.journals, "the journal is there")
        process.signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        wait_gone(the_agent, "the agent")
        assert process.stdout.wait_end() in {b"", b"still here\n"}
        assert process.stderr.wait_end() == b""

    assert log.connection()["status"] == "lost"
    log.assert_clean()


@pytest.mark.slow
def test_killing_the_group_leaves_nobody_but_the_recorder(log: Log, proxied: Way) -> None:
    with proxied.start(agent("echo"), process_group=0) as process:
        process.send(b"hello\n")
        process.stdout.wait_for(b"hello\n")
        the_agent = process.child()
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        wait_gone(the_agent, "the agent")
        assert process.stdout.wait_end() == b"hello\n"

    connection = log.connection()
    assert connection["status"] == "lost"
    assert connection["bytes"] == {"client": 6, "agent": 6, "stderr": 0}
    log.assert_clean()
    assert log.journals() == []
    wait_until(lambda: not log.recorders(), "the recorder has ended")


def test_the_recorder_ends_when_its_conversation_has_ended(log: Log, proxied: Way) -> None:
    with proxied.start(agent("echo")) as process:
        process.send(b"hello\n")
        process.stdout.wait_for(b"hello\n")
        recorders = wait_until(log.recorders, "a recorder runs")
        assert all(os.getsid(pid) != os.getsid(process.pid) for pid in recorders)
        assert all(os.getpgid(pid) != os.getpgid(process.pid) for pid in recorders)
        process.close_stdin()
        assert process.wait() == 0

    wait_until(lambda: all(is_gone(pid) for pid in recorders), "the recorder has ended")
    assert log.journals() == []


@pytest.mark.parametrize(
    ("ignored", "blocked"),
    [("", ""), ("SIGHUP", ""), ("SIGINT,SIGQUIT", ""), ("SIGUSR1,SIGCHLD", "SIGUSR2,SIGTERM")],
)
def test_the_agent_inherits_the_clients_signal_settings(
    way: Way, ignored: str, blocked: str
) -> None:
    launcher = agent("with_signals", ignored, blocked)
    with Process([*launcher, *way.command(["cat", "/proc/self/status"])]) as process:
        status = process.stdout.wait_end().decode()
        assert process.wait() == 0

    seen = dict(line.split(":\t") for line in status.splitlines() if line.startswith("Sig"))
    masks = {
        field: {name for name in SETTABLE if int(seen[field], 16) >> (signal.Signals[name] - 1) & 1}
        for field in ("SigIgn", "SigBlk")
    }
    assert masks["SigIgn"] == set(filter(None, ignored.split(",")))
    assert masks["SigBlk"] == set(filter(None, blocked.split(",")))


SETTABLE = [number.name for number in signal.Signals if number.name not in {"SIGPIPE", "SIGXFSZ"}]
"""Python ignores the two others for itself and cannot know what they were before."""


def test_an_ignored_hangup_stays_ignored(way: Way) -> None:
    launcher = agent("with_signals", "SIGHUP", "")
    with Process([*launcher, *way.command(["cat"])]) as process:
        process.send(b"hello\n")
        process.stdout.wait_for(b"hello\n")
        process.signal(signal.SIGHUP)
        process.send(b"again\n")
        process.stdout.wait_for(b"again\n")
        process.close_stdin()
        assert process.wait() == 0


def test_the_agent_is_in_the_clients_process_group(way: Way) -> None:
    with way.start(agent("surroundings"), process_group=0) as process:
        seen = json.loads(process.stdout.wait_end())
        assert process.wait() == 0

    assert seen["group"] == process.pid
    assert seen["session"] == os.getsid(0)
