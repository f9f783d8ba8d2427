"""Commands at a real terminal of so many columns: run to their end, or looked at meanwhile."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import pyte

from tests.harness import PROXY, Collector, Process, agent, environment


def at_terminal(columns: int, *arguments: str, log: Path, **variables: str) -> str:
    """Return what a command of ours shows at a real terminal, which turned LF into CR LF."""
    screen, line = pty.openpty()
    fcntl.ioctl(line, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    command = [str(PROXY), *arguments, "--log", str(log)]
    env = environment(TERM="xterm", PYTHONUTF8="1", **variables)
    shown = Collector(os.dup(screen))
    try:
        with subprocess.Popen(command, stdin=line, stdout=line, stderr=line, env=env) as process:
            os.close(line)
            assert process.wait(60) == 0
        return shown.wait_end().decode().replace("\r\n", "\n")
    finally:
        shown.close()
        os.close(screen)


class Terminal:
    """A terminal of 24 lines, and a command that has it as its controlling terminal.

    Args:
        command: What to run.
        columns: How wide it is.
        variables: What differs in the environment.

    """

    def __init__(self, command: Sequence[str], columns: int = 80, **variables: str) -> None:
        self._columns = columns
        self._keyboard, line = pty.openpty()
        fcntl.ioctl(line, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        null = os.open(os.devnull, os.O_RDWR)
        self.process = Process(
            [*agent("in_terminal", line), *command],
            stdin=null,
            stdout=null,
            stderr=null,
            pass_fds=(line,),
            env=environment(TERM="xterm", PYTHONUTF8="1") | variables,
        )
        os.close(null)
        os.close(line)
        self.shown = Collector(os.dup(self._keyboard))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.process.__exit__()
        self.shown.close()
        os.close(self._keyboard)

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._keyboard, keys)

    def end(self) -> bytes:
        """Wait until the command has ended; return all that the terminal was shown."""
        self.process.wait()
        return self.shown.wait_end()

    def screen(self, shown: bytes) -> str:
        """Return what stands on the screen after it was shown this."""
        screen = pyte.Screen(self._columns, 24)
        pyte.ByteStream(screen).feed(shown)
        return "\n".join(line.rstrip() for line in screen.display).rstrip()
