"""An odd machine: a mount namespace with a shell script that makes it odd, and what one does there."""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.harness import PROXY, environment

RUNNER = Path(__file__).with_name("runner.py")
CANNOT = 77
NOBODY = 54321
"""A user that no list of users has."""

SAID = '{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"smörgås ☕"}]}}\n'
AGENT = ["sh", "-c", "cat; echo trouble >&2; exit 3", "ågent"]
TROUBLE = b"trouble\n"

_REACHABLE = """
# The interpreter may lie in a home that only its owner may enter: show just that.
case "$BASE" in /root/*)
    mkdir -p /mnt/base && mount --bind "$BASE" /mnt/base &&
    mount -t tmpfs -o mode=755 tmpfs /root && mkdir -p "$BASE" && mount --bind /mnt/base "$BASE" || exit 77
esac
"""
_MOUNTABLE = "mount -t tmpfs tmpfs /mnt || exit 77\n" + _REACHABLE


class Done(NamedTuple):
    """How a command went."""

    words: Sequence[str]
    code: int
    out: bytes
    err: bytes


@cache
def _can_mount() -> bool:
    probe = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]
    try:
        return subprocess.run(probe, capture_output=True, timeout=20, check=False).returncode == 0
    except OSError:
        return False


class Machine:
    """A machine made odd by a script; each ``ask`` begins with a fresh one.

    Args:
        script: Shell commands, run as root in a mount namespace of its own; may use $BASE, where the
            interpreter lies, and must end with 77 when something cannot be done here.
        env: What differs in the environment; None takes a variable away.
        user: As whom the commands are run.
        cwd: In which folder.

    """

    def __init__(
        self,
        script: str = "",
        env: Mapping[str, str | None] | None = None,
        user: int = 0,
        cwd: str = "/",
    ) -> None:
        self._script = script
        self._env = {**environment(), **(env or {})}
        self._user = user
        self._cwd = cwd

    def ask(self, *jobs: Mapping[str, Any]) -> list[Done]:
        """Run commands one after the other and return how each went."""
        if os.geteuid() != 0 or not _can_mount():
            pytest.skip("only root, with mount namespaces, can make an odd machine")
        if any(
            Path(path).is_relative_to(tmp) for path in (PROXY, RUNNER) for tmp in ("/tmp", "/mnt")
        ):
            pytest.skip("the program lies where the test puts an empty folder")
        python = f'cd "{self._cwd}" || exit 77\n'
        if self._user:
            python += f"exec setpriv --reuid {self._user} --regid {self._user} --clear-groups "
        python += f'"{sys.executable}" -I "{RUNNER}"'
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", _MOUNTABLE + self._script + "\n" + python],
            env={k: v for k, v in self._env.items() if v is not None} | {"BASE": sys.base_prefix},
            input=json.dumps(jobs).encode(),
            capture_output=True,
            timeout=300,
            check=False,
        )
        if done.returncode == CANNOT:
            pytest.skip(f"this cannot be made here: {done.stderr.decode()}")
        assert done.returncode == 0, done.stderr.decode()
        return [
            Done(job["words"], one["code"], *(base64.b64decode(one[k]) for k in ("out", "err")))
            for job, one in zip(jobs, json.loads(done.stdout), strict=True)
        ]


def run(*options: str, **more: Any) -> dict[str, Any]:
    """Return the job of recording a little conversation with AGENT."""
    return {"words": [str(PROXY), "run", *options, "--", *AGENT], "stdin": SAID, **more}


def query(*words: str, **more: Any) -> dict[str, Any]:
    """Return the job of one other command."""
    return {"words": [str(PROXY), *words], **more}


QUERIES = (
    query("connections", "--json"),
    query("export", "--stream", "client"),
    query("export", "--stream", "stderr"),
    query("search", "smorgas"),
    query("verify"),
)
"""Questions that have an answer after ``run``; few, since each starts a program."""


def assert_transparent(done: Done) -> None:
    """Fail unless client and agent noticed nothing."""
    assert (done.code, done.out, done.err) == (3, SAID.encode(), TROUBLE)


def assert_answered(answers: Sequence[Done]) -> None:
    """Fail unless QUERIES were answered, and rightly."""
    for done in answers:
        assert (done.code, done.err) == (0, b""), done
    connections, client, stderr, found, _ = answers
    [connection] = json.loads(connections.out)
    assert (connection["status"], connection["exitCode"]) == ("exited", 3)
    assert connection["command"] == AGENT
    assert (client.out, stderr.out) == (SAID.encode(), TROUBLE)
    assert b"prompt" in found.out


def assert_plain(done: Done) -> None:
    """Fail unless a command that could not do its work says why, as a person would."""
    assert done.code in {0, 1}, done
    assert b"Traceback" not in done.err, done
    assert done.code == 0 or done.err.startswith(b"acp-proxy: "), done
