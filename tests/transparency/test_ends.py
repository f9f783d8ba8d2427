"""However a conversation ends, the client sees the end it would see without the proxy."""

from __future__ import annotations

import os
import random
import select
import signal
import socket
import subprocess
import time
from itertools import repeat
from typing import TYPE_CHECKING

import pytest

from tests.harness import (
    LIMIT,
    PIPE,
    Log,
    Process,
    Sender,
    Way,
    agent,
    needs_linux,
    receive,
    wait_until,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_linux

SOON = 10.0
"""Seconds in which a process ends that has no reason to wait; generous on a busy machine."""


@pytest.mark.parametrize("code", [0, 3, 127, 255])
def test_the_exit_code_is_mirrored_while_the_clients_input_is_open(way: Way, code: int) -> None:
    with way.start(agent("last_words", code)) as process:
        assert process.wait(SOON) == code
        assert process.stdout.wait_end() == b'{"last":"words"}\n'
        assert process.stderr.wait_end() == b"goodbye\n"

    way.assert_recorded(client=b"", agent=b'{"last":"words"}\n', stderr=b"goodbye\n")
    if way.log:
        connection = way.log.connection()
        assert connection["status"] == "exited"
        assert connection["exitCode"] == code
        assert connection["signal"] is None


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGINT", "SIGPIPE", "SIGABRT"])
def test_death_by_a_signal_is_mirrored(way: Way, name: str) -> None:
    number = signal.Signals[name]
    with way.start(agent("last_words", name)) as process:
        assert process.wait(SOON) == -number
        assert process.stdout.wait_end() == b'{"last":"words"}\n'
        assert process.stderr.wait_end() == b"goodbye\n"

    way.assert_recorded(client=b"", agent=b'{"last":"words"}\n', stderr=b"goodbye\n")
    if way.log:
        connection = way.log.connection()
        assert connection["status"] == "killed"
        assert connection["signal"] == number


def test_answers_after_the_end_of_input_are_delivered(way: Way) -> None:
    questions = b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"x"}\n' % n for n in range(500))
    answers = b"".join(b'{"jsonrpc":"2.0","id":%d,"result":{}}\n' % n for n in range(500))
    with way.start(agent("answers_late")) as process:
        process.send(questions)
        process.close_stdin()
        assert process.stdout.wait_end() == answers
        assert process.wait(SOON) == 3

    way.assert_recorded(client=questions, agent=answers, stderr=b"")


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_an_agent_whose_client_closes_its_output_gets_the_same_error(
    way: Way, kind: str, tmp_path: Path
) -> None:
    report = tmp_path / "report"
    ours, theirs = socket.socketpair() if kind == "socket" else (None, None)
    with way.start(
        agent("writes_until_broken", report),
        read_stdout=False,
        stdout=theirs.fileno() if theirs else PIPE,
    ) as process:
        if ours and theirs:
            theirs.close()
            assert receive(ours.fileno(), 100) != b""
            ours.close()
        else:
            assert receive(process.stdout_fd, 100) != b""
            process.close_stdout()
        assert process.wait() == 7
        assert process.stderr.wait_end() == b""

    assert report.read_text() in {"BrokenPipeError", "ConnectionResetError"}


def test_an_agent_that_dies_of_a_broken_pipe_dies_so_through_the_proxy(way: Way) -> None:
    with way.start(["yes"], read_stdout=False) as process:
        assert receive(process.stdout_fd, 100).startswith(b"y\n")
        process.close_stdout()
        assert process.wait() == -signal.SIGPIPE
        assert process.stderr.wait_end() == b""


def test_what_the_client_says_goes_on_after_it_closed_its_output(way: Way, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    said = random.Random(7).randbytes(500_000)
    with way.start(["sh", "-c", f"cat > {heard}; exit 3"], read_stdout=False) as process:
        process.close_stdout()
        process.send(said)
        process.close_stdin()
        assert process.wait() == 3
        assert process.stderr.wait_end() == b""

    assert heard.read_bytes() == said
    way.assert_recorded(client=said, agent=b"", stderr=b"")


def test_an_agent_may_close_its_output_and_live(way: Way) -> None:
    with way.start(agent("closes_stdout")) as process:
        assert process.stdout.wait_end() == b'{"only":"line"}\n'
        process.stderr.wait_for(b"output closed\n")
        assert process.running
        process.send(b"go\n")
        assert process.wait(SOON) == 5
        assert process.stderr.wait_end() == b"output closed\nwas told go\n"

    way.assert_recorded(
        client=b"go\n", agent=b'{"only":"line"}\n', stderr=b"output closed\nwas told go\n"
    )


def closed_input_lines(output: bytes) -> int:
    """Check what ``closes_stdin`` said, line by line, and return how many numbers it counted."""
    lines = output.splitlines()
    assert lines[0] == b"closed"
    assert lines[1:-1] == [b'{"n":%d}' % number for number in range(len(lines) - 2)]
    assert lines[-1] == b"last %d" % (len(lines) - 2)
    return len(lines) - 2


def test_a_client_that_watches_its_pipe_sees_that_the_agent_closed_its_input(
    way: Way, tmp_path: Path
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with way.start(agent("closes_stdin", fifo)) as process:
        process.stdout.wait_for(b"closed\n")
        poll = select.poll()
        poll.register(process.stdin_fd, 0)  # errors are always reported
        wait_until(lambda: poll.poll(0), "the client's pipe is broken")
        with pytest.raises(BrokenPipeError):
            process.send(b"x")
        process.stdout.wait_for(b'{"n":100}\n')
        fifo.write_bytes(b"enough")
        assert process.wait(SOON) == 4
        assert closed_input_lines(process.stdout.wait_end()) >= 100
        assert process.stderr.wait_end() == b""


def test_a_client_that_keeps_writing_gets_the_broken_pipe_and_every_line(
    way: Way, tmp_path: Path
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with way.start(agent("closes_stdin", fifo)) as process:
        process.send(b'{"jsonrpc":"2.0","method":"early"}\n')
        process.stdout.wait_for(b"closed\n")
        sender = Sender(process.stdin_fd, repeat(b'{"jsonrpc":"2.0","method":"x"}\n', 10_000_000))
        with pytest.raises(BrokenPipeError):
            sender.finish()
        process.stdout.wait_for(b'{"n":100}\n')
        fifo.write_bytes(b"enough")
        assert process.wait(SOON) == 4
        assert closed_input_lines(process.stdout.wait_end()) >= 100
        assert process.stderr.wait_end() == b""


def test_a_client_blocked_in_a_write_is_released_when_the_agent_ends(way: Way) -> None:
    with way.start([*agent("last_words", 3)]) as process:
        with pytest.raises(BrokenPipeError):
            process.send(bytes(50_000_000))
        assert process.wait(SOON) == 3
        assert process.stdout.wait_end() == b'{"last":"words"}\n'


def test_a_burst_before_the_end_arrives_whole_at_a_slow_client(way: Way) -> None:
    size = 1_500_000
    expected = random.Random(5).randbytes(size)
    got = bytearray()
    with way.start(agent("burst", size, 5), read_stdout=False) as process:
        while chunk := receive(process.stdout_fd, 8192):
            got += chunk
            time.sleep(0.002)  # this client is slow; nothing waits for it
        assert process.wait(SOON) == 9

    assert got == expected
    way.assert_recorded(agent=expected)


def test_a_client_that_reads_nothing_can_still_end_it(way: Way) -> None:
    with way.start(agent("burst", 150_000, 8), read_stdout=False) as process:
        assert select.select([process.stdout_fd], [], [], LIMIT)[0]
        process.signal(signal.SIGTERM)
        assert process.wait(SOON) in {-signal.SIGTERM, 9}  # 9: the proxy took what was left
        assert process.stderr.wait_end() == b""


def test_an_answer_that_fits_the_pipe_needs_no_reader_for_the_end(way: Way) -> None:
    expected = random.Random(6).randbytes(50_000)
    with way.start(agent("burst", len(expected), 6), read_stdout=False) as process:
        assert process.wait(SOON) == 9
        assert process.collect_stdout().wait_end() == expected


def test_an_agent_may_ignore_the_end_of_input(way: Way) -> None:
    with way.start(agent("ignores_eof")) as process:
        process.send(b"x\n")
        process.close_stdin()
        process.stdout.wait_for(b"still here\n")
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.signal(signal.SIGTERM)
        assert process.stdout.wait_end() == b"still here\ntold to go\n"
        assert process.wait(SOON) == 6


def test_the_end_does_not_wait_for_a_grandchild_that_holds_the_streams(
    way: Way, tmp_path: Path
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with way.start(agent("leaves_child", fifo)) as process:
        try:
            process.stdout.wait_for(b'{"parent":"done"}\n')
            assert process.wait(SOON) == 4
        finally:
            fifo.write_bytes(b"")
        assert process.stdout.wait_end() == b'{"parent":"done"}\n'


@pytest.mark.parametrize("name", ["no-such-agent-anywhere", "./missing", "/missing/agent"])
def test_a_command_that_is_not_found_is_told_and_ends_127(log: Log, name: str) -> None:
    with Process(Way(log).command([name, "--acp"])) as process:
        assert process.wait() == 127
        assert process.stdout.wait_end() == b""
        assert name.encode() in process.stderr.wait_end()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_command_that_is_not_executable_is_told_and_ends_126(
    log: Log, tmp_path: Path, kind: str
) -> None:
    command = tmp_path / "agent"
    if kind == "file":
        command.write_text("#!/bin/sh\n")
        command.chmod(0o644)
    else:
        command.mkdir()
    with Process(Way(log).command([str(command)])) as process:
        assert process.wait() == 126
        assert process.stdout.wait_end() == b""
        assert str(command).encode() in process.stderr.wait_end()
