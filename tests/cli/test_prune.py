"""What `prune` deletes, asks for and tells, and what `run --keep` does by itself."""

import os
import pty
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import document, invoke
from tests.cli.conversations import V1, V2, put
from tests.harness import PROXY, Log, environment, wait_until
from tests.log.long import ask, put_long
from tests.transparency.conversation import Conversation

DAY = 86400 * 10**9


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Four connections, 40, 30, 20 and 10 days old."""
    path = tmp_path / "log.db"
    for conversation in (V1, V2, V1, V2):
        put(path, conversation)
    with closing(sqlite3.connect(path)) as db:
        older = "added_ns = added_ns - (5 - id) * 10 * ?, crc = NULL"
        db.execute(f"UPDATE connections SET {older}", (DAY,))
        db.commit()
    return path


def ids(log: Path) -> list[int]:
    return [id_ for (id_,) in ask(log, "SELECT id FROM connections ORDER BY id")]  # type: ignore[misc]


def planned(log: Path, *arguments: object) -> list[int]:
    plan = document("prune", *arguments, "--log", log)
    assert plan["deleted"] is None
    return [one["connection"] for one in plan["toDelete"]]


@pytest.mark.parametrize(
    ("arguments", "gone"),
    [
        (["--older-than", "25d"], [1, 2]),
        (["--older-than", "25d", "--keep-last", "3"], [1]),
        (["--keep-last", "1"], [1, 2, 3]),
        (["--to-size", "0"], [1, 2, 3, 4]),
        (["--to-size", "1G"], []),
        (["2", "4"], [2, 4]),
        (["latest"], [4]),
        (["1", "2", "3", "--older-than", "3w"], [1, 2]),
    ],
)
def test_what_goes_is_told_first_and_deleted_with_yes(
    log: Path, arguments: list[str], gone: list[int]
) -> None:
    assert planned(log, *arguments) == gone
    assert ids(log) == [1, 2, 3, 4]

    done = document("prune", *arguments, "--yes", "--log", log)

    assert [one["connection"] for one in done["toDelete"]] == gone
    if gone:
        assert done["deleted"]["connections"] == gone
        assert done["deleted"]["frames"] == sum(one["frames"] for one in done["toDelete"])
    assert ids(log) == [id_ for id_ in (1, 2, 3, 4) if id_ not in gone]
    invoke("verify", "--log", log)


def test_without_a_word_what_to_delete_nothing_is(log: Path) -> None:
    assert "--older-than" in invoke("prune", "--yes", "--log", log, code=2).stderr
    assert "is no age" in invoke("prune", "--older-than", "30", "--log", log, code=2).stderr
    assert "is no size" in invoke("prune", "--to-size", "all", "--log", log, code=2).stderr
    assert ids(log) == [1, 2, 3, 4]


def test_a_page_tells_what_would_go_and_what_went(log: Path) -> None:
    page = invoke("prune", "--older-than", "35d", "--log", log).stdout
    assert "to delete: 1 connection, 17 frames, 17 messages, about" in page
    assert "nothing was deleted: --yes does it" in page

    page = invoke("prune", "--older-than", "35d", "--yes", "--log", log).stdout
    assert "deleted:   1 connection, 17 frames, 17 messages;" in page
    assert "by prune --older-than 35d" in invoke("log", "info", "--log", log).stdout
    told = invoke("show", "1", "1", "--log", log, code=1).stderr
    assert "connection 1 was deleted on" in told
    assert "by prune --older-than 35d" in told
    assert "to delete: nothing" in invoke("prune", "--older-than", "35d", "--log", log).stdout


def test_a_named_one_that_stays_is_told(log: Path) -> None:
    with closing(sqlite3.connect(log)) as db:
        db.execute("UPDATE connections SET status = 'running' WHERE id = 2")
        db.commit()

    result = invoke("prune", "1", "2", "--yes", "--log", log, code=1)

    assert "connection 2: it is running" in result.stdout
    assert ids(log) == [2, 3, 4]


@pytest.mark.parametrize(("answer", "left"), [(b"n\n", [1, 2, 3, 4]), (b"y\n", [2, 3, 4])])
def test_at_a_terminal_it_asks(log: Path, answer: bytes, left: list[int]) -> None:
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [PROXY, "prune", "1", "--log", log],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environment(TERM="dumb"),
    ) as process:
        os.close(follower)
        shown = b""
        while b"for good? [y/N]" not in shown:
            piece = os.read(leader, 4096)
            assert piece
            shown += piece
        os.write(leader, answer)
        assert process.wait(60) == 0
    os.close(leader)

    assert ids(log) == left


@pytest.mark.slow
def test_the_space_goes_back_to_the_disk_when_asked(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    put_long(log, 5000)
    put_long(log, 10)
    large = log.stat().st_size

    done = document("prune", "1", "--yes", "--vacuum", "--log", log)

    assert done["deleted"]["bytes"] > large * 0.8
    assert done["vacuumed"]["after"] == log.stat().st_size
    assert log.stat().st_size < large * 0.2
    invoke("verify", "--log", log)


def test_vacuum_completes_what_was_interrupted(log: Path) -> None:
    with closing(sqlite3.connect(log)) as db:
        db.execute(
            "INSERT INTO pruned SELECT id, uuid, added_ns, frames, messages, 1, 1, 'a test', 0 "
            "FROM connections WHERE id = 3"
        )
        db.execute("DELETE FROM connections WHERE id = 3")
        db.commit()
    assert document("log", "info", "--log", log)["space"]["halfDeleted"] == [3]
    assert "half gone: 3" in invoke("prune", "--older-than", "1y", "--log", log).stdout
    assert "connection 3" not in invoke("search", "hi", "--log", log).stdout
    invoke("verify", "--log", log)

    invoke("log", "vacuum", "--log", log)

    assert document("log", "info", "--log", log)["space"]["halfDeleted"] == []
    assert ask(log, "SELECT count(*) FROM frames WHERE connection_id = 3") == [(0,)]


@pytest.mark.slow
def test_a_log_that_was_made_incremental_gives_back_in_slices(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    put_long(log, 3000)
    put_long(log, 10)
    first = document("log", "vacuum", "--incremental", "--log", log)
    assert first["inSlices"] is False
    invoke("prune", "1", "--yes", "--log", log)

    done = document("log", "vacuum", "--log", log)

    assert done["inSlices"] is True
    assert done["after"] < done["before"] / 2
    invoke("verify", "--log", log)


def test_a_log_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    for words in (["log", "vacuum"], ["prune", "--keep-last", "1"], ["compact", "--all"]):
        assert "there is no log" in invoke(*words, "--log", tmp_path / "no.db", code=1).stderr
    assert list(tmp_path.iterdir()) == []


# run --keep


def run(log: Path, *options: str, running: int = 0, **changes: str) -> None:
    """Record a short conversation, all of it, while so many others run."""
    command = [str(PROXY), "run", "--log", str(log), *options, "--", "echo", "hello"]
    env = environment(**changes)
    subprocess.run(
        command,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=env,
        timeout=60,
    )
    wait_until(lambda: len(Log(log).journals()) <= running, "all is recorded")
    wait_until(lambda: len(Log(log).recorders()) <= running, "its recorder has ended")


def test_run_keeps_the_log_as_young_as_asked_and_says_so(log: Path) -> None:
    run(log, "--keep", "25d")

    assert ids(log) == [3, 4, 5]
    assert document("log", "info", "--log", log)["space"]["pruned"][0].startswith(
        "2 connections by run --keep 25d, last on "
    )
    invoke("verify", "--log", log)


@pytest.mark.slow
def test_run_keeps_the_log_small_but_never_deletes_the_newest(log: Path) -> None:
    run(log, ACP_PROXY_KEEP="1K")

    assert ids(log) == [5]


def test_the_option_is_stronger_than_the_environment(log: Path) -> None:
    run(log, "--keep=100d", ACP_PROXY_KEEP="1d")

    assert ids(log) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("keep", ["", "30", "everything", "30d;2G"])
def test_what_cannot_be_understood_deletes_nothing(log: Path, keep: str) -> None:
    run(log, ACP_PROXY_KEEP=keep)

    assert ids(log) == [1, 2, 3, 4, 5]
    notes: list[dict[str, Any]] = document("connections", "--log", log)[0]["notes"]
    assert [note["event"] for note in notes if note["event"] == "keep ignored"] == (
        ["keep ignored"] if keep else []
    )
    if keep:
        command = [str(PROXY), "run", "--keep", keep, "--log", str(log), "--", "echo", "hello"]
        done = subprocess.run(command, check=False, capture_output=True, timeout=60)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"--keep" in done.stderr


@pytest.mark.slow
def test_those_that_run_stay_and_are_whole(log: Path) -> None:
    with Conversation(Log(log)) as conversation:
        conversation.talk()
        wait_until(lambda: len(ids(log)) == 5, "it is in the log")
        run(log, "--keep", "1K", running=1)
        assert ids(log) == [5, 6]
        conversation.talk()

    wait_until(lambda: not Log(log).journals(), "all is recorded")
    conversation.assert_complete(Log(log).connections()[1])
    Log(log).assert_clean()
