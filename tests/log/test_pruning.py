"""Deleting connections: all of one goes, nothing of another, whoever is killed or reads meanwhile."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from acp_proxy.errors import QueryError
from acp_proxy.journal import spool
from acp_proxy.log import pruning
from acp_proxy.log.gone import pruned, unfinished
from acp_proxy.log.upkeep import Upkeep
from acp_proxy.recording import open_recording
from tests.cli.commands import invoke
from tests.log.killing import kill_at, points
from tests.log.long import ask, put_long, rows_of
from tests.trusting import trusted

NO_PID = 2**22 + 7
"""More than Linux ever gives to a process."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with three connections; to be copied."""
    log = tmp_path_factory.mktemp("made") / "log.db"
    for seed in (1, 2, 3):
        put_long(log, 5000 if seed == 2 else 300, seed=seed)
    return log


@pytest.fixture
def log(made: Path, tmp_path: Path) -> Path:
    path = tmp_path / "log.db"
    with closing(sqlite3.connect(made)) as source, closing(sqlite3.connect(path)) as copy:
        source.backup(copy)
    return trusted(path)


def prune(log: Path, *ids: int) -> pruning.Freed:
    found = pruning.survey(str(log))
    with Upkeep(str(log)) as upkeep:
        return pruning.prune(upkeep, [one for one in found.candidates if one.id in ids], "a test")


@pytest.mark.slow
def test_all_of_a_connection_goes_and_nothing_of_another(log: Path) -> None:
    before = {id_: rows_of(log, id_) for id_ in (1, 2, 3)}
    assert min(before[2][table] for table in ("frames", "messages", "texts", "checkpoints")) > 0

    freed = prune(log, 2)

    assert set(rows_of(log, 2).values()) == {0, 1}  # but the row that tells of it
    assert rows_of(log, 2)["pruned"] == 1
    assert (rows_of(log, 1), rows_of(log, 3)) == (before[1], before[3])
    assert [one.id for one in freed.gone] == [2]
    assert freed.bytes > 2_000_000
    invoke("verify", "--log", log)
    assert ask(log, "SELECT count(*) FROM search_docsize") == ask(log, "SELECT count(*) FROM texts")
    with closing(sqlite3.connect(log)) as db:  # FTS5 compares its index with the texts
        db.execute("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")


def test_the_index_is_merged_when_somebody_wants_it_gone(log: Path) -> None:
    def dead_words() -> int:
        """Return how many segments the index has: one when nothing of the deleted is left."""
        sql = "SELECT count(DISTINCT segid) FROM search_idx"
        [[count]] = ask(log, sql)
        assert isinstance(count, int)
        return count

    put_long(log, 3)
    prune(log, 4)  # little of the log
    assert dead_words() > 1

    invoke("log", "vacuum", "--log", log)

    assert dead_words() == 1


def test_every_table_that_knows_connections_is_seen_to(log: Path) -> None:
    with closing(sqlite3.connect(log)) as db:
        db.executescript(
            "CREATE TABLE later (connection_id INTEGER, x); INSERT INTO later VALUES (2, 1), (3, 1);"
            "CREATE TABLE keyed (connection_id INTEGER, k TEXT, PRIMARY KEY (connection_id, k)) "
            "WITHOUT ROWID; INSERT INTO keyed VALUES (2, 'a'), (2, 'b'), (3, 'a');"
        )

    prune(log, 2)

    assert ask(log, "SELECT connection_id FROM later") == [(3,)]
    assert ask(log, "SELECT connection_id FROM keyed") == [(3,)]


@pytest.mark.slow
def test_its_words_are_not_in_the_index_any_more(log: Path) -> None:
    prune(log, 1, 2, 3)

    with closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True)) as db:
        blocks = b"".join(block for (block,) in db.execute("SELECT block FROM search_data"))
    assert b"garden" not in blocks


def test_ids_are_never_given_again(log: Path) -> None:
    prune(log, 3)

    assert put_long(log, 1) == 4


def test_who_looks_for_it_is_told_what_became_of_it(log: Path) -> None:
    with open_recording(log) as recording:
        uuid = recording.connection(2).uuid
    prune(log, 2)

    with open_recording(log) as recording:
        for reference in ("2", uuid, uuid[:8]):
            with pytest.raises(QueryError, match=r"connection 2 was deleted on \d{4}-.* by a test"):
                recording.connection(reference)
        assert [row.id for row in recording.connections()] == [3, 1]


def test_what_runs_stays_even_when_it_began_meanwhile(log: Path) -> None:
    candidates = pruning.survey(str(log)).candidates
    with closing(sqlite3.connect(log)) as db:
        db.execute("UPDATE connections SET status = 'running' WHERE id = 2")
        db.commit()

    with Upkeep(str(log)) as upkeep:
        freed = pruning.prune(upkeep, candidates, "a test")

    assert [one.id for one in freed.gone] == [1, 3]
    assert [one.stays for one in pruning.survey(str(log)).candidates] == ["it is running"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("host", "pid", "stays"),
    [
        (os.uname().nodename, NO_PID, None),
        (os.uname().nodename, 0, "it is running"),
        (os.uname().nodename, 1, "it is running"),
        (os.uname().nodename, None, "it is running"),
        ("elsewhere", NO_PID, "it is running"),
        (None, NO_PID, "it is running"),
    ],
)
def test_what_nobody_will_ever_end_may_go(
    log: Path, host: str | None, pid: int | None, stays: str | None
) -> None:
    pid = os.getpid() if pid == 0 else pid
    with closing(sqlite3.connect(log)) as db:
        told = "status = 'running', host = ?, proxy_pid = ?, crc = NULL WHERE id = 2"
        db.execute(f"UPDATE connections SET {told}", (host, pid))
        db.commit()

    candidates = pruning.survey(str(log)).candidates

    assert {one.id: one.stays for one in candidates} == {1: None, 2: stays, 3: None}
    with Upkeep(str(log)) as upkeep:
        going = [one for one in candidates if one.stays is None]
        assert pruning.prune(upkeep, going, "a test").gone == going


def test_what_runs_stays_while_its_journal_is_there(log: Path) -> None:
    [[uuid]] = ask(log, "SELECT uuid FROM connections WHERE id = 2")
    journal = Path(spool.folder_of(str(log)), str(uuid))
    journal.parent.mkdir(mode=0o700)
    journal.touch()
    with closing(sqlite3.connect(log)) as db:
        told = "status = 'running', host = ?, proxy_pid = ?, crc = NULL WHERE id = 2"
        db.execute(f"UPDATE connections SET {told}", (os.uname().nodename, NO_PID))
        db.commit()
    assert {one.id: one.stays for one in pruning.survey(str(log)).candidates}[2] == "it is running"


def test_what_waits_in_a_journal_stays(log: Path) -> None:
    [[uuid]] = ask(log, "SELECT uuid FROM connections WHERE id = 2")
    journal = Path(spool.folder_of(str(log)), str(uuid))
    journal.parent.mkdir(mode=0o700)
    journal.write_bytes(b"a journal")

    stays = {one.id: one.stays for one in pruning.survey(str(log)).candidates}

    assert stays == {1: None, 2: "its journal waits to be recorded", 3: None}


@pytest.mark.slow
def test_killed_anywhere_the_log_is_whole_and_the_next_goes_on(log: Path, tmp_path: Path) -> None:
    """The process dies at points of its work that SQLite's own steps count."""
    work = (
        "from acp_proxy.log import pruning\n"
        "found = pruning.survey(path)\n"
        "pruning.prune(upkeep, [one for one in found.candidates if one.id != 3], 'a test')\n"
    )
    half = 0
    for place, point in enumerate(points(log, work, tmp_path, 8)):
        copy = tmp_path / f"{place}.db"
        kill_at(log, copy, work, point)

        with open_recording(copy) as recording:
            left = {row.id for row in recording.connections()}
        assert left >= {3}
        invoke("verify", "--log", copy)
        assert "connection 1" not in invoke("search", "garden", "--log", copy).stdout or 1 in left
        with closing(sqlite3.connect(copy)) as db:
            half += len(unfinished(db))
        prune(copy)  # nothing more, but what was begun

        for id_ in {1, 2} - left:
            assert {table for table, count in rows_of(copy, id_).items() if count} == {"pruned"}
        with closing(sqlite3.connect(copy)) as db:
            assert unfinished(db) == []
            assert {one.connection_id for one in pruned(db)} == {1, 2, 3} - left
        invoke("verify", "--log", copy)
    assert half >= 2


def test_a_reader_in_the_middle_of_it_reads_it_to_its_end(log: Path) -> None:
    with open_recording(log) as recording:
        frames = recording.frames(2)
        first = next(frames)
        prune(log, 2)
        rest = list(frames)

    assert first.seq == 1
    assert len(rest) > 5000
    assert rest[-1].raw == b"no end"


def test_another_can_write_between_its_slices(log: Path) -> None:
    """A writer with the recorder's patience gets its turn while a large connection is deleted."""
    writing = (
        "import sqlite3, sys\n"
        "db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=5)\n"
        "print('ready', flush=True)\n"
        "for n in range(20):\n"
        "    db.execute('BEGIN IMMEDIATE')\n"
        "    db.execute('CREATE TABLE IF NOT EXISTS beside (n)')\n"
        "    db.execute('INSERT INTO beside VALUES (?)', (n,))\n"
        "    db.execute('COMMIT')\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", writing, str(log)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"ready\n"
        prune(log, 2)
        _, complaint = other.communicate(timeout=120)

    assert (other.returncode, complaint) == (0, b"")
    assert ask(log, "SELECT count(*), max(n) FROM beside") == [(20, 19)]
    invoke("verify", "--log", log)
