"""How a connection ends in the log, whoever died, and when."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from acp_proxy.journal import spool
from acp_proxy.journal.tail import JournalReader
from acp_proxy.log.identity import LogUnavailableError
from acp_proxy.log.writer import LogWriter
from acp_proxy.recorder.ingest import Ingest
from acp_proxy.recording import open_recording
from tests.cli.commands import invoke
from tests.recorder.journals import UUID, abandon, append, begin, record


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


def take_all(path: str, log: Path) -> None:
    """Bring all of a journal into the log, but not the connection's end: a recorder dies there."""
    with JournalReader(path) as journal, LogWriter(str(log)) as writer:
        start, *rest = journal.read(0)
        ingest = Ingest(journal, start, writer)
        ingest.take(rest)
        ingest.commit()


def test_a_recorder_that_dies_before_it_writes_the_end_changes_nothing(log: Path) -> None:
    writer = begin(log)
    append(writer, [("agent", b"one\n")])
    writer.close(3 << 8)
    take_all(writer.path, log)
    assert record(writer.path).returncode == 0

    with open_recording(log) as recording:
        row = recording.connection()
        assert (row.status, row.exit_code) == ("exited", 3)
        assert row.duration_ns is not None
        assert row.duration_ns > 0


def test_a_connection_that_died_idle_ended_with_its_last_frame(log: Path) -> None:
    writer = begin(log)
    append(writer, [("agent", b"one\n")])
    take_all(writer.path, log)
    abandon(writer)
    assert record(writer.path).returncode == 0

    with open_recording(log) as recording:
        row = recording.connection()
        [frame] = recording.frames()
        assert row.status == "lost"
        assert (row.ended_ns, row.duration_ns) == (frame.time_ns, frame.elapsed_ns)


def test_an_end_that_is_tried_again_tells_a_gap_once(log: Path) -> None:
    writer = begin(log)
    append(writer, [("agent", b"one\n")])
    writer._lost[1], writer._lost_from[1] = 100, 4
    writer._offsets[1] += 100
    writer._rewrite_slot()
    abandon(writer)
    with (
        JournalReader(writer.path) as journal,
        LogWriter(str(log), busy_ms=10) as to,
        closing(sqlite3.connect(log, isolation_level=None)) as other,
    ):
        start, *rest = journal.read(0)
        ingest = Ingest(journal, start, to)
        ingest.take(rest)
        other.execute("BEGIN EXCLUSIVE")
        for _ in range(3):
            with pytest.raises(LogUnavailableError):
                ingest.finish()
        other.execute("ROLLBACK")
        ingest.finish()

    with open_recording(log) as recording:
        row = recording.connection()
        assert row.gaps == [{"from": "agent", "offset": 4, "bytes": 100}]
        assert row.streams["agent"] == 104


def test_a_gap_that_a_record_and_the_header_tell_is_one(log: Path) -> None:
    """The proxy was killed after it had written the gap, before it took it out of the header."""
    writer = begin(log)
    append(writer, [("agent", b"one\n")])
    writer._lost[1], writer._lost_from[1] = 100, 4
    writer._offsets[1] += 100
    writer._rewrite_slot()
    header = Path(writer.path).read_bytes()[:64]
    append(writer, [("agent", b"two\n")])
    with Path(writer.path).open("r+b") as file:
        file.write(header)
    abandon(writer)
    assert record(writer.path).returncode == 0

    with open_recording(log) as recording:
        row = recording.connection()
        assert row.gaps == [{"from": "agent", "offset": 4, "bytes": 100}]
        assert row.streams["agent"] == 108
        assert recording.verify(row.id) == []


def test_a_journal_that_is_damaged_from_the_start_is_kept(log: Path) -> None:
    writer = begin(log)
    append(writer, [("client", b"good\n")])
    abandon(writer)
    with Path(writer.path).open("r+b") as file:
        file.seek(64 + 40)
        file.write(b"X")
    done = record(writer.path)

    assert done.returncode == 4
    assert b"damaged" in done.stderr
    assert os.listdir(f"{log}.journals") == [f"{UUID}.damaged"]


def test_a_recorder_that_comes_late_leaves_the_end_alone(log: Path) -> None:
    writer = begin(log)
    append(writer, [("client", b"good\n")])
    copy = Path(writer.path).read_bytes()
    writer.close(0)
    assert record(writer.path).returncode == 0
    with open_recording(log) as recording:
        before = recording.connection()
    Path(writer.path).write_bytes(copy)
    assert spool.adopt(writer.path)
    assert record(writer.path).returncode == 0

    with open_recording(log) as recording:
        assert recording.connection() == before
    assert os.listdir(f"{log}.journals") == []


def test_a_header_that_was_damaged_is_told_and_not_believed(log: Path) -> None:
    writer = begin(log)
    append(writer, [("client", b"good\n")])
    writer.close(0)
    with Path(writer.path).open("r+b") as file:
        file.seek(16)
        file.write(b"\xff\xff\x07")  # bytes that were never relayed
    assert record(writer.path).returncode == 0

    with open_recording(log) as recording:
        row = recording.connection()
        assert (row.status, row.exit_code, row.gaps) == ("exited", 0, [])
        assert [note["event"] for note in row.notes] == ["journal damaged"]
    assert os.listdir(f"{log}.journals") == [f"{UUID}.damaged"]


@pytest.mark.slow
def test_a_journal_that_lost_its_end_is_kept_and_told(log: Path) -> None:
    writer = begin(log)
    append(writer, [("client", b"good\n"), ("client", b"lost\n")])
    writer.close(0)
    os.truncate(writer.path, os.path.getsize(writer.path) - 90)
    assert record(writer.path).returncode == 0

    with open_recording(log) as recording:
        row = recording.connection()
        assert [note["event"] for note in row.notes] == ["journal damaged"]
        assert b"".join(recording.stream("latest", "client")) == b"good\n"
    assert os.listdir(f"{log}.journals") == [f"{UUID}.damaged"]


def test_a_journal_of_which_nothing_can_be_read_is_told_by_commands(log: Path) -> None:
    invoke("log", "migrate", "--log", log)
    writer = begin(log)
    append(writer, [("client", b"good\n")])
    abandon(writer)
    with Path(writer.path).open("r+b") as file:
        file.seek(64 + 40)
        file.write(b"X")

    told = invoke("connections", "--log", log).stderr
    assert f"{UUID}.damaged" in told
    assert "the beginning of a journal is damaged" in told
    assert f"{UUID}.damaged: is damaged" in invoke("verify", "--log", log, code=1).stdout
    assert f"{UUID}.damaged" in invoke("log", "info", "--log", log).stdout
