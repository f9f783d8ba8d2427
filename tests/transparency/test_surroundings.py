"""The agent finds the arguments, environment, folder and descriptors that its client meant."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
from pathlib import Path

import pytest

from tests.harness import (
    PROXY,
    Log,
    Process,
    Way,
    agent,
    children,
    environment,
    needs_linux,
    receive,
    wait_until,
)

pytestmark = needs_linux

WORDS = [
    "two words",
    "",
    "--log",
    "/not/ours",
    "--label=no",
    "--help",
    "-h",
    "--version",
    "--",
    "-",
    "'single' \"double\" back\\slash $HOME `x` *",
    "line\nbreak\ttab",
    "naïve ☕",
    "\udcff\udcfe",
    "--acp",
]


def seen_by(process: Process) -> dict[str, object]:
    """Return what the agent ``surroundings`` tells."""
    seen: dict[str, object] = json.loads(process.stdout.wait_end())
    assert process.stderr.wait_end() == b""
    assert process.wait() == 0
    return seen


def test_arguments_are_passed_on_verbatim(way: Way) -> None:
    command = [*agent("surroundings"), *WORDS]
    with way.start(command) as process:
        assert seen_by(process)["argv"] == [os.fsencode(word).hex() for word in command]

    if way.log:
        assert way.log.connection()["command"][:-2] == command[:-2]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [["-c", "exit 3", "--"], ["-c", "exit 3", "--log", "x", "--help"]]
)
def test_the_double_dash_before_the_command_may_be_left_out(log: Log, words: list[str]) -> None:
    command = [str(PROXY), "run", "--label", "a b", "--log", str(log.path), "sh", *words]
    with Process(command) as process:
        assert process.wait() == 3
        assert process.stdout.wait_end() + process.stderr.wait_end() == b""

    connection = log.connection()
    assert connection["command"] == ["sh", *words]
    assert connection["label"] == "a b"


@pytest.mark.parametrize(
    "env",
    [
        {"PATH": "/usr/bin:/bin"},
        {"PATH": "/usr/bin:/bin", "LANG": "C", "HOME": "/nonexistent"},
        {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "PYTHONPATH": "/x", "PYTHONSAFEPATH": ""},
        {"PATH": "/bin:/usr/bin", "LC_CTYPE": "en_US.UTF-8", "EMPTY": "", "UTF": "naïve"},
    ],
    ids=["only a path", "C locale", "all C", "other"],
)
def test_the_environment_is_untouched(way: Way, env: dict[str, str]) -> None:
    with way.start(["env", "-0"], env=env) as process:
        words = process.stdout.wait_end().split(b"\0")[:-1]
        assert process.stderr.wait_end() == b""
        assert process.wait() == 0

    assert sorted(words) == sorted(os.fsencode(f"{key}={value}") for key, value in env.items())


def test_the_variables_that_steer_the_proxy_reach_an_agent_too(log: Log) -> None:
    env = environment(ACP_PROXY_LOG=str(log.path), SOME="thing")
    with Process([str(PROXY), "run", "--", "env", "-0"], env=env) as process:
        words = process.stdout.wait_end().split(b"\0")[:-1]
        assert process.wait() == 0

    assert sorted(words) == sorted(os.fsencode(f"{key}={value}") for key, value in env.items())
    assert log.connection()["command"] == ["env", "-0"]


def test_folder_mask_priority_limits_and_descriptors_are_as_without_the_proxy(
    log: Log, tmp_path: Path
) -> None:
    seen = []
    for way in (Way(None), Way(log)):
        with way.start(agent("surroundings"), cwd=tmp_path, umask=0o027) as process:
            report = seen_by(process)
            assert report.pop("group") == os.getpgrp()
            seen.append(report)

    assert seen[0]["cwd"] == str(tmp_path)
    assert seen[0]["umask"] == 0o027
    assert seen[0] == seen[1]


def test_a_folder_that_cannot_be_written_is_no_obstacle(proxied: Way) -> None:
    with proxied.start(agent("surroundings"), cwd=Path("/proc/self")) as process:
        assert str(seen_by(process)["cwd"]).startswith("/proc/")


@pytest.mark.slow
def test_a_relative_command_and_one_found_by_the_path_are_started(way: Way, tmp_path: Path) -> None:
    script = tmp_path / "my-agent"
    script.write_text('#!/bin/sh\necho "$0"\n')
    script.chmod(0o755)
    env = {"PATH": f"/nonexistent:{tmp_path}:/usr/bin:/bin"}
    for name, told in [("./my-agent", "./my-agent"), ("my-agent", str(script))]:
        with way.start([name], cwd=tmp_path, env=env) as process:
            assert process.stdout.wait_end().decode() == f"{told}\n"
            assert process.wait() == 0


def test_a_descriptor_meant_for_the_agent_reaches_it_and_ends_with_it(way: Way) -> None:
    reading, writing = os.pipe()
    try:
        with way.start(agent("uses_descriptor", writing), pass_fds=(writing,)) as process:
            os.close(writing)
            the_agent = process.child() if way.log else process.pid
            assert receive(reading, 100) == b"hello from %d\n" % the_agent
            assert receive(reading, 100) == b""
            assert process.running
            process.close_stdin()
            assert process.wait() == 0
    finally:
        os.close(reading)


def pipes_of(pid: int) -> set[str]:
    """Return the pipes that a process holds, by the kernel's names for them."""
    names = set()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            names.add(os.readlink(fd))
    return {name for name in names if name.startswith("pipe:")}


def test_the_recorder_holds_no_descriptor_of_client_or_agent(log: Log, proxied: Way) -> None:
    reading, writing = os.pipe()
    with proxied.start(agent("echo"), pass_fds=(writing,)) as process:
        os.close(writing)
        (recorder,) = wait_until(log.recorders, "a recorder runs")
        process.send(b"x")
        process.stdout.wait_count(1)
        ours = {os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in (0, 1, 2)}
        ours |= pipes_of(process.child())
        assert len(ours) == 7

        wait_until(lambda: not ours & pipes_of(recorder), "the recorder holds none of them")
        process.close_stdin()
        assert process.wait() == 0
        assert receive(reading, 1) == b""
    os.close(reading)


def test_without_a_home_it_records_into_the_state_folder(tmp_path: Path) -> None:
    env = {"PATH": "/usr/bin:/bin", "XDG_STATE_HOME": str(tmp_path / "state")}
    with Process([str(PROXY), "run", "--", "echo", "hello"], env=env) as process:
        assert process.stdout.wait_end() == b"hello\n"
        assert process.stderr.wait_end() == b""
        assert process.wait() == 0

    log = Log(tmp_path / "state" / "acp-proxy" / "log.db")
    assert log.connection()["bytes"] == {"client": 0, "agent": 6, "stderr": 0}


def mode(path: Path) -> int:
    """Return the permission bits of a path."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.slow
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_what_is_written_is_for_its_owner_only(log: Log, proxied: Way, umask: int) -> None:
    with proxied.start(agent("echo"), umask=umask) as process:
        process.send(b"secret\n")
        process.stdout.wait_for(b"secret\n")
        (journal,) = log.journals()
        assert mode(journal) == 0o600
        assert mode(log.journals_path) == 0o700
        wait_until(log.path.exists, "the log is there")
        wait_until(lambda: mode(log.path) == 0o600, "the log is for its owner only")
        process.close_stdin()
        assert process.wait() == 0

    assert log.connection()["bytes"]["client"] == len(b"secret\n")
    assert mode(log.path.parent) == 0o700
    for path in log.path.parent.iterdir():
        assert mode(path) == (0o700 if path.is_dir() else 0o600), path


def test_the_off_switch_makes_the_agent_take_our_place(log: Log) -> None:
    env = environment(ACP_PROXY_OFF="1", ACP_PROXY_LOG=str(log.path))
    words = ["--log", str(log.path), "--label", "x", "--"]
    command = [str(PROXY), "run", *words, *agent("counts_signals")]
    with Process(command, env=env) as process:
        assert process.stdout.wait_for(b"\n") == b"ready %d\n" % process.pid
        assert Path(f"/proc/{process.pid}/exe").resolve() == Path(sys.executable).resolve()
        assert children(process.pid) == []
        process.close_stdin()
        assert process.wait() == 0
        assert process.stderr.wait_end() == b""

    assert not log.path.exists()
    assert log.journals() == []


@pytest.mark.parametrize(
    ("name", "code"), [("no-such-agent", 127), ("/etc/passwd", 126), ("", 126)]
)
def test_the_off_switch_tells_what_cannot_be_started(log: Log, name: str, code: int) -> None:
    env = environment(ACP_PROXY_OFF="1")
    with Process(Way(log).command([name]), env=env) as process:
        assert process.wait() == code
        assert name.encode() in process.stderr.wait_end()
        assert process.stdout.wait_end() == b""


POISON = """
import os
with open({marker!r}, "a") as file:
    file.write({name!r} + "\\n")
raise ImportError("imported from an untrusted folder")
"""

STRANGERS = [
    "sqlite3.py", "_sqlite3.py", "orjson.py", "trio/__init__.py", "acp_proxy/__init__.py",
    "acp_proxy/recorder.py", "sitecustomize.py", "usercustomize.py", "json.py", "click.py",
    "platformdirs.py", "sqlite_utils.py", "sqlite_utils/__init__.py", "tabulate.py", "wcwidth.py",
    "os.py", "io.py", "struct.py", "_struct.py", "signal.py", "subprocess.py", "threading.py",
    "selectors.py", "logging.py", "uuid.py", "hashlib.py", "_hashlib.py", "tempfile.py",
    "random.py", "typing.py", "re.py", "enum.py", "runpy.py", "ctypes.py", "fcntl.py", "mmap.py",
    "migrations.py", "migrations/migrations.py", "encodings/__init__.py", "encodings/idna.py",
    "outcome.py", "sniffio.py", "attr.py", "attrs.py", "idna.py", "readline.py", "rlcompleter.py",
]  # fmt: skip


@pytest.mark.slow
def test_nothing_in_the_working_folder_is_ever_imported(log: Log, tmp_path: Path) -> None:
    folder, marker = tmp_path / "repository", tmp_path / "imported"
    for name in STRANGERS:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(POISON.format(marker=str(marker), name=name))
    (folder / "pyvenv.cfg").write_text("home = /nonexistent\n")
    (folder / "strange.pth").write_text(f"import os; open({str(marker)!r}, 'a').write('pth')\n")

    with Way(log).start(agent("echo"), cwd=folder) as process:
        process.send(b'{"jsonrpc":"2.0","id":1,"method":"initialize"}\n')
        process.stdout.wait_for(b"\n")
        wait_until(log.recorders, "a recorder runs")
        process.close_stdin()
        assert process.wait() == 0
        assert process.stderr.wait_end() == b""
    commands = [("connections", "--json"), ("messages",), ("verify",), ("log", "info")]
    for words in commands:
        with Process([str(PROXY), *words, "--log", str(log.path)], cwd=folder) as process:
            assert process.wait() == 0
            assert process.stderr.wait_end() == b""

    assert not marker.exists(), marker.read_text()
    assert log.connection()["messages"] == 2
