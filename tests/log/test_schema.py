"""The log's file: made once by many, refused when newer, never changed by readers."""

import hashlib
import os
import re
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from acp_proxy.errors import LogError
from acp_proxy.log import schema
from acp_proxy.log.reader import LogReader
from acp_proxy.log.rows import IndexRow
from acp_proxy.log.schema import LogLockedError, NoLogError, open_for_reading, open_for_writing
from acp_proxy.log.writer import LogWriter
from tests.trusting import trusted

RELEASED = {
    "m0001_recording": "1466e087cde428b0",
    "m0002_state": "a409d9b47b7865ec",
    "m0003_search": "384eda577ad72e2d",
    "m0004_checksums": "8df7997c0031ae3c",
    "m0005_compaction": "efbf7eab5a7e4499",
    "m0006_connection_checksum": "461e8f2c606aa43a",
}
"""The hash of each step's SQL: released steps are frozen. Add to this, never change it."""


@pytest.fixture
def log(tmp_path: Path) -> str:
    return str(tmp_path / "folder" / "log.db")


def test_steps_are_those_of_the_history_and_do_not_change() -> None:
    text = schema.history_path().read_text()
    steps = re.findall(
        r'def (m\d{4}_\w+)\(db.*?db\.executescript\("""\n(.*?)"""\)', text, re.DOTALL
    )

    assert [name for name, _ in steps] == list(schema.STEPS)
    assert {name: hashlib.sha256(sql.encode()).hexdigest()[:16] for name, sql in steps} == RELEASED


def test_a_new_log_is_private(log: str) -> None:
    old = os.umask(0)
    try:
        LogWriter(log).close()
    finally:
        os.umask(old)

    assert stat.S_IMODE(os.stat(log).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(log)).st_mode) == 0o700


def test_many_at_once_make_one_log(log: str) -> None:
    code = "import sys; from acp_proxy.log.writer import LogWriter; LogWriter(sys.argv[1]).close()"
    processes = [
        subprocess.Popen([sys.executable, "-c", code, log], stderr=subprocess.PIPE)
        for _ in range(8)
    ]
    results = [process.communicate(timeout=120)[1] for process in processes]

    assert [process.returncode for process in processes] == [0] * 8, results
    assert schema.applied_steps(log) == list(schema.STEPS)


def test_sqlite_utils_migrate_and_the_program_agree(log: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    migrations = str(schema.history_path().parent)
    command = [sys.executable, "-m", "sqlite_utils", "migrate", log, migrations]
    subprocess.run(command, check=True, capture_output=True)
    other = str(tmp_path / "other.db")
    LogWriter(other).close()

    with closing(open_for_reading(log)) as a, closing(open_for_reading(other)) as b:
        query = "SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2"
        assert a.execute(query).fetchall() == b.execute(query).fetchall()
    trusted(Path(log))
    LogWriter(log).close()
    assert schema.applied_steps(log) == list(schema.STEPS)


def test_a_newer_log_is_refused_by_all_and_left_alone(log: str) -> None:
    LogWriter(log).close()
    with closing(sqlite3.connect(log)) as db:
        db.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
            "VALUES ('acp_proxy', 'm9999_future', '')"
        )
        db.commit()

    for open_it in (open_for_reading, open_for_writing):
        with pytest.raises(LogError, match=r"newer acp-proxy.*m9999_future.*upgrade"):
            open_it(log)


def test_readers_do_not_migrate(log: str, monkeypatch: pytest.MonkeyPatch) -> None:
    LogWriter(log).close()
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, "m9999_future"))
    before = schema.applied_steps(log)

    open_for_reading(log).close()

    assert schema.applied_steps(log) == before


def test_without_the_first_step_nothing_can_be_read(
    log: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    LogWriter(log).close()
    monkeypatch.setattr(schema, "STEPS", ("m0000_first", *schema.STEPS))

    with pytest.raises(LogError, match=r"older acp-proxy.*log migrate"):
        open_for_reading(log)


def test_there_is_no_log_before_the_first_step(log: str) -> None:
    with pytest.raises(NoLogError, match="no log at"):
        open_for_reading(log)
    os.makedirs(os.path.dirname(log))
    Path(log).touch()
    with pytest.raises(NoLogError, match="no log at"):
        open_for_reading(log)


@pytest.mark.parametrize(
    "content", [b"no database at all, really" * 100, b"SQLite format 3\0" * 99]
)
def test_a_damaged_log_says_so(log: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(log))
    Path(log).write_bytes(content)

    for open_it in (open_for_reading, open_for_writing):
        with pytest.raises(LogError, match=r"move it away|check it|log trust"):
            open_it(log)
    assert Path(log).read_bytes() == content


def test_a_locked_log_says_so(log: str) -> None:
    LogWriter(log).close()
    with closing(sqlite3.connect(log, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        writer = LogWriter(log, busy_ms=10)
        with pytest.raises(LogLockedError, match="locked"):
            writer.connection("u", {"status": "running", "added_ns": 1})
        writer.close()


def test_what_a_reader_opens_it_cannot_write(log: str) -> None:
    LogWriter(log).close()
    with closing(open_for_reading(log)) as db, pytest.raises(sqlite3.OperationalError):
        db.execute("DELETE FROM connections")


def test_the_index_columns_are_those_of_the_table(log: str) -> None:
    LogWriter(log).close()
    database = Database(log)
    try:
        columns = [column.name for column in database["messages"].columns]
    finally:
        database.close()

    assert columns == ["connection_id", "seq", *IndexRow._fields]


def test_a_log_can_be_read_in_a_folder_that_cannot_be_written(log: str) -> None:
    with LogWriter(log) as writer:
        writer.connection("u", {"status": "running", "added_ns": 1})
    folder = Path(log).parent
    folder.chmod(0o500)
    try:
        with LogReader(log) as reader:
            assert [row.uuid for row in reader.connections()] == ["u"]
    finally:
        folder.chmod(0o700)
