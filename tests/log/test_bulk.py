"""What goes in as one piece is what would go in row by row."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_proxy.log import bulk
from acp_proxy.log.identity import LogUnavailableError
from acp_proxy.log.rows import IndexRow
from acp_proxy.log.writer import Batch, FrameToWrite, LogWriter, Progress

BIG = 2**63 - 1
NUMBERS = st.integers(-BIG, BIG) | st.sampled_from([0, 2**53, 2**53 + 1, BIG, -BIG])
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)


def _entry(seq: int, draw: Any) -> tuple[Any, ...]:
    kinds = {"str": TEXTS, "int": NUMBERS}
    cells = []
    for name, of in IndexRow.__annotations__.items():
        if name in ("stream_code", "kind_code", "bytes"):
            cells.append(draw(st.integers(0, 2)))
        elif name == "batch_index":  # what is made of it must be an integer too
            cells.append(draw(st.none() | st.integers(0, 2**32)))
        else:
            cells.append(draw(st.none() | kinds[str(of).partition(" ")[0]]))
    return (seq, *cells)


@st.composite
def batches(draw: Any) -> tuple[list[FrameToWrite], list[tuple[Any, ...]]]:
    count = draw(st.integers(0, 6))
    maybe = st.none() | NUMBERS
    frames = [
        FrameToWrite(seq, draw(st.integers(0, 2)), draw(NUMBERS), draw(maybe), draw(maybe),
                     draw(st.binary(max_size=30)))
        for seq in range(1, count + 1)
    ]  # fmt: skip
    return frames, [_entry(seq, draw) for seq in range(1, count + 1)]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LogWriter]:
    with LogWriter(str(tmp_path / "log.db")) as writer:
        yield writer


def _written(writer: LogWriter, frames: Any, entries: Any) -> list[Any]:
    """Return the rows that a batch gives in a new connection, which is deleted again."""
    number = writer.connection("x", {"added_ns": 1, "status": "running"})
    after = Progress(1, len(frames))
    writer.write(Batch(number, Progress(0, 0), after, frames, entries, {}, None, False))
    with closing(sqlite3.connect(writer.path)) as db, db:
        rows = db.execute("SELECT * FROM frames ORDER BY id").fetchall()
        rows += db.execute("SELECT * FROM messages ORDER BY seq").fetchall()
        rows = [tuple(number if cell == 0 else cell for cell in row[1:]) for row in rows]
        for table in ("frames", "messages", "connections", "sqlite_sequence"):
            db.execute(f"DELETE FROM {table}")
    return rows


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches())
def test_as_one_piece_and_row_by_row(
    log: LogWriter, batch: tuple[list[FrameToWrite], list[tuple[Any, ...]]]
) -> None:
    frames, entries = batch
    at_once = _written(log, frames, entries)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk, "bulk_of", lambda *_: None)
        assert _written(log, frames, entries) == at_once
    assert len(at_once) == len(frames) + len(entries)


def test_a_nul_is_kept() -> None:
    """SQLite would end the text there, were it given as JSON."""
    assert bulk.bulk_of([], [(1, "a\0b")]) is None
    assert bulk.bulk_of([], [(1, "a\\0b")]) is not None


def test_what_cannot_be_completed_is_begun_again(log: LogWriter) -> None:
    number = log.connection("x", {"added_ns": 1, "status": "running"})
    frame = FrameToWrite(1, 0, 0, None, None, b"one\n")
    batch = Batch(number, Progress(0, 0), Progress(1, 1), [frame], [], {}, None, False)
    log.begin(batch)
    log._db.execute("ROLLBACK")  # as after an error of the disk
    with pytest.raises(LogUnavailableError):
        log.complete()

    log.write(batch)

    with closing(sqlite3.connect(log.path)) as db:
        assert db.execute("SELECT count(*) FROM frames").fetchone() == (1,)
