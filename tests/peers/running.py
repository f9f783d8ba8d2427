"""Peers and the proxy's own commands, run to their ends; and where shipped peers may be found.

What is not there makes its tests skip, with a word on what was looked for.
"""

import importlib.metadata
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.rig.agents import ACPX, NODE

ACP_PROXY = str(Path(sys.executable).parent / "acp-proxy")
RIG = "ACP_TEST_RIG"
"""The variable that names a folder with installed peers; tests/rig/README.md says how to make it."""

CONVERSATION_SECONDS = 180.0
COMMAND_SECONDS = 120.0
DOWNLOAD_SECONDS = 60.0
ACPX_NODE = 22


@dataclass(frozen=True)
class Ended:
    """A command that has ended by itself, and all it wrote."""

    status: int
    stdout: bytes
    stderr: bytes


def surroundings(**changes: str) -> dict[str, str]:
    """Return our environment without what would steer the proxy or the peers, and the changes."""
    private = ("ACP_PROXY_", "COLUMNS", "LINES", "NODE_OPTIONS", "PYTHONDEVMODE", "PYTHONWARNINGS")
    return {k: v for k, v in os.environ.items() if not k.startswith(private)} | changes


def run(
    command: list[str],
    *,
    cwd: Path,
    seconds: float = COMMAND_SECONDS,
    stdin: bytes = b"",
    **changes: str,
) -> Ended:
    """Runs a command to its end; at the limit it and its children are killed, and the test fails."""
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=surroundings(**changes),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            stdout, stderr = process.communicate(stdin, timeout=seconds)
        except subprocess.TimeoutExpired as expired:
            os.killpg(process.pid, signal.SIGKILL)
            pytest.fail(
                f"not ended after {seconds} s: {command}; stderr so far: {expired.stderr!r}"
            )
    return Ended(process.returncode, stdout, stderr)


def node_version(node: str) -> int:
    """Return the major version of a Node."""
    told = subprocess.run([node, "--version"], capture_output=True, check=True, timeout=60)
    return int(told.stdout.decode().strip().removeprefix("v").split(".")[0])


def acpx() -> list[str]:
    """Return the command of the npm client ``acpx``, with a Node that is new enough for it."""
    node = _in_rig(f"{NODE}/node") or shutil.which("node")
    program = _in_rig(ACPX) or shutil.which("acpx")
    if node is None or program is None:
        pytest.skip(f"the npm package acpx is neither below ${RIG} nor on PATH")
    if (version := node_version(node)) < ACPX_NODE:
        pytest.skip(f"acpx needs Node {ACPX_NODE} or newer, this is {version}")
    return [node, program]


def found(name: str, package: str, *, below: str) -> str:
    """Return a program of a PyPI package that needs an environment of its own."""
    program = _in_rig(f"{below}/{name}") or shutil.which(name)
    if program is None:
        pytest.skip(f"{name} (PyPI package {package}) is neither below ${RIG} nor on PATH")
    return program


def _in_rig(path: str) -> str | None:
    rig = os.environ.get(RIG)
    program = Path(rig, path) if rig else None
    return str(program) if program is not None and program.exists() else None


def sdk_version() -> str:
    """Return the version of the Python SDK that is installed."""
    try:
        return importlib.metadata.version("agent-client-protocol")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package agent-client-protocol is not installed")


def sdk_examples(folder: Path) -> Path:
    """Return the examples in the source distribution of the installed Python SDK, fetched anew."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--no-binary", ":all:", f"agent-client-protocol=={sdk_version()}"]
    try:
        fetched = subprocess.run(
            command, cwd=folder, capture_output=True, timeout=DOWNLOAD_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"pip download did not end within {DOWNLOAD_SECONDS:.0f} s")
    archives = list(folder.glob("*.tar.gz"))
    if fetched.returncode != 0 or not archives:
        reason = re.sub(r"\s+", " ", fetched.stderr.decode(errors="replace"))[-200:]
        pytest.skip(f"the SDK's source distribution is not to be had: {reason}")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder, filter="data")
    [examples] = folder.glob("*/examples")
    return examples
