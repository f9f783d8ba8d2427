"""At a real terminal: keys that send signals, the end-of-file key, and the terminal's own state."""

from __future__ import annotations

import json
import os
import pty
import termios
from typing import TYPE_CHECKING

import pytest

from tests.harness import Collector, Log, Process, Way, agent, needs_linux

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

pytestmark = needs_linux


class Terminal:
    """A pseudo-terminal, and the command that has it as its controlling terminal."""

    def __init__(self, command: Sequence[str]) -> None:
        self.keyboard, self.line = pty.openpty()
        self.settings = termios.tcgetattr(self.line)
        null = os.open(os.devnull, os.O_RDWR)
        self.process = Process(
            [*agent("in_terminal", self.line), *command],
            stdin=null,
            stdout=null,
            stderr=null,
            pass_fds=(self.line,),
        )
        os.close(null)
        self.screen = Collector(os.dup(self.keyboard))

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self.keyboard, keys)

    def close(self) -> None:
        """End the command and put the terminal away."""
        self.process.__exit__()
        os.close(self.line)
        self.screen.close()
        os.close(self.keyboard)


@pytest.fixture
def terminal(way: Way) -> Iterator[Terminal]:
    """An agent that counts signals, started at a terminal."""
    terminal = Terminal(way.command(agent("counts_signals")))
    try:
        terminal.screen.wait_for(b"ready")
        yield terminal
    finally:
        terminal.close()


@pytest.mark.parametrize(("key", "name"), [(b"\x03", "SIGINT"), (b"\x1c", "SIGQUIT")])
def test_a_key_that_sends_a_signal_reaches_the_agent_exactly_once(
    terminal: Terminal, key: bytes, name: str
) -> None:
    terminal.type(key)
    terminal.screen.wait_for(f"got {name}".encode())
    terminal.type(b"ping\n")
    terminal.screen.wait_for(b"pong")
    terminal.type(b"\x04")

    shown = terminal.screen.wait_for(b"}")
    assert terminal.process.wait() == 0
    assert json.loads(shown.rpartition(b"totals ")[2]) == {name: 1}
    assert termios.tcgetattr(terminal.line) == terminal.settings


def test_keys_and_a_signal_from_elsewhere_are_both_counted(terminal: Terminal) -> None:
    terminal.type(b"\x03")
    terminal.screen.wait_for(b"got SIGINT")
    terminal.process.signal(15)
    terminal.screen.wait_for(b"got SIGTERM")
    terminal.type(b"ping\n")
    terminal.screen.wait_for(b"pong")
    terminal.type(b"\x04")

    shown = terminal.screen.wait_for(b"}")
    assert terminal.process.wait() == 0
    assert json.loads(shown.rpartition(b"totals ")[2]) == {"SIGINT": 1, "SIGTERM": 1}


def test_an_interrupt_key_kills_an_agent_that_does_not_mind(way: Way) -> None:
    terminal = Terminal(way.command(["cat"]))
    try:
        terminal.type(b"hello\n")
        terminal.screen.wait_for(b"hello\r\nhello\r\n")
        terminal.type(b"\x03")
        assert terminal.process.wait() == -2
        assert terminal.screen.wait_for(b"^C") == b"hello\r\nhello\r\n^C"
    finally:
        terminal.close()


@pytest.mark.slow
def test_lines_typed_at_a_terminal_are_recorded_as_the_agent_got_them(
    log: Log, proxied: Way
) -> None:
    terminal = Terminal(proxied.command(agent("echo")))
    try:
        terminal.type(b'{"jsonrpc":"2.0","id":1,"method":"x"}\n')
        terminal.screen.wait_for(b'"x"}\r\n{"jsonrpc":"2.0","id":1,"method":"x"}\r\n')
        terminal.type(b"\x04")
        assert terminal.process.wait() == 0
        assert termios.tcgetattr(terminal.line) == terminal.settings
    finally:
        terminal.close()

    assert log.export("client") == b'{"jsonrpc":"2.0","id":1,"method":"x"}\n'
    assert log.export("agent") == b'{"jsonrpc":"2.0","id":1,"method":"x"}\n'
    log.assert_clean()


def test_a_terminal_that_is_hung_up_ends_the_conversation(way: Way) -> None:
    terminal = Terminal(way.command(["cat"]))
    try:
        terminal.type(b"hello\n")
        terminal.screen.wait_for(b"hello\r\nhello\r\n")
        terminal.screen.close()
        os.close(terminal.keyboard)
        assert terminal.process.wait() in {-1, 0}  # the hang-up, or the end of input it brings
    finally:
        terminal.keyboard = os.open(os.devnull, os.O_RDONLY)
        terminal.screen = Collector(os.dup(terminal.keyboard))
        terminal.close()
