"""A full-screen program on a terminal of ours: what its screen shows, and keys pressed for it."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import pyte
import pytest

from tests.peers.running import CONVERSATION_SECONDS, surroundings

COLUMNS, LINES = 150, 60
KEYS_SECONDS = 1.0
POLL_SECONDS = 0.1


class AtTerminal:
    """The program runs in the context; leaving it kills what is left of it."""

    def __init__(self, command: list[str], *, cwd: Path, **changes: str) -> None:
        self._screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self._screen)
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            command,
            cwd=cwd,
            env=surroundings(TERM="xterm-256color", LC_ALL="C.UTF-8", **changes),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._master)

    @property
    def screen(self) -> str:
        """What stands on the screen now, as far as it was read."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def press(self, keys: str) -> None:
        """Types the keys."""
        os.write(self._master, keys.encode())

    def wait_for(self, shown: Callable[[str], bool], what: str, keys: str = "") -> str:
        """Reads on until the screen is as wanted, and returns it; a bounded time.

        With ``keys`` these are pressed every second until then, for a program that ignores keys
        while it is busy.
        """
        begin = pressed = time.monotonic()
        while not shown(self.screen):
            now = time.monotonic()
            if keys and now > pressed + KEYS_SECONDS:
                self.press(keys)
                pressed = now
            if now > begin + CONVERSATION_SECONDS or not self._read():
                pytest.fail(f"{what} was never on the screen:\n{self.screen}")
        return self.screen

    def wait_end(self) -> int:
        """Reads on until the program lets go of the terminal, and returns its exit status."""
        end = time.monotonic() + CONVERSATION_SECONDS
        while self._read() and time.monotonic() < end:
            pass
        return self._process.wait(CONVERSATION_SECONDS)

    def _read(self) -> bool:
        """Takes what comes next, if something soon does; false when nothing can come any more."""
        if not select.select([self._master], [], [], POLL_SECONDS)[0]:
            return True
        data = b""
        with contextlib.suppress(OSError):  # the last one has closed the terminal
            data = os.read(self._master, 65536)
        self._stream.feed(data)
        return data != b""
