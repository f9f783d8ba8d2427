"""A command at a terminal of so many columns, run to its end."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

from tests.harness import PROXY, Collector, environment


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
