"""A damaged -wal is told: SQLite passes over what stands behind the damage without a word."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acp_proxy.log import wal
from tests.cli.commands import document, invoke
from tests.trusting import trusted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINE = b'{"from":"agent","data":"word %d"}\n'
_HEAD = 32
_FRAME = 24 + 4096


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of two connections, the second of which stands in the -wal alone."""
    made, log = tmp_path / "made.db", tmp_path / "log.db"
    invoke("import", "-", "--log", made, stdin=LINE % 1)
    with contextlib.closing(sqlite3.connect(made)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM frames").fetchall()
        invoke("import", "-", "--log", made, stdin=LINE % 2)
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{made}{suffix}", f"{log}{suffix}")
    return trusted(log)


def damage(log: Path, at: int, data: bytes = b"\xa5\x5a") -> None:
    with open(f"{log}-wal", "r+b") as file:
        file.seek(at)
        file.write(data)


def test_a_sound_one_is_read_without_a_word(log: Path) -> None:
    result = invoke("connections", "--jsonl", "--log", log)

    assert len(result.stdout.splitlines()) == 2
    assert result.stderr == ""
    assert "all is well: 2 connections" in invoke("verify", "--log", log).stdout


@pytest.mark.parametrize(
    "at", [0, 8, 16, 20, 24, _HEAD, _HEAD + 8, _HEAD + 16, _HEAD + 600, _HEAD + _FRAME + 9]
)
def test_damage_is_told_with_every_answer(log: Path, at: int) -> None:
    damage(log, at)
    result = invoke("connections", "--jsonl", "--log", log)

    assert len(result.stdout.splitlines()) == 1
    assert "log.db-wal is damaged: what was recorded last" in result.stderr
    assert "log.db-wal is damaged" in document("log", "info", "--log", log)["problem"]
    assert "log.db-wal is damaged" in invoke("verify", "--log", log, code=1).stdout


def test_what_a_writer_overwrote_or_took_back_is_no_damage(tmp_path: Path) -> None:
    path = str(tmp_path / "log.db")

    def losses() -> list[str]:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as reader:
            reader.execute("SELECT count(*) FROM t").fetchall()
            return wal.losses(path, is_passed_over=False)

    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA cache_size = 5")  # so that what is taken back was written
        db.execute("CREATE TABLE t (x)")
        for number in range(60):
            db.execute("BEGIN")
            for _ in range(number % 23):
                db.execute("INSERT INTO t VALUES (zeroblob(3000))")
            db.execute("ROLLBACK" if number % 3 == 0 else "COMMIT")
            if number % 11 == 0:
                mode = ("PASSIVE", "RESTART", "TRUNCATE")[number // 11 % 3]
                db.execute(f"PRAGMA wal_checkpoint({mode})")
            assert losses() == []


@pytest.fixture
def crowd(tmp_path: Path) -> Iterator[Path]:
    """A log into which another process writes all the time."""
    path = tmp_path / "log.db"
    script = (
        "import sqlite3, sys\n"
        "db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "db.execute('PRAGMA journal_mode = WAL'); db.execute('CREATE TABLE t (x)')\n"
        "print('ready', flush=True)\n"
        "for n in range(10**6): db.execute('INSERT INTO t VALUES (zeroblob(?))', (n % 9000,))"
    )
    with subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        yield path
        writer.kill()


def test_what_is_being_written_is_no_damage(crowd: Path) -> None:
    with contextlib.closing(sqlite3.connect(f"file:{crowd}?mode=ro", uri=True)) as reader:
        for _ in range(300):
            reader.execute("SELECT count(*) FROM t").fetchall()
            assert wal.losses(str(crowd), is_passed_over=False) == []


def test_a_wal_that_is_passed_over_is_told(log: Path) -> None:
    [loss] = wal.losses(str(log), is_passed_over=True)

    assert "log.db-wal cannot be read" in loss
    assert wal.losses(str(log) + "x", is_passed_over=True) == []
