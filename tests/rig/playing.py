"""One conversation played: a stand-in model, the rig's client and its tee, our proxy, the agent.

Starts processes and keeps what they write; judges nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.harness import PROXY, Log, wait_until
from tests.rig.agents import ACPX, AGENTS, NODE, Agent, filled
from tests.rig.capture import Capture, read_capture

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.rig.plays import Play

SCRIPTS = ("client.py", "tee.py", "scenarios.py", "model_anthropic.py", "model_openai.py")
_SECONDS = 300.0
_NOTES = {
    "notes.txt": "Notes\n\n1. café\n2. 日本語\n3. end\n",
    "settings.ini": "[ui]\ncolour = red\nsize = 3\n",
    "data.json": '{"a": [1, 2, 3], "b": null}\n',
    "victim.txt": "still here\n",
}


@dataclass(frozen=True)
class Played:
    """What a conversation left behind.

    Attributes:
        capture: What went by on the client's side of the proxy.
        log: What the proxy recorded.
        printed: What the client wrote on its standard output.
        status: What the client ended with.
        summary: client.py's own account; empty for another client.
    """

    capture: Capture
    log: Log
    printed: bytes
    status: int
    summary: dict[str, object]


def prepare(rig: Path, folder: Path) -> None:
    """Lay out a folder to play in: the scripts are copied, since they write beside themselves."""
    for name in ("work", "logs", "homes", "tmp", "captures"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in SCRIPTS:
        shutil.copy(rig / name, folder / name)


def hold(play: Play, rig: Path, folder: Path) -> Played:
    """Hold one conversation to its end.

    Raises:
        TimeoutError: It did not end in time; all of it was killed.
    """
    agent, name = AGENTS[play.agent], play.name
    places = {
        "rig": rig,
        "node": rig / NODE / "node",
        "home": folder / "homes" / name,
        "folder": folder,
        "port": _free_port(),
    }
    for path, text in agent.files.items():
        file = folder / "homes" / name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(filled(text, **places))
    (folder / "homes" / name).mkdir(exist_ok=True)
    log = Log(folder / f"{name}.db")
    proxied = [str(PROXY), "run", "--log", str(log.path), "--label", name, "--"]
    proxied += [filled(word, **places) for word in agent.command]
    with _model(agent, folder, name, int(str(places["port"]))):
        status, printed = _client(play, proxied, places, folder)
    summary = folder / "captures" / f"{name}.client.json"
    return Played(
        capture=read_capture(folder / "captures" / f"{name}.jsonl"),
        log=log,
        printed=printed,
        status=status,
        summary=json.loads(summary.read_text()) if play.client == "script" else {},
    )


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextlib.contextmanager
def _model(agent: Agent, folder: Path, name: str, port: int) -> Iterator[None]:
    script, *arguments = agent.model
    command = [sys.executable, script, *arguments, "--port", str(port)]
    log = folder / "logs" / f"{name}.model.jsonl"
    with subprocess.Popen([*command, "--log", str(log)], cwd=folder) as process:
        try:
            wait_until(lambda: _answers(port), "the stand-in model listens")
            yield
        finally:
            process.kill()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _client(
    play: Play, proxied: list[str], places: dict[str, object], folder: Path
) -> tuple[int, bytes]:
    agent, name = AGENTS[play.agent], play.name
    if play.client == "acpx":
        command = _acpx(play, proxied, places, folder)
    else:
        command = [sys.executable, str(folder / "client.py"), "--name", name]
        command += ["--proto", str(play.protocol), "--scenarios", play.scenarios, *play.options]
        command += ["--", *proxied]
    environment = {
        "PATH": f"{places['rig']}/{NODE}:/usr/bin:/bin",
        "HOME": str(places["home"]),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "SHELL": "/bin/bash",
        "TMPDIR": str(folder / "tmp"),
    }
    environment |= {key: filled(text, **places) for key, text in agent.environment.items()}
    printed, complaints = folder / "logs" / f"{name}.out", folder / "logs" / f"{name}.err"
    with printed.open("wb") as stdout, complaints.open("wb") as stderr:
        process = subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            status = process.wait(_SECONDS)
        except subprocess.TimeoutExpired as expired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise TimeoutError(f"{name} did not end within {_SECONDS:.0f} s") from expired
    return status, printed.read_bytes()


def _acpx(play: Play, proxied: list[str], places: dict[str, object], folder: Path) -> list[str]:
    """The npm client acpx; its ``--agent`` is one string, cut at blanks."""
    work = folder / "work" / play.name
    work.mkdir()
    for name, text in _NOTES.items():
        (work / name).write_text(text)
    capture = folder / "captures" / f"{play.name}.jsonl"
    tee = [sys.executable, str(folder / "tee.py"), "--out", str(capture), "--", *proxied]
    prompt = f"SCENARIO:{play.scenarios} CWD:{work} please do what the scenario says ✓"
    return [
        *(str(places["node"]), str(places["rig"]) + "/" + ACPX, "--cwd", str(work)),
        *("--approve-all", "--timeout", "60", "--format", "json", "--agent", " ".join(tee)),
        *("exec", prompt),
    ]
