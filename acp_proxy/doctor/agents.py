"""Checks of the agents' commands: whether they would be found with the PATH that editors have.

An editor that was started from a desktop often has a short PATH: without the folders that a shell's
start-up files add (nvm, pyenv, Homebrew, ``~/.local/bin``). A program that is found there
may still need an interpreter that is not.
"""

import os
import shlex
import shutil
import sys
from typing import TYPE_CHECKING

from acp_proxy.doctor.findings import NOTE, OK, PROBLEM, Finding
from acp_proxy.settings import Settings
from acp_proxy.views.tables import command_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DESKTOP_PATH = (
    "/usr/bin:/bin:/usr/sbin:/sbin"
    if sys.platform == "darwin"
    else "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)
"""What is sure to be on the PATH of a program that a desktop started."""
_FIRST_LINE = 256


def commands(settings: Settings, command: "Sequence[str]") -> "Iterator[Finding]":
    """Yield whether a given command and the user's own agents would be found."""
    if command:
        yield from _command("the command", command, PROBLEM)
    for name, words in settings.agents.items():
        yield from _command(f"agents.{name}", words, NOTE)


def _command(of: str, command: "Sequence[str]", severity: str) -> "Iterator[Finding]":
    program = command[0]
    here = shutil.which(program)
    what = f"{of} ({command_text(list(command))})"
    if here is None:
        yield Finding(
            "agents", PROBLEM, f"{what}: there is no program {program}", "install it, or correct it"
        )
        return
    missing = missing_on(DESKTOP_PATH, program)
    if missing is None:
        yield Finding("agents", OK, f"{what}: {here}")
    elif missing == program:
        yield Finding(
            "agents",
            severity,
            f"{what}: found here, but not with the PATH of an editor started from a desktop",
            f"write its full path: {shlex.quote(os.path.abspath(here))}",
        )
    else:
        where = shutil.which(missing)
        remedy = f"write {where} before it" if where else f"install {missing}"
        yield Finding(
            "agents",
            severity,
            f"{what}: it is run by {missing}, which an editor started from a desktop may not find",
            f"{remedy}, or give the editor a PATH in the agent's env",
        )


def missing_on(path: str, program: str) -> str | None:
    """Return the program that would not be found with a PATH: it, its interpreter, or None."""
    found = shutil.which(program, path=path)
    if found is None:
        return program
    interpreter = _interpreter(found)
    return interpreter if interpreter and shutil.which(interpreter, path=path) is None else None


def _interpreter(path: str) -> str | None:
    """Return what a script's first line names, without a folder if ``env`` looks for it."""
    try:
        with open(path, "rb") as file:
            first = file.read(_FIRST_LINE).partition(b"\n")[0]
    except OSError:
        return None
    words = first[2:].decode(errors="replace").split() if first.startswith(b"#!") else []
    if words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else None
