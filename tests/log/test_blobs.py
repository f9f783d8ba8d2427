"""Long frames, with a SQLite that goes through a row piece by piece and with one that does not.

Later ones refuse that on tables with generated columns. What one of the two wrote, the other reads.
"""

import hashlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from acp_proxy.log import blobs, compaction
from acp_proxy.log.packing import PIECE_BYTES
from acp_proxy.log.reader import LogReader
from acp_proxy.log.upkeep import Upkeep
from acp_proxy.log.writer import Batch, FrameToWrite, LogWriter, LongRaw, Progress
from acp_proxy.recording import open_recording
from tests.cli.commands import document, invoke
from tests.log.long import put_long

WAYS = [
    pytest.param(
        True,
        marks=pytest.mark.skipif(not blobs.INCREMENTAL, reason="this SQLite refuses it"),
        id="piece by piece",
    ),
    pytest.param(False, id="not so"),
]
LONG = b"two " * (PIECE_BYTES // 2) + b"!\n"
RAWS = [b"one\n", LONG, b"three\n"]


def write(log: Path) -> None:
    """Record a connection with a long frame between short ones."""
    pieces = [LONG[at : at + 300_000] for at in range(0, len(LONG), 300_000)]
    frames = [
        FrameToWrite(1, 1, 0, None, None, RAWS[0]),
        FrameToWrite(2, 1, 4, None, None, LongRaw(len(LONG), pieces)),
        FrameToWrite(3, 1, 4 + len(LONG), None, None, RAWS[2]),
    ]
    columns = {"added_ns": 1, "status": "running", "frames": 0}
    with LogWriter(str(log)) as writer:
        number = writer.connection("x", columns)
        ended = {"status": "exited", "agent_bytes": sum(map(len, RAWS))}
        ended |= {"agent_sha256": hashlib.sha256(b"".join(RAWS)).hexdigest()}
        progress = Progress(0, 0), Progress(1, 3)
        writer.write(Batch(number, *progress, frames, [], ended, None, False))


def read(log: Path) -> list[bytes]:
    """Return the frames of the connection, each joined of its pieces."""
    with LogReader(str(log)) as reader:
        frames = [frame._replace(raw=None) for frame in reader.frames(1)]
        assert [frame.size for frame in frames] == [len(raw) for raw in RAWS]
        return [b"".join(reader.pieces(frame)) for frame in frames]


@pytest.mark.parametrize("reading", WAYS)
@pytest.mark.parametrize("writing", WAYS)
def test_what_was_written_in_one_way_is_read_in_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writing: bool, reading: bool
) -> None:
    log = tmp_path / "log.db"
    monkeypatch.setattr(blobs, "INCREMENTAL", writing)
    write(log)
    monkeypatch.setattr(blobs, "INCREMENTAL", reading)

    assert read(log) == RAWS
    with open_recording(log) as recording:
        assert b"".join(recording.stream(1, "agent")) == b"".join(RAWS)
        assert recording.check_integrity() == []
    with closing(sqlite3.connect(log)) as db:
        [(stored,)] = db.execute("SELECT length(raw) FROM frames WHERE seq = 2")
    assert stored == (len(LONG) if writing else 0)


@pytest.mark.parametrize("undoing", WAYS)
@pytest.mark.parametrize("compacting", WAYS)
@pytest.mark.parametrize("writing", WAYS)
def test_compacting_and_undoing_go_either_way(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    writing: bool,
    compacting: bool,
    undoing: bool,
) -> None:
    log = tmp_path / "log.db"
    monkeypatch.setattr(blobs, "INCREMENTAL", writing)
    write(log)
    monkeypatch.setattr(blobs, "INCREMENTAL", compacting)
    with Upkeep(str(log)) as upkeep:
        compaction.compact(upkeep, 1)
    assert compaction.standings(str(log))[1].frames == len(RAWS)
    assert read(log) == RAWS
    monkeypatch.setattr(blobs, "INCREMENTAL", undoing)
    with Upkeep(str(log)) as upkeep:
        compaction.undo(upkeep, 1)
    assert compaction.standings(str(log)) == {}
    assert read(log) == RAWS


@pytest.mark.parametrize("way", WAYS)
def test_a_whole_conversation_with_long_frames_is_compacted_and_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: bool
) -> None:
    monkeypatch.setattr(blobs, "INCREMENTAL", way)
    log = tmp_path / "log.db"
    put_long(log, 200, long_line=PIECE_BYTES * 5 // 2)
    before = invoke("export", "--raw", "--jsonl", "--log", log).stdout_bytes
    for words in (["compact"], ["compact", "--undo"]):
        invoke(*words, "1", "--log", log)
        assert invoke("export", "--raw", "--jsonl", "--log", log).stdout_bytes == before
        invoke("verify", "--log", log)


def test_rebuilding_does_not_compact_what_has_but_a_long_frame_in_packs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "INCREMENTAL", False)
    log = tmp_path / "log.db"
    write(log)
    invoke("log", "reindex", "--log", log)
    assert compaction.standings(str(log))[1].frames == 1
    assert read(log) == RAWS
    assert document("messages", "--log", log)[1]["bytes"] == len(LONG)


@pytest.mark.parametrize("way", WAYS)
def test_pieces_may_be_cut_anyhow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: bool
) -> None:
    monkeypatch.setattr(blobs, "INCREMENTAL", way)
    raw = os.urandom(3 * PIECE_BYTES + 17)
    for size in (1 << 16, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, len(raw)):
        log = tmp_path / f"{size}.db"
        pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
        with LogWriter(str(log)) as writer:
            number = writer.connection("x", {"added_ns": 1, "status": "running"})
            frame = FrameToWrite(1, 0, 0, None, None, LongRaw(len(raw), pieces))
            after = Progress(1, 1)
            writer.write(Batch(number, Progress(0, 0), after, [frame], [], {}, None, False))
        with LogReader(str(log)) as reader:
            [found] = reader.frames(number)
            assert b"".join(reader.pieces(found._replace(raw=None))) == raw
