"""One journal into the log: whatever the chunks, and wherever a recorder died before."""

import hashlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_proxy.errors import LogError
from acp_proxy.journal.tail import JournalReader
from acp_proxy.log.writer import ConflictError, LogWriter
from acp_proxy.recorder import ingest as ingest_module
from acp_proxy.recorder.ingest import Ingest
from acp_proxy.recording import open_recording
from acp_proxy.state import checkpoints
from acp_proxy.state.columns import TABLES
from acp_proxy.wire.jsonrpc import Direction
from tests.recorder.journals import UUID, abandon, append, begin, record
from tests.state.talk import said_lines

_LINES = [
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n',
    b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}\r\n',
    b"\n",
    b"some text \xff\xfe\x00\n",
    b'[{"jsonrpc":"2.0","id":2,"method":"a"},{"jsonrpc":"2.0","method":"b"}]\n',
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}\n',
]
TEXT = "connection_id, part, place, kind, session_id, seq, last_seq, text"
ORDERS = {
    "connections": "id",
    "frames": "id",
    "messages": "connection_id, seq",
    "checkpoints": "connection_id, seq",
    "checkpoint_parts": "connection_id, seq, part",
} | {table: f"connection_id, {', '.join(columns[:3])}" for table, columns in TABLES.items()}
chunks = st.lists(
    st.tuples(
        st.sampled_from(["client", "agent", "stderr"]),
        st.one_of(
            st.sampled_from(_LINES),
            st.sampled_from([line[:7] for line in _LINES] + [line[7:] for line in _LINES]),
            st.binary(max_size=30),
        ),
    ),
    max_size=25,
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


def rows(log: Path) -> list[tuple[object, ...]]:
    """Return all that is in the log, but for positions in journals that are gone."""
    with closing(sqlite3.connect(log)) as db:
        db.execute("UPDATE connections SET journal_position = 0")
        return [
            row
            for table, key in ORDERS.items()
            for row in db.execute(f"SELECT * FROM {table} ORDER BY {key}")
        ] + db.execute(f"SELECT {TEXT} FROM texts ORDER BY {TEXT}").fetchall()


def check_search(log: Path) -> None:
    """Raise when the full-text index is not that of the texts."""
    with closing(sqlite3.connect(log)) as db:
        db.execute("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")


def bytes_of(given: list[tuple[str, bytes]], stream: str) -> bytes:
    return b"".join(data for name, data in given if name == stream)


def ingest_with_deaths(path: str, log: Path, deaths: list[int], batch: int = 1) -> None:
    """Bring a journal into the log; start anew after so many batches of records, each time."""
    with JournalReader(path) as journal, LogWriter(str(log)) as writer:
        start = journal.read(0)[0]
        for lifetime in [*deaths, 10**9]:
            ingest = Ingest(journal, start, writer)
            for _ in range(lifetime):
                records = journal.read(ingest.position)[:batch]
                ingest.take(records)
                ingest.commit()
                if not records:
                    ingest.finish()
                    return


@pytest.mark.slow
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)
@given(chunks, st.lists(st.integers(0, 6), max_size=6), st.integers(1, 4))
def test_dying_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    given_: list[tuple[str, bytes]],
    deaths: list[int],
    batch: int,
) -> None:
    """A recorder that dies and starts anew, again and again, leaves the log of one that lived."""
    folder = tmp_path_factory.mktemp("ingest")
    log, other = folder / "log.db", folder / "other.db"
    writer = begin(log)
    append(writer, given_)
    writer.close(3 << 8)

    ingest_with_deaths(writer.path, log, deaths, batch)
    ingest_with_deaths(writer.path, other, [])

    assert rows(log) == rows(other)
    with open_recording(log) as recording:
        assert recording.verify("latest") == []
        row = recording.connection()
        for stream in ("client", "agent", "stderr"):
            expected = bytes_of(given_, stream)
            assert b"".join(recording.stream("latest", stream)) == expected
            assert row.streams[stream] == len(expected)
            assert row.sha256[stream] == hashlib.sha256(expected).hexdigest()
        assert (row.status, row.exit_code, row.command) == ("exited", 3, ["agent", "--x"])
        first_seqs = [frame.seq for frame in recording.frames()]
        assert first_seqs == sorted(set(first_seqs))
        assert [m.seq for m in recording.messages()] == list(range(1, row.messages + 1))


@pytest.mark.slow
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
@given(said_lines(), st.lists(st.integers(0, 6), max_size=6), st.integers(1, 4))
def test_dying_between_checkpoints_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    said: list[tuple[Direction, bytes]],
    deaths: list[int],
    batch: int,
) -> None:
    folder = tmp_path_factory.mktemp("ingest")
    log, other = folder / "log.db", folder / "other.db"
    writer = begin(log)
    append(writer, [(direction.value, raw + b"\n") for direction, raw in said])
    writer.close(0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "SPACING", 600)
        ingest_with_deaths(writer.path, log, deaths, batch)
        ingest_with_deaths(writer.path, other, [])

        assert rows(log) == rows(other)
        for path in (log, other):
            check_search(path)
        with open_recording(log) as recording:
            assert recording.verify("latest") == []


def test_the_order_of_the_log_is_the_order_in_which_lines_were_finished(log: Path) -> None:
    writer = begin(log)
    append(
        writer,
        [("client", b"c1 "), ("agent", b"a1\na2 "), ("client", b"end\n"), ("agent", b"end\n")],
    )
    writer.close(0)
    assert record(writer.path).returncode == 0

    with open_recording(log) as recording:
        found = [(frame.stream, frame.raw) for frame in recording.frames()]
    assert found == [
        ("agent", b"a1\n"),
        ("client", b"c1 end\n"),
        ("agent", b"a2 end\n"),
    ]


def test_a_journal_is_deleted_when_all_of_it_is_in_the_log(log: Path) -> None:
    writer = begin(log)
    append(writer, [("agent", b"unfinished")])
    writer.close(9)
    assert record(writer.path).returncode == 0

    assert os.listdir(f"{log}.journals") == []
    with open_recording(log) as recording:
        row = recording.connection()
        assert (row.status, row.signal, row.exit_code) == ("killed", 9, None)
        assert [frame.raw for frame in recording.frames()] == [b"unfinished"]


def test_a_proxy_that_was_killed_leaves_a_lost_connection(log: Path) -> None:
    writer = begin(log)
    append(writer, [("client", b"said\nand half")])
    abandon(writer)
    with Path(writer.path).open("ab") as file:
        file.write(b"torn")
    assert record(writer.path).returncode == 0

    with open_recording(log) as recording:
        row = recording.connection()
        assert (row.status, row.notes) == ("lost", [])
        assert [frame.raw for frame in recording.frames()] == [b"said\n", b"and half"]
        assert recording.verify(row.id) == []


def test_what_cannot_be_read_of_a_journal_is_kept_and_told(log: Path) -> None:
    writer = begin(log)
    append(writer, [("client", b"good\n")])
    end = os.path.getsize(writer.path)
    append(writer, [("client", b"bad\n"), ("client", b"unreachable\n")])
    abandon(writer)
    with Path(writer.path).open("r+b") as file:
        file.seek(end + 38)
        file.write(b"X")
    assert record(writer.path).returncode == 0

    assert os.listdir(f"{log}.journals") == [f"{UUID}.damaged"]
    with open_recording(log) as recording:
        [note] = recording.connection().notes
        assert note["event"] == "journal damaged"
        assert b"".join(recording.stream("latest", "client")) == b"good\n"


def test_gaps_cut_lines_and_are_told(log: Path) -> None:
    writer = begin(log)
    append(writer, [("agent", b"one\nhalf")])
    writer._lost[1], writer._lost_from[1] = 1000, 8
    writer._offsets[1] += 1000
    append(writer, [("agent", b"rest\ntwo\n")])
    writer.close(0)
    assert record(writer.path).returncode == 0

    with open_recording(log) as recording:
        row = recording.connection()
        assert row.gaps == [{"from": "agent", "offset": 8, "bytes": 1000}]
        assert [(f.offset, f.raw) for f in recording.frames()] == [
            (0, b"one\n"),
            (4, b"half"),
            (1008, b"rest\n"),
            (1013, b"two\n"),
        ]
        assert row.streams["agent"] == 1017
        assert recording.verify(row.id) == []


def test_lines_too_long_to_keep_go_in_piece_by_piece(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_module, "MAX_PARSED", 100_000)
    monkeypatch.setattr(ingest_module, "_LONGEST_ROW", 300_000)
    line = os.urandom(700_000).replace(b"\n", b"-") + b"\n"
    writer = begin(log)
    append(writer, [("agent", line[at : at + 65536]) for at in range(0, len(line), 65536)])
    append(writer, [("agent", b"after\n"), ("client", b"other\n")])
    writer.close(0)
    ingest_with_deaths(writer.path, log, [3, 5])

    with open_recording(log) as recording:
        sizes = [frame.size for frame in recording.frames(stream="agent")]
        assert len(sizes) == 4
        assert all(100_000 < size <= 300_000 for size in sizes[:3])
        assert b"".join(recording.stream("latest", "agent")) == line + b"after\n"
        row = recording.connection()
        assert row.sha256["agent"] == hashlib.sha256(line + b"after\n").hexdigest()


def test_a_second_recorder_is_refused(log: Path) -> None:
    writer = begin(log)
    append(writer, [("agent", b"one\n"), ("agent", b"two\n")])
    writer.close(0)
    with JournalReader(writer.path) as journal, LogWriter(str(log)) as to:
        start, *rest = journal.read(0)
        first, second = Ingest(journal, start, to), Ingest(journal, start, to)
        first.take(rest)
        first.commit()
        second.take(rest)
        with pytest.raises(ConflictError):
            second.commit()
        first.finish()

    with open_recording(log) as recording:
        assert b"".join(recording.stream("latest", "agent")) == b"one\ntwo\n"


def test_a_log_that_was_replaced_gets_the_whole_connection(log: Path) -> None:
    writer = begin(log)
    append(writer, [("agent", b"one\n")])
    with JournalReader(writer.path) as journal, LogWriter(str(log)) as to:
        start, *rest = journal.read(0)
        ingest = Ingest(journal, start, to)
        ingest.take(rest)
        ingest.commit()
    log.unlink()
    append(writer, [("agent", b"two\n")])
    writer.close(0)
    assert record(writer.path).returncode == 0

    with open_recording(log) as recording:
        assert b"".join(recording.stream("latest", "agent")) == b"one\ntwo\n"


@pytest.mark.parametrize("content", [b"x", b"not a journal at all" * 10])
def test_a_file_that_is_no_journal_is_left_alone(log: Path, content: bytes) -> None:
    path = Path(f"{log}.journals") / UUID
    path.parent.mkdir()
    path.write_bytes(content)

    done = record(str(path))

    assert done.returncode == 4
    assert b"no journal" in done.stderr
    assert path.read_bytes() == content


def test_a_log_of_another_program_is_not_touched(log: Path) -> None:
    with closing(sqlite3.connect(log)) as db:
        db.execute("CREATE TABLE precious (a)")
        db.commit()
    before = log.read_bytes()

    with pytest.raises(LogError, match="was not made by acp-proxy here"):
        LogWriter(str(log)).close()
    with closing(sqlite3.connect(log)) as db:
        assert db.execute("SELECT name FROM sqlite_schema").fetchall() == [("precious",)]
    assert len(before) == log.stat().st_size
