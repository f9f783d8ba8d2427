"""A journal is deleted only when the log, opened anew, has what it held."""

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from acp_proxy.journal import handover, spool
from acp_proxy.journal.tail import JournalReader
from acp_proxy.recorder.readback import Recorded, difference, journal_hashes
from acp_proxy.recording import open_recording
from tests.cli.commands import document, invoke
from tests.harness import wait_until
from tests.recorder.journals import UUID, abandon, append, begin, record

SAID = [
    ("client" if n % 3 else "agent", b'{"jsonrpc":"2.0","method":"m%d"}\n' % n) for n in range(500)
]
RIGHT = {name: b"".join(raw for who, raw in SAID if who == name) for name in ("client", "agent")}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


def assert_all_is_there(log: Path) -> None:
    with open_recording(log) as recording:
        row = recording.connection(UUID)
        for stream, right in RIGHT.items():
            assert b"".join(recording.stream(row.id, stream)) == right
        assert recording.verify(row.id) == []


def run_sql(*statements: str) -> Callable[[Path], None]:
    def change(log: Path) -> None:
        with closing(sqlite3.connect(log)) as db, db:
            for statement in statements:
                db.execute(statement)

    return change


def truncate(log: Path) -> None:
    os.truncate(log, 0)


def truncate_to_half(log: Path) -> None:
    os.truncate(log, log.stat().st_size // 2)


def overwrite_in_place(log: Path) -> None:
    other = log.with_name("other.db")
    invoke("import", "-", "--log", other, stdin=b'{"from":"client","data":"x"}')
    shutil.copyfile(other, log)


def overwrite_by_text(log: Path) -> None:
    log.write_bytes(b"no database at all\n" * 5000)


def delete(log: Path) -> None:
    log.unlink()


def delete_wal(log: Path) -> None:
    log.with_name("log.db-wal").unlink(missing_ok=True)


def zero_a_page(log: Path) -> None:
    with log.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(bytes(4096))


TROUBLE: list[Callable[[Path], None]] = [
    truncate,
    truncate_to_half,
    overwrite_in_place,
    overwrite_by_text,
    delete,
    delete_wal,
    zero_a_page,
    run_sql("DELETE FROM frames"),
    run_sql("DELETE FROM frames WHERE seq = 7"),
    run_sql("UPDATE frames SET raw = CAST('x' AS BLOB) WHERE seq = 3"),
    run_sql("DELETE FROM frames", "DELETE FROM messages", "DELETE FROM connections"),
    run_sql("DROP TABLE frames"),
]


def put_again_until_recorded(log: Path, path: str) -> None:
    """Fail unless a journal that stays is told of, and is recorded once the log is moved away."""
    if not Path(path).exists():
        return
    (waiting,) = document("log", "info", "--log", log)["waiting"]
    assert waiting["why"]
    assert waiting["remedy"]
    for part in log.parent.glob("log.db*"):
        if part.is_file():
            part.unlink()
    assert record(path).returncode == handover.DONE
    assert not Path(path).exists()


def written(log: Path) -> str:
    """Record half of the conversation, and return the path of the whole journal, left over."""
    journal = begin(log)
    append(journal, SAID)
    abandon(journal)
    return journal.path


@pytest.mark.parametrize("trouble", TROUBLE)
def test_nothing_is_lost_when_the_log_is_spoiled_while_it_is_recorded(
    log: Path, trouble: Callable[[Path], None]
) -> None:
    read, wake = os.pipe()
    journal = begin(log)
    recorder = handover.start_recorder(journal.path, read)
    os.close(read)
    try:
        half = len(SAID) // 2
        append(journal, SAID[:half])
        wait_until(lambda: frames_in(log) == half, "half is recorded")
        trouble(log)
        append(journal, SAID[half:])
        journal.close(0)
    finally:
        os.close(wake)
    recorder.wait(120)

    put_again_until_recorded(log, journal.path)
    assert_all_is_there(log)


@pytest.mark.parametrize("trouble", TROUBLE)
def test_nothing_is_lost_when_the_log_is_spoiled_between_the_end_and_the_journals_removal(
    log: Path, trouble: Callable[[Path], None]
) -> None:
    path = written(log)
    kept = Path(path).read_bytes()
    assert record(path).returncode == handover.DONE
    assert not Path(path).exists()
    Path(path).write_bytes(kept)  # as if that recorder had died just before it deleted it
    Path(path).chmod(0o600)
    assert spool.adopt(path)  # a copy is not what was written here
    trouble(log)

    record(path)

    put_again_until_recorded(log, path)
    assert_all_is_there(log)


def test_a_sound_log_is_left_as_it_is(log: Path) -> None:
    path = written(log)
    kept = Path(path).read_bytes()
    record(path)
    (before,) = document("connections", "--log", log)
    Path(path).write_bytes(kept)
    Path(path).chmod(0o600)
    assert spool.adopt(path)

    assert record(path).returncode == handover.DONE

    assert document("connections", "--log", log) == [before]
    assert not Path(path).exists()


def test_a_connection_that_somebody_deleted_is_not_missed(log: Path) -> None:
    path = written(log)
    with JournalReader(path) as reader:
        right = Recorded(UUID, journal_hashes(reader))
    record(path)
    assert difference(str(log), right) is None
    invoke("prune", UUID, "--yes", "--log", log)

    assert difference(str(log), right) is None
    assert difference(str(log), Recorded("another", right.sha256)) is not None


def frames_in(log: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT count(*) FROM frames").fetchone()[0])
    except sqlite3.Error:
        return 0


def test_reading_back_costs_little_beside_recording(log: Path) -> None:
    journal = begin(log)
    line = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}\n'
    append(journal, [("agent", line)] * 20_000)
    abandon(journal)
    with JournalReader(journal.path) as reader:
        right = Recorded(UUID, journal_hashes(reader))
    assert record(journal.path).returncode == handover.DONE
    children = os.times()
    recording = children.children_user + children.children_system
    began = time.process_time()
    assert difference(str(log), right) is None
    assert time.process_time() - began < recording / 2
