"""Odd places: strange names for the log, a working folder that is gone, a foreign spare folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.harness import AGENTS, PROXY, Log, Process, Way, agent, environment, needs_linux
from tests.transparency.conversation import Conversation, discard_waiting

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_linux


@pytest.mark.parametrize(
    "name",
    [
        "a b.db",
        "what?#100%25&mode=ro.db",
        "naïve ☕.db",
        "two\nlines.db",
        ":memory:",
        "file:x?y.db",
    ],
)
def test_a_log_may_have_any_name(tmp_path: Path, name: str) -> None:
    log = Log(tmp_path / "folder" / name)
    with Conversation(log) as conversation:
        conversation.talk()

    conversation.assert_complete(log.connection())
    log.assert_clean()
    assert log.info()["path"] == str(log.path)
    names = {path.name for path in log.path.parent.iterdir()}
    assert names <= {name, f"{name}-wal", f"{name}-shm", f"{name}.journals"}


@pytest.mark.parametrize("name", ["x" * 245, os.fsdecode(b"\xff.db")])
def test_a_log_with_a_name_that_cannot_be_used_disturbs_nobody(tmp_path: Path, name: str) -> None:
    log = Log(tmp_path / name)
    with Conversation(log) as conversation:
        conversation.talk()

    for command in ("connections", "verify"):
        done = log.ask(command)
        assert done.returncode in {0, 1}
        assert b"Traceback" not in done.stderr
    discard_waiting(log.info())


def test_a_relative_log_is_relative_to_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    command = [str(PROXY), "run", "--log", "here.db", *agent("echo", 3)]
    with Process(command, cwd=tmp_path / "work") as process:
        process.send(b"x\n")
        process.close_stdin()
        assert process.wait() == 3

    assert Log(tmp_path / "work" / "here.db").connection()["cwd"] == str(tmp_path / "work")


def test_a_working_folder_that_is_gone_disturbs_nobody(way: Way, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    script = 'rmdir "$PWD"; exec "$@"'
    command = ["sh", "-c", script, "sh", *way.command(["sh", "-c", "echo hello; exit 3"])]
    with Process(command, cwd=tmp_path / "gone") as process:
        assert process.wait() == 3
        assert process.stdout.wait_end() == b"hello\n"
        assert b"acp" not in process.stderr.wait_end()

    way.assert_recorded(client=b"", agent=b"hello\n")


def test_a_log_whose_folder_vanishes_disturbs_nobody(log: Log) -> None:
    with Conversation(log) as conversation:
        conversation.talk()
        moved = log.path.parent.rename(log.path.parent.with_name("moved"))
        conversation.talk_much(300_000)

    assert moved.is_dir()
    assert log.ask("connections").returncode in {0, 1}


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["-f 4", "-f 0", "-n 20", "-v 400000"])
def test_limits_on_files_and_memory_disturb_nobody(log: Log, proxied: Way, limit: str) -> None:
    command = ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", *proxied.command(agent("echo", 3))]
    data = bytes(200_000)
    with Process(command) as process:
        process.send(data)
        process.stdout.wait_count(len(data))
        process.close_stdin()
        assert process.wait() == 3
        assert process.stdout.wait_end() == data
        assert process.stderr.wait_end() == b""

    assert log.ask("connections").returncode == 0


PRIVATE = """
for dir in /var/tmp /tmp; do mount -t tmpfs -o mode=1777 tmpfs $dir || exit 77; done
unset TMPDIR
{prepare}
"$0" run --log /proc/acp-proxy-test/log.db -- echo hello >&2
find /var/tmp /tmp -mindepth 1 -printf '%y %U %m %P\\n'
"""
"""A script that records where nothing can be written, in a namespace of fresh spare folders, and
lists what was written into them: kind, owner, mode, and name."""

TRAPS = {
    "a link": 'mkdir -m 777 "$dir/else"; ln -s "$dir/else" "$dir/{name}"',
    "another owner": 'mkdir -m 777 "$dir/{name}"; chown 65534:65534 "$dir/{name}"',
    "open to all": 'mkdir "$dir/{name}"; chmod 777 "$dir/{name}"',
}


def spare_folders(prepare: str) -> list[list[str]]:
    """Run the script, and return the words of its list."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a namespace of its own")
    if PROXY.is_relative_to("/tmp") or AGENTS.is_relative_to("/tmp"):
        pytest.skip("the program lies where the test puts an empty folder")
    script = PRIVATE.format(prepare=prepare)
    with Process(["unshare", "-m", "sh", "-c", script, str(PROXY)], env=environment()) as process:
        listed = process.stdout.wait_end().decode()
        told = process.stderr.wait_end()
        if process.wait() == 77 or b"unshare" in told:
            pytest.skip(f"no namespace here: {told.decode()}")
    assert told == b"hello\n"
    return [line.split(maxsplit=3) for line in listed.splitlines()]


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS.keys())
def test_a_spare_folder_that_somebody_else_prepared_is_not_used(trap: str) -> None:
    usual = [name for _, _, _, name in spare_folders("") if "/" not in name]
    if not usual:
        pytest.skip("no spare folder is used")

    found = spare_folders(f"for dir in /var/tmp /tmp; do {trap.format(name=usual[0])}; done")

    places = {name: (owner, mode) for _, owner, mode, name in found if "/" not in name}
    for kind, owner, mode, name in found:
        folder = name.partition("/")[0]
        if kind == "f":
            assert places[folder] == ("0", "700"), f"{name} was written into a trap"
            assert (owner, mode) == ("0", "600")
