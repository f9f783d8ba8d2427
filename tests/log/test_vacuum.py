"""Giving space back: beside recorders and readers, with enough room or not, killed anywhere."""

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from acp_proxy.errors import LogError
from acp_proxy.log.identity import LogUnavailableError
from acp_proxy.log.reader import LogReader
from acp_proxy.log.schema import LogLockedError
from acp_proxy.log.upkeep import Upkeep
from acp_proxy.log.vacuum import vacuum
from tests.cli.commands import invoke
from tests.harness import Log, wait_until
from tests.log.killing import copied, kill_at, points
from tests.log.long import ask, put_long
from tests.transparency.conversation import Conversation


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of which half is free; to be copied."""
    log = tmp_path_factory.mktemp("made") / "log.db"
    put_long(log, 3000, seed=1)
    put_long(log, 1500, seed=2)
    invoke("prune", "1", "--yes", "--log", log)
    return log


@pytest.fixture
def log(made: Path, tmp_path: Path) -> Path:
    return copied(made, tmp_path / "log.db")


def free(log: Path) -> int:
    [[pages]] = ask(log, "PRAGMA freelist_count")
    assert isinstance(pages, int)
    return pages


@pytest.mark.slow
def test_a_conversation_beside_it_notices_nothing(log: Path) -> None:
    with Conversation(Log(log)) as conversation:
        for _ in range(3):
            conversation.talk()
            invoke("log", "vacuum", "--log", log)
            invoke("prune", "2", "--yes", "--log", log, code=0 if _connection_is_there(log) else 1)
        conversation.talk()
    wait_until(lambda: not Log(log).journals(), "all is recorded")

    conversation.assert_complete(Log(log).connections()[0])
    Log(log).assert_clean()


def _connection_is_there(log: Path) -> bool:
    return ask(log, "SELECT id FROM connections WHERE id = 2") != []


def test_a_reader_goes_on_and_the_file_becomes_smaller_afterwards(log: Path) -> None:
    with LogReader(str(log)) as reader, Upkeep(str(log), busy_ms=50) as upkeep:
        right = list(reader.frames(2))
        frames = reader.frames(2)
        some = [next(frames) for _ in range(5)]

        done = vacuum(upkeep)

        assert done.waits
        assert [*some, *frames] == right
        again = vacuum(upkeep)
    assert not again.waits
    assert again.after < done.before * 0.6
    assert free(log) == 0


def test_while_somebody_writes_it_says_so_and_changes_nothing(log: Path) -> None:
    before = free(log)
    with closing(sqlite3.connect(log, isolation_level=None)) as db:
        with Upkeep(str(log), busy_ms=50) as upkeep:
            db.execute("BEGIN IMMEDIATE")
            with pytest.raises(LogLockedError, match=r"locked.*try again"):
                vacuum(upkeep)
        db.execute("ROLLBACK")

    assert free(log) == before


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file system with room for little; the test is skipped where none can be made."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("cannot mount here")
    monkeypatch.setenv("SQLITE_TMPDIR", str(folder))
    yield folder

    def unmounted() -> bool:
        subprocess.run(["umount", str(folder)], capture_output=True, check=False)
        return not folder.is_mount()

    wait_until(unmounted, "the folder is unmounted")


def test_without_room_for_it_it_is_not_begun(made: Path, small_disk: Path) -> None:
    log = copied(made, small_disk / "log.db")

    with Upkeep(str(log)) as upkeep, pytest.raises(LogUnavailableError, match=r"no room.*are free"):
        vacuum(upkeep)

    invoke("verify", "--log", log)


@pytest.mark.slow
def test_killed_anywhere_the_log_is_whole(made: Path, tmp_path: Path) -> None:
    work = "from acp_proxy.log.vacuum import vacuum\nvacuum(upkeep)\n"
    for place, point in enumerate(points(made, work, tmp_path, 5)):
        copy = tmp_path / f"{place}.db"
        kill_at(made, copy, work, point)

        invoke("verify", "--log", copy)
        invoke("log", "vacuum", "--log", copy)
        assert free(copy) == 0


def test_it_cannot_be_done_to_what_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "no.db").write_bytes(b"no database at all, really" * 100)

    with pytest.raises(LogError, match="was never a log"):
        Upkeep(str(tmp_path / "no.db"))
