"""Real interactive shells at a real terminal, which complete our commands as a person's would."""

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Self

import pytest

from acp_proxy.cli.completion.shells import script
from tests.harness import PROXY, Collector, environment, send, wait_until

SHELLS = ("bash", "zsh", "fish")
_START = {
    "bash": ["--norc", "--noprofile", "-i"],
    "zsh": ["-f", "-i"],
    "fish": ["--no-config", "--interactive"],
}
_AT_TERMINAL = (
    "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
_SETUP = {
    "bash": "PS1='ready> '; bind 'set bell-style none'; {source}\n"
    "acp-proxy() {{ printf '%s\\0' \"$@\" > out.new; mv out.new out; }}\n",
    "zsh": "PROMPT='ready> '; autoload -U compinit && compinit -D -u; {source}\n"
    "acp-proxy() {{ printf '%s\\0' \"$@\" > out.new; mv out.new out; }}\n",
    "fish": "function fish_prompt; echo 'ready> '; end; {source}\n"
    "function acp-proxy; printf '%s\\0' $argv > out.new; mv out.new out; end\n",
}


class Shell:
    """An interactive shell with our script, in which ``acp-proxy`` writes down its arguments.

    The script itself asks the real program, which stands first in PATH unless one is given.
    """

    def __init__(self, name: str, folder: Path, log: Path, *, path: str = "") -> None:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
        self.name = name
        self._count = 0
        self._out = folder / "out"
        (folder / "completion").write_text(script(name), encoding="utf-8")
        setup = _SETUP[name].format(source=f". {folder / 'completion'}")
        (folder / "setup").write_text(setup, encoding="utf-8")
        env = environment(
            TERM="xterm", HOME=str(folder), LC_ALL="C.UTF-8", INPUTRC="/dev/null",
            PATH=path or f"{PROXY.parent}{os.pathsep}{os.environ['PATH']}", ACP_PROXY_LOG=str(log),
        )  # fmt: skip
        self._screen, line = pty.openpty()
        self._shown = Collector(os.dup(self._screen))
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _AT_TERMINAL, name, *_START[name]],
            stdin=line, stdout=line, stderr=line, env=env, cwd=folder,
        )  # fmt: skip
        os.close(line)
        self.type(". ./setup; echo prepa''red\r")
        self._shown.wait_for(b"prepared")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.kill()
        self._process.wait()
        self._shown.close()
        os.close(self._screen)

    def type(self, keys: str) -> None:
        """Press keys."""
        send(self._screen, keys.encode())

    def run(self, keys: str) -> list[str]:
        """Press keys and Enter; return the arguments that the command got."""
        self._out.unlink(missing_ok=True)
        self.type(f"{keys}\r")
        wait_until(self._out.exists, f"what {self.name} makes of {keys!r}")
        return self._out.read_text(encoding="utf-8").split("\0")[:-1]

    def shown(self, keys: str) -> str:
        """Press keys, then clear the line and say a word; return what the terminal showed till then.

        The line is cleared by Ctrl-A Ctrl-K: before a shell reads, Ctrl-U would be the terminal's.
        """
        before, self._count = self._shown.count, self._count + 1
        self.type(f"{keys}\x01\x0becho all''shown{self._count}.\r")
        return self._shown.wait_for(b"allshown%d." % self._count)[before:].decode()
