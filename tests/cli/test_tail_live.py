"""``tail -f`` beside real proxies and real agents: what happens is told while it happens."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

from tests.cli.conversations import request, result, update
from tests.harness import (
    PROXY,
    Collector,
    Log,
    Process,
    agent,
    end_process,
    environment,
    needs_linux,
    receive,
    wait_until,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = needs_linux

CHUNK = "agent_message_chunk"


class Talk:
    """A client and an agent that say what the test wants, through a proxy."""

    def __init__(self, log: Log, fifo: Path) -> None:
        os.mkfifo(fifo)
        command = [str(PROXY), "run", "--log", str(log.path), "--", *agent("says", fifo)]
        self.process = Process(command)
        self._mouth = os.open(fifo, os.O_WRONLY)  # waits for the agent

    def say(self, message: dict[str, Any] | str) -> None:
        """Let the agent say a message, or a line on stderr."""
        line = f"!{message}" if isinstance(message, str) else json.dumps(message)
        os.write(self._mouth, f"{line}\n".encode())

    def ask(self, message: dict[str, Any]) -> None:
        """Let the client say a message."""
        self.process.send(json.dumps(message).encode() + b"\n")

    def wait(self, log: Log, count: int) -> None:
        """Wait until so many messages are in the log."""
        wait_until(lambda: log.recorded() >= count, "it is there")

    def end(self) -> None:
        """Let the agent end."""
        os.close(self._mouth)
        self._mouth = -1
        assert self.process.wait() == 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._mouth >= 0:
            os.close(self._mouth)
        self.process.__exit__()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    """A log that does not exist yet."""
    log = Log(tmp_path / "log.db")
    yield log
    for pid in log.recorders():
        end_process(pid)


@pytest.fixture
def talk(log: Log, tmp_path: Path) -> Iterator[Talk]:
    """A conversation with a first message in the log."""
    with Talk(log, tmp_path / "fifo") as talk:
        talk.ask(request(0, "session/new", cwd="/", mcpServers=[]))
        talk.wait(log, 1)
        talk.say(result(0, sessionId="s"))
        talk.wait(log, 2)
        talk.say("begun")
        talk.wait(log, 3)
        yield talk


def tail(log: Log, *options: str) -> Process:
    """Start to follow, in a process of its own."""
    return Process([str(PROXY), "tail", "--log", str(log.path), *options])


def update_of(text: str) -> dict[str, Any]:
    """Return a chunk of the agent's message."""
    return update(CHUNK, content={"type": "text", "text": text})


def test_each_thing_is_told_when_it_happens_until_the_end(log: Log, talk: Talk) -> None:
    with tail(log, "-f") as follower:
        follower.stdout.wait_for(b"begun\n")
        talk.ask(
            request(1, "session/prompt", sessionId="s", prompt=[{"type": "text", "text": "hi"}])
        )
        follower.stdout.wait_for(b"client  prompt      hi\n")
        talk.say(update("tool_call", toolCallId="c", title="Dig"))
        follower.stdout.wait_for(b"pending: Dig (c)\n")
        talk.say(update("tool_call_update", toolCallId="c", status="completed"))
        follower.stdout.wait_for(b": Dig (c)\n")
        talk.say(update_of("alone"))  # told though nothing comes after it
        follower.stdout.wait_for(b"alone\n")
        talk.say("a warning")
        follower.stdout.wait_for(b"stderr  line        a warning\n")
        assert follower.running
        talk.end()

        assert follower.wait() == 0
        assert follower.stdout.wait_end().endswith(b"proxy   end         exit 0\n")
        assert follower.stderr.wait_end() == b""


def test_no_word_of_a_message_is_lost_however_it_is_joined(log: Log, talk: Talk) -> None:
    words = [f"w{number} " for number in range(300)]
    with tail(log, "-f", "--jsonl") as follower:
        follower.stdout.wait_for(b"begun")
        for word in words:
            talk.say(update_of(word))
        talk.end()
        assert follower.wait() == 0
        lines = [json.loads(line) for line in follower.stdout.wait_end().splitlines()]

    told = [line for line in lines if line["what"] == "message"]
    assert "".join(line["text"] for line in told) == "".join(words)
    assert [line.get("goesOn", False) for line in told] == [False] + [True] * (len(told) - 1)
    seqs = [seq for line in told for seq in range(line["seq"], line["lastSeq"] + 1)]
    assert seqs == list(range(seqs[0], seqs[0] + 300))
    whole = log.ask("tail", "--jsonl", "-n", "1000").stdout.splitlines()
    [message] = [line for line in map(json.loads, whole) if line["what"] == "message"]
    assert message["text"] == "".join(words)


@pytest.mark.slow
def test_only_what_fits_is_told_live(log: Log, talk: Talk) -> None:
    with tail(log, "-f", "--from", "stderr", "--jsonl") as follower:
        follower.stdout.wait_for(b"begun")
        for number in range(20):
            talk.say(update("tool_call", toolCallId=f"c{number}", title="T"))
            talk.say(f"number {number}")
            follower.stdout.wait_for(b'"number %d"' % number)
        talk.end()
        assert follower.wait() == 0
        lines = [json.loads(line) for line in follower.stdout.wait_end().splitlines()]

    assert [line["text"] for line in lines[1:-1]] == [f"number {number}" for number in range(20)]
    assert lines[-1]["what"] == "end"


def test_all_connections_are_followed_also_those_that_begin(log: Log, tmp_path: Path) -> None:
    with tail(log, "--all") as follower:
        follower.stderr.wait_for(b"yet; waiting for one\n")
        with Talk(log, tmp_path / "one") as one, Talk(log, tmp_path / "two") as two:
            for number, talk in enumerate((one, two)):
                talk.say(f"talk {number}")
                follower.stdout.wait_for(b"talk %d\n" % number)
            one.end()
            follower.stdout.wait_for(b"exit 0\n")
            two.say("still here")
            follower.stdout.wait_for(b"still here\n")
            two.end()
        with Talk(log, tmp_path / "three") as three:
            three.say("late")
            shown = follower.stdout.wait_for(b"late\n")
        assert follower.running
        follower.signal(signal.SIGINT)
        assert follower.wait() == 130
        assert follower.stderr.wait_end().count(b"\n") == 1
    numbers = {line.split()[0] for line in shown.decode().splitlines()}
    assert numbers == {"#1", "#2", "#3"}


@pytest.mark.slow
def test_a_connection_whose_processes_were_all_killed_ends_too(log: Log, talk: Talk) -> None:
    with tail(log, "-f") as follower:
        follower.stdout.wait_for(b"begun\n")
        for pid in (talk.process.pid, *log.recorders()):
            end_process(pid)
        assert follower.wait() == 0
        assert follower.stdout.wait_end().endswith(b"proxy   end         lost\n")


@pytest.mark.slow
def test_following_an_idle_connection_reads_no_file(log: Log, talk: Talk) -> None:
    def number(name: str, key: str) -> int:
        lines = Path(f"/proc/{follower.pid}/{name}").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(key)).split()[1])

    def polls() -> int:
        return number("status", "voluntary_ctxt_switches:")

    with tail(log, "-f") as follower:
        follower.stdout.wait_for(b"begun\n")
        quiet = polls() + 10
        wait_until(lambda: polls() > quiet, "it polls")
        before = number("io", "rchar:")
        enough = polls() + 30
        wait_until(lambda: polls() > enough, "it polls")
        assert number("io", "rchar:") == before


def test_when_nobody_reads_any_more_it_ends(log: Log, talk: Talk) -> None:
    follower = Process([str(PROXY), "tail", "-f", "--log", str(log.path)], read_stdout=False)
    with follower:
        while b"begun" not in receive(follower.stdout_fd, 1000):
            pass
        follower.close_stdout()
        assert follower.wait() == 0
        assert follower.stderr.wait_end() == b""
        talk.end()


def test_an_interrupt_closes_the_document(log: Log, talk: Talk) -> None:
    with tail(log, "-f", "--json") as follower:
        follower.stdout.wait_for(b"begun")
        follower.signal(signal.SIGINT)
        assert follower.wait() == 130
        lines = json.loads(follower.stdout.wait_end())
        assert [line["seq"] for line in lines] == [1, 2, 3]
        assert follower.stderr.wait_end() == b""


def test_an_interrupt_at_any_time_leaves_no_traceback(log: Log, talk: Talk) -> None:
    talk.say("more")
    for loaded in ("_sqlite3", "orjson"):
        with tail(log, "-f") as follower:
            maps = Path(f"/proc/{follower.pid}/maps")
            wait_until(partial(_holds, maps, loaded), f"{loaded} is loaded")
            follower.signal(signal.SIGINT)
            assert follower.wait() in {130, -2}
            assert b"Traceback" not in follower.stderr.wait_end()


def _holds(file: Path, word: str) -> bool:
    return word in file.read_text()


class Screen:
    """A terminal of so many columns with ``tail -f`` at it."""

    def __init__(self, log: Log, columns: int, *options: str) -> None:
        import fcntl
        import struct
        import termios

        self.keyboard, line = pty.openpty()
        fcntl.ioctl(line, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        command = [str(PROXY), "tail", "-f", "--log", str(log.path), *options]
        self.process = Process(
            [*agent("in_terminal", line), *command],
            stdin=line, stdout=line, stderr=line, pass_fds=(line,), env=environment(TERM="xterm"),
        )  # fmt: skip
        os.close(line)
        self.shown = Collector(os.dup(self.keyboard))

    def close(self) -> None:
        """Put the terminal away."""
        self.process.__exit__()
        self.shown.close()
        os.close(self.keyboard)


def test_the_interrupt_key_ends_it_cleanly(log: Log, talk: Talk) -> None:
    with contextlib.closing(Screen(log, 100)) as screen:
        screen.shown.wait_for(b"begun\r\n")
        os.write(screen.keyboard, b"\x03")

        assert screen.process.wait() == 130
        assert screen.shown.wait_end().endswith(b"begun\r\n^C\r\n")
    talk.end()


def test_at_a_terminal_a_message_grows_in_its_line(log: Log, talk: Talk) -> None:
    with contextlib.closing(Screen(log, 60)) as screen:
        screen.shown.wait_for(b"begun\r\n")
        talk.say(update_of("日本 "))
        screen.shown.wait_for("日本\r\n".encode())
        talk.say(update_of("語 and more than the width of this terminal takes"))
        shown = screen.shown.wait_for("日本 語".encode()).decode()
        talk.end()
        assert screen.process.wait() == 0

    before, again, after = shown.partition("\x1b[1A\r\x1b[J")
    assert again
    assert before.endswith("日本\r\n")
    assert "日本 語" in after


@pytest.mark.slow
def test_with_all_of_the_text_a_message_grows_over_several_rows(log: Log, talk: Talk) -> None:
    with contextlib.closing(Screen(log, 100, "--full")) as screen:
        screen.shown.wait_for(b"begun\r\n")
        talk.say(update_of("one\ntwo\n"))
        screen.shown.wait_for(b"two\r\n")
        talk.say(update_of("three"))
        shown = screen.shown.wait_for(b"three\r\n").decode()
        talk.end()
        assert screen.process.wait() == 0

    before, _, after = shown.partition("\x1b[2A\r\x1b[J")
    assert before.endswith(f"message     one\r\n{' ' * 31}two\r\n")
    assert after.endswith(f"message     one\r\n{' ' * 31}two\r\n{' ' * 31}three\r\n")


def test_the_end_is_told_afterwards_too(log: Log, talk: Talk) -> None:
    talk.end()
    assert (
        log.ask("tail", "-n", "2").stdout.splitlines()[-1].endswith(b"proxy   end         exit 0")
    )
    assert log.ask("tail", "-f", "-n", "1").stdout.endswith(b"proxy   end         exit 0\n")
