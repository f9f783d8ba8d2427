"""What is wrong with the file or a value is told clearly; a search index of other texts is found."""

from __future__ import annotations

import gc
import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from acp_proxy.cli.commands import acp_proxy
from acp_proxy.log import integrity, schema
from acp_proxy.recording import open_recording
from tests.cli.commands import invoke

if TYPE_CHECKING:
    from pathlib import Path

LINES = b"\n".join(
    b'{"from":"stderr","data":"%b"}' % words for words in (b"one two", b"two three", b"four")
)


TRIGGER = """
CREATE TRIGGER texts_changed AFTER UPDATE OF text ON texts BEGIN
    INSERT INTO search (search, rowid, text) VALUES ('delete', old.id, old.text);
    INSERT INTO search (rowid, text) VALUES (new.id, new.text);
END;
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    invoke("import", "-", "--log", tmp_path / "log.db", stdin=LINES)
    return tmp_path / "log.db"


def change(log: Path, sql: str) -> None:
    with closing(sqlite3.connect(log)) as db:
        db.executescript(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM search_docsize",
        "UPDATE search_docsize SET sz = x'7f'",
        "UPDATE search_data SET block = zeroblob(length(block)) WHERE id > 10",
        "UPDATE search_data SET block = x'01020304' WHERE id = 10",
        "UPDATE search_idx SET term = x'30ff'",
        "DROP TRIGGER texts_changed; UPDATE texts SET text = 'others'; " + TRIGGER,
    ],
)
def test_a_search_index_of_other_texts_is_found_and_mended(log: Path, sql: str) -> None:
    change(log, sql)

    assert "search index is not that" in invoke("verify", "--log", log, code=1).stdout
    invoke("log", "reindex", "--log", log)
    invoke("verify", "--log", log)


def test_the_index_of_a_log_that_cannot_be_written_is_checked_too(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with closing(schema.open_for_reading(str(log))) as db:
        assert integrity.problems(str(log), db) == []
    change(log, "DELETE FROM search_docsize")
    with closing(schema.open_for_reading(str(log))) as db:
        [problem] = integrity.problems(str(log), db)
    assert "search index is not that" in problem


def test_a_locked_log_is_no_damage(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrity, "_PATIENCE_SECONDS", 0)
    with closing(sqlite3.connect(log)) as other, closing(schema.open_for_reading(str(log))) as db:
        other.execute("BEGIN IMMEDIATE")
        [problem] = integrity.problems(str(log), db)
    assert "could not be checked" in problem


@pytest.mark.parametrize(
    ("sql", "command"),
    [
        ("UPDATE messages SET kind_code = 77 WHERE seq = 2", "messages"),
        ("UPDATE messages SET method = CAST(x'c328' AS TEXT) WHERE seq = 2", "messages"),
        ("UPDATE messages SET bytes = bytes + 1 WHERE seq = 2", "messages"),
        ("UPDATE texts SET kind = CAST(x'ff' AS TEXT)", "search two"),
    ],
)
def test_a_value_that_cannot_be_is_told_as_damage(log: Path, sql: str, command: str) -> None:
    change(log, sql)
    result = invoke(*command.split(), "--log", log, code=1)

    assert f"{log} is damaged" in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("UPDATE connections SET command = '[\"a'", "connection 1 cannot be read"),
        ("UPDATE connections SET gaps = 'x'", "connection 1 cannot be read: gaps"),
        ("UPDATE connections SET notes = ''", "connection 1 cannot be read: notes"),
        ("UPDATE connections SET label = CAST(x'ff41' AS TEXT)", "cannot be read: label"),
        ("UPDATE connections SET uuid = CAST(x'ff41' AS TEXT)", "cannot be read: uuid"),
        ("UPDATE connections SET cwd = '/elsewhere'", "connection 1 is not what was recorded"),
        ("UPDATE connections SET added_ns = added_ns + 1", "connection 1 is not what was recorded"),
    ],
)
def test_what_is_told_of_a_connection_is_not_believed_when_it_was_damaged(
    log: Path, sql: str, told: str
) -> None:
    change(log, sql)

    for words in ("connections", "messages", "state", "sessions --all", "log info"):
        assert told in CliRunner().invoke(acp_proxy, [*words.split(), "--log", str(log)]).output
    assert "connection" in invoke("verify", "--log", log, code=1).stdout
    invoke("log", "reindex", "--log", log)
    assert told in invoke("connections", "--log", log).stderr


@pytest.mark.parametrize(
    ("sql", "command", "told"),
    [
        ("DELETE FROM messages WHERE seq = 2", "messages", "message 2 of connection 1 is missing"),
        ("DELETE FROM messages WHERE seq > 1", "tail", "2 messages, the first of them 2"),
        ("DELETE FROM frames WHERE seq = 3", "messages", "message 3 has no frame"),
        ("DELETE FROM frames WHERE seq = 3", "export --jsonl", "1 of 3 frames of connection 1"),
        ("DELETE FROM frames WHERE seq = 1", "export --stream stderr", "8 bytes from the stderr"),
        ("DELETE FROM frames WHERE seq = 3", "export --stream stderr", "5 bytes from the stderr"),
    ],
)
def test_what_is_missing_is_told_after_what_is_there(
    log: Path, sql: str, command: str, told: str
) -> None:
    change(log, sql)
    result = invoke(*command.split(), "--log", log, code=1)

    assert told in result.stderr


def test_a_state_that_lacks_messages_says_so(log: Path) -> None:
    change(log, "DELETE FROM frames WHERE seq = 2")
    result = invoke("state", "--log", log)

    assert "message 2 of connection 1 is missing" in result.stderr


def test_what_is_left_half_read_when_the_log_is_closed_complains_to_nobody(
    log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    recording = open_recording(log)
    steps = recording.steps(1)
    next(steps)
    checkpoints = recording._log.derived.texts(1)
    next(checkpoints)
    recording.close()
    del steps, checkpoints
    gc.collect()

    assert capfd.readouterr().err == ""
