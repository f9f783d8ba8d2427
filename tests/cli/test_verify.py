"""verify finds whatever was changed behind the program's back, and reindex mends what can be."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.commands import invoke

LINES = b"\n".join(
    [
        b'{"from":"client","data":"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"method\\":\\"a\\"}"}',
        b'{"from":"agent","data":"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"result\\":null}"}',
        b'{"from":"stderr","data":"words"}',
        b'{"from":"agent","data":"no end","end":""}',
    ]
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    invoke("import", "-", "--log", tmp_path / "log.db", stdin=LINES)
    return tmp_path / "log.db"


def change(log: Path, sql: str) -> None:
    with closing(sqlite3.connect(log)) as db:
        db.executescript(sql)


def test_a_whole_record_is_well(log: Path) -> None:
    assert "all is well: 1 connection, 4 frames" in invoke("verify", "--log", log).stdout


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        (
            "UPDATE frames SET raw = CAST('wards' || char(10) AS BLOB) WHERE seq = 3",
            "stderr: the frames do not give",
        ),
        ("UPDATE frames SET raw = CAST(raw || 'x' AS BLOB) WHERE seq = 2", "this frame says"),
        ("UPDATE frames SET offset = offset + 1 WHERE seq = 4", "should go on at byte"),
        ("DELETE FROM frames WHERE seq = 3", "frame 4: should have seq 3"),
        ("DELETE FROM frames WHERE seq = 4", "frames reach"),
        ("DELETE FROM messages WHERE seq = 2", "message 2: is not in the index"),
        (
            "UPDATE messages SET request_seq = NULL WHERE seq = 2",
            "message 2: the frame says something else of request_seq",
        ),
        (
            "UPDATE messages SET method = 'b' WHERE seq = 1",
            "message 1: the frame says something else of method",
        ),
        ("UPDATE connections SET agent_bytes = 5", "agent: 5 bytes were relayed"),
        ("UPDATE connections SET client_sha256 = 'ff'", "client: the frames do not give"),
        ("UPDATE connections SET frames = 9", "9 frames and 4 messages should be there"),
        (
            'UPDATE connections SET gaps = \'[{"from":"agent","offset":7,"bytes":9}]\'',
            "9 bytes from the agent at byte 7 were relayed but not recorded",
        ),
    ],
)
def test_what_was_changed_is_found(log: Path, sql: str, told: str) -> None:
    change(log, sql)

    result = invoke("verify", "--log", log, code=1)

    assert told in result.stdout
    assert "problem" in result.stdout.splitlines()[-1]


def test_many_problems_are_counted_rather_than_all_told(tmp_path: Path) -> None:
    lines = b"\n".join([b'{"from":"stderr","data":"x"}'] * 100)
    invoke("import", "-", "--log", tmp_path / "log.db", stdin=lines)
    change(tmp_path / "log.db", "UPDATE messages SET bytes = 9")

    assert "and 80 more" in invoke("verify", "--log", tmp_path / "log.db", code=1).stdout


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM messages",
        "UPDATE messages SET method = 'b', flags = 'odd', request_seq = 1",
        "UPDATE connections SET messages = 0, client_name = 'x'",
    ],
)
def test_reindex_mends_what_is_derived(log: Path, sql: str) -> None:
    change(log, sql)
    invoke("verify", "--log", log, code=1)

    assert "reindexed: 1" in invoke("log", "reindex", "--log", log).stdout
    invoke("verify", "--log", log)


def test_a_damaged_page_is_found(log: Path) -> None:
    change(log, "PRAGMA journal_mode = DELETE; VACUUM")
    data = bytearray(log.read_bytes())
    data[4096 * 3 : 4096 * 3 + 8] = b"\xff" * 8
    log.write_bytes(data)

    result = invoke("verify", "--log", log, code=1)

    assert result.output


def test_a_journal_that_waits_is_a_problem(log: Path, make_waiting: Callable[[Path], str]) -> None:
    path = make_waiting(log)

    result = invoke("verify", "--log", log, code=1)

    assert f"journal {path}: not in the log" in result.stdout


@pytest.fixture
def make_waiting() -> Callable[[Path], str]:
    def make(log: Path) -> str:
        journal = Path(f"{log}.journals") / "uuid"
        journal.parent.mkdir()
        journal.write_bytes(b"no journal")
        return str(journal)

    return make
