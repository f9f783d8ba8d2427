"""Trouble with the log never reaches the traffic, and is told afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness import Log, Process, agent, environment, needs_linux, wait_until
from tests.transparency.conversation import Conversation, discard_waiting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

pytestmark = needs_linux

LOCKED_SECONDS = float(os.environ.get("ACP_TEST_LOCKED", "3"))


def assert_all_is_recorded(*conversations: Conversation) -> None:
    """Fail unless the log holds these conversations, oldest first, and nothing waits."""
    log = conversations[0].log
    connections = log.connections()
    assert len(connections) == len(conversations)
    for conversation, connection in zip(conversations, reversed(connections), strict=True):
        conversation.assert_complete(connection)
    log.assert_clean()
    assert log.journals() == []
    info = log.info()
    assert info["problem"] is None
    assert info["waiting"] == []


def assert_one_waits(log: Log, size: int) -> str:
    """Fail unless ``log info`` tells of one waiting journal, and return the log's problem."""
    info = log.info()
    (waiting,) = info["waiting"]
    assert Path(waiting["journal"]).is_file()
    assert waiting["bytes"] >= size
    assert waiting["command"] == agent("floods_stderr", 300)
    assert waiting["why"]
    assert waiting["remedy"]
    return str(info["problem"] or "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [{}, {"PYTHONDEVMODE": "1", "PYTHONWARNINGS": "always"}, {"PYTHONUNBUFFERED": "1", "TERM": ""}],
    ids=["ordinary", "developer mode", "unbuffered"],
)
def test_an_ordinary_conversation_is_silent(log: Log, changes: dict[str, str]) -> None:
    with Conversation(log, environment(**changes)) as conversation:
        conversation.talk()

    assert_all_is_recorded(conversation)


def test_an_empty_file_is_a_fresh_log(log: Log) -> None:
    log.path.parent.mkdir()
    log.path.touch()
    with Conversation(log) as conversation:
        conversation.talk()

    assert_all_is_recorded(conversation)


# A folder that cannot be written.


def mount(*words: str | Path) -> None:
    """Mount something, or skip the test where that is not possible."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount")
    done = subprocess.run(["mount", *map(str, words)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"cannot mount here: {done.stderr.decode().strip()}")


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A folder to mount something on; unmounted afterwards."""
    folder = tmp_path / "mounted"
    folder.mkdir()
    yield folder

    def unmounted() -> bool:
        subprocess.run(["umount", str(folder)], capture_output=True, check=False)
        return not folder.is_mount()

    wait_until(unmounted, "the folder is unmounted")


@pytest.mark.slow
def test_a_log_where_nothing_can_be_written_disturbs_nobody() -> None:
    log = Log(Path("/proc/acp-proxy-test/log.db"))
    with Conversation(log) as conversation:
        conversation.talk()

    info = log.info()
    discard_waiting(info)
    assert info["exists"] is False
    assert info["problem"] or info["waiting"]


@pytest.mark.slow
def test_a_log_below_a_regular_file_disturbs_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    log = Log(tmp_path / "file" / "log.db")
    with Conversation(log) as conversation:
        conversation.talk()

    assert (tmp_path / "file").read_text() == "not a folder"
    info = log.info()
    assert info["writable"] is False
    assert info["problem"]
    (tmp_path / "file").unlink()
    if info["waiting"]:
        assert_all_is_recorded(conversation)


@pytest.mark.slow
def test_a_log_in_a_read_only_folder_disturbs_nobody(mounted: Path) -> None:
    log = Log(mounted / "log.db")
    with Conversation(log) as before:
        before.talk()
    assert_all_is_recorded(before)
    wait_until(lambda: not log.recorders(), "the recorder has ended")
    mount("--bind", mounted, mounted)
    mount("-o", "remount,ro,bind", mounted)

    with Conversation(log) as conversation:
        conversation.talk()

    info = log.info()
    assert info["writable"] is False
    assert info["problem"]
    assert info["connections"] == 1
    if info["waiting"]:
        mount("-o", "remount,rw,bind", mounted)
        assert_all_is_recorded(before, conversation)


@pytest.mark.slow
def test_a_log_that_is_a_folder_disturbs_nobody(log: Log) -> None:
    log.path.mkdir(parents=True)
    with Conversation(log) as conversation:
        conversation.talk()

    assert assert_one_waits(log, len(conversation.said))
    log.path.rmdir()
    assert_all_is_recorded(conversation)


def test_a_file_in_the_place_of_the_journals_disturbs_nobody(log: Log) -> None:
    log.path.parent.mkdir()
    log.journals_path.write_text("not a folder")
    with Conversation(log) as conversation:
        conversation.talk()

    assert log.journals_path.read_text() == "not a folder"
    info = log.info()
    if not info["problem"]:
        assert_all_is_recorded(conversation)


# A file that is no log, or none of ours.


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["garbage", "damaged", "text"])
def test_a_corrupted_log_disturbs_nobody_and_all_is_recorded_once_it_is_gone(
    log: Log, kind: str
) -> None:
    log.path.parent.mkdir()
    with contextlib.closing(sqlite3.connect(log.path)) as db:
        db.execute("CREATE TABLE t (x)")
        db.commit()
    good = log.path.read_bytes()
    bad = {
        "garbage": b"\xde\xad" * 9000,
        "damaged": good[:100] + b"\xff" * 8092,
        "text": b"notes\n",
    }
    log.path.write_bytes(bad[kind])

    with Conversation(log) as conversation:
        conversation.talk()

    assert assert_one_waits(log, len(conversation.said))
    refused = log.ask("connections", "--json")
    assert refused.returncode != 0
    assert str(log.path).encode() in refused.stderr
    assert log.path.read_bytes() == bad[kind]

    for path in log.path.parent.glob(f"{log.path.name}*"):
        if path.is_file():
            path.unlink()
    assert_all_is_recorded(conversation)


@pytest.mark.slow
def test_a_log_from_a_newer_version_is_left_alone_and_told(log: Log) -> None:
    with Conversation(log) as before:
        before.talk()
    assert_all_is_recorded(before)
    step = ("acp_proxy", "m9999_from_the_future", "2099-01-01")
    change_log(
        log,
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, ?, ?)",
        step,
    )

    with Conversation(log) as conversation:
        conversation.talk()

    assert "newer" in assert_one_waits(log, len(conversation.said))
    change_log(log, "DELETE FROM _sqlite_migrations WHERE name = ?", step[1:2])
    assert_all_is_recorded(before, conversation)


def change_log(log: Log, statement: str, values: Sequence[str]) -> None:
    """Change the log behind the program's back."""
    with contextlib.closing(sqlite3.connect(log.path, timeout=30)) as db:
        db.execute(statement, values)
        db.commit()


# A log that somebody else has locked.


@pytest.mark.slow
@pytest.mark.parametrize("against", ["writers", "everyone"])
def test_a_locked_log_disturbs_nobody_and_is_written_later(log: Log, against: str) -> None:
    with Conversation(log) as before:
        before.talk()
    assert_all_is_recorded(before)
    wait_until(lambda: not log.recorders(), "the recorder has ended")

    with Process(agent("holds_lock", log.path, against)) as holder:
        holder.stdout.wait_for(b"locked\n")
        end = time.monotonic() + LOCKED_SECONDS
        with Conversation(log) as conversation:
            conversation.talk()
            while time.monotonic() < end:
                conversation.talk(1)
        assert len(log.journals()) == 1
        if against == "writers":
            assert_one_waits(log, len(conversation.said))
        holder.close_stdin()
        assert holder.wait() == 0
        assert holder.stderr.wait_end() == b""

    assert_all_is_recorded(before, conversation)


# A full disk.


def without_gaps(data: bytes, gaps: Sequence[tuple[int, int]], *, in_recorded: bool) -> bytes:
    """Return ``data`` without the gaps, whose offsets count all bytes or the recorded ones."""
    kept, position = bytearray(), 0
    for offset, size in sorted(gaps):
        start = offset - len(kept) + position if in_recorded else offset
        kept += data[position:start]
        position = start + size
    return bytes(kept + data[position:])


def assert_gaps_tell_what_is_missing(conversation: Conversation) -> None:
    """Fail unless what was recorded is what was said, but for the told gaps."""
    (connection,) = conversation.log.connections()
    for stream in ("client", "agent"):
        gaps = [(g["offset"], g["bytes"]) for g in connection["gaps"] if g["from"] == stream]
        recorded = conversation.log.export(stream)
        said = bytes(conversation.said)
        assert len(recorded) + sum(size for _, size in gaps) == len(said)
        assert recorded in [without_gaps(said, gaps, in_recorded=way) for way in (False, True)]
    assert connection["gaps"]
    verified = json.loads(conversation.log.ask("verify", "--json").stdout)
    assert len(verified["problems"]) == len(connection["gaps"])
    assert all("were relayed but not" in one["problem"] for one in verified["problems"])


@pytest.mark.slow
@pytest.mark.parametrize("ends", ["after there is room again", "while it is full"])
def test_a_full_disk_disturbs_nobody_and_the_gap_is_told(mounted: Path, ends: str) -> None:
    mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", mounted)
    log = Log(mounted / "log.db")
    with Conversation(log) as conversation:
        conversation.talk()
        conversation.talk_much(2_000_000)
        conversation.talk()
        if ends == "after there is room again":
            mount("-o", "remount,size=64m", mounted)
            conversation.talk_much(100_000)
            conversation.talk()
    assert log.ask("log", "info").returncode in {0, 1}

    mount("-o", "remount,size=64m", mounted)
    assert_gaps_tell_what_is_missing(conversation)
    connection = log.connection()
    assert (connection["status"], connection["exitCode"]) in {("exited", 2), ("lost", None)}
    assert log.info()["waiting"] == []
