"""Compacted frames are what they were, for whoever reads, whenever it happens, whoever is killed."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from acp_proxy.errors import LogError
from acp_proxy.log import compaction
from acp_proxy.log.filters import MessageFilter
from acp_proxy.log.packing import PACK_BYTES, PIECE_BYTES
from acp_proxy.log.reader import LogReader
from acp_proxy.log.rows import FrameRow
from acp_proxy.log.upkeep import Upkeep
from acp_proxy.recording import open_recording
from tests.cli.commands import invoke
from tests.log.killing import copied, kill_at, points
from tests.log.long import ask, put_long

LONG = 5 * PIECE_BYTES // 2


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with a large connection between two small ones; to be copied."""
    log = tmp_path_factory.mktemp("made") / "log.db"
    put_long(log, 50, seed=1)
    put_long(log, 3500, seed=2, long_line=LONG)
    put_long(log, 50, seed=3)
    return log


@pytest.fixture
def log(made: Path, tmp_path: Path) -> Path:
    return copied(made, tmp_path / "log.db")


def compact(log: Path, *ids: int) -> None:
    with Upkeep(str(log)) as upkeep:
        for id_ in ids:
            compaction.compact(upkeep, id_)


def undo(log: Path, *ids: int) -> None:
    with Upkeep(str(log)) as upkeep:
        for id_ in ids:
            compaction.undo(upkeep, id_)


def frames_of(log: Path) -> list[FrameRow]:
    with LogReader(str(log)) as reader:
        return [frame for id_ in (1, 2, 3) for frame in reader.frames(id_)]


def content(log: Path) -> list[list[tuple[object, ...]]]:
    """Return all that a log holds of conversations, but for the order of rows."""
    queries = (
        "SELECT * FROM frames ORDER BY id",
        "SELECT * FROM checkpoint_parts ORDER BY connection_id, part, seq, since",
        "SELECT * FROM messages ORDER BY connection_id, seq",
        "SELECT * FROM texts ORDER BY id",
    )
    return [ask(log, query) for query in queries]


def test_frames_are_what_they_were_and_the_log_is_smaller(made: Path, log: Path) -> None:
    compact(log, 1, 2, 3)

    assert frames_of(log) == frames_of(made)
    assert ask(log, "SELECT count(*) FROM frames WHERE length(raw) > 0") == [(0,)]
    [[packs, size, frames]] = ask(log, "SELECT count(*), sum(length(data)), sum(frames) FROM packs")
    [[plain]] = ask(made, "SELECT sum(length(raw)) FROM frames")
    assert isinstance(plain, int)
    assert isinstance(size, int)
    assert size < plain / 3
    assert (frames,) == ask(made, "SELECT count(*) FROM frames")[0]
    assert isinstance(packs, int)
    assert packs < plain / PACK_BYTES * 2 + 6
    invoke("verify", "--log", log)


def test_undoing_brings_back_what_was_there(made: Path, log: Path) -> None:
    compact(log, 1, 2, 3)
    assert content(log) != content(made)

    undo(log, 1, 2, 3)

    assert content(log) == content(made)
    assert ask(log, "SELECT count(*) FROM packs") == [(0,)]
    assert ask(log, "SELECT count(*) FROM dictionaries") == [(0,)]


def test_one_connection_is_compacted_and_its_neighbours_are_not(made: Path, log: Path) -> None:
    compact(log, 2)

    whose = ask(log, "SELECT DISTINCT connection_id FROM frames WHERE length(raw) = 0")
    assert whose == [(2,)]
    assert set(compaction.standings(str(log))) == {2}
    assert frames_of(log) == frames_of(made)


def test_a_frame_longer_than_a_pack_is_read_in_pieces(made: Path, log: Path) -> None:
    compact(log, 2)

    [[seq]] = ask(made, f"SELECT seq FROM frames WHERE length(raw) > {LONG}")
    assert isinstance(seq, int)
    with LogReader(str(made)) as plain, LogReader(str(log)) as packed:
        frame = packed.frame(2, seq)
        assert frame == plain.frame(2, seq)
        short = frame._replace(raw=None)  # as of one too long to be held
        pieces = list(packed.pieces(short))
        assert [len(piece) for piece in pieces] == [
            PIECE_BYTES,
            PIECE_BYTES,
            LONG + 3 - 2 * PIECE_BYTES,
        ]
        assert b"".join(pieces) == frame.raw
        some = MessageFilter(since_seq=seq, until_seq=seq)
        for wanted in (0, 1, 1000, PIECE_BYTES + 5, 2 * LONG):
            assert [*packed.messages(2, some, raw=wanted)] == [*plain.messages(2, some, raw=wanted)]


def test_messages_are_found_by_what_stands_in_their_frames(made: Path, log: Path) -> None:
    compact(log, 1, 2, 3)

    wanted = MessageFilter(grep="someone waters")
    with LogReader(str(made)) as plain, LogReader(str(log)) as packed:
        for id_ in (1, 2, 3):
            found = list(packed.messages(id_, wanted))
            assert found == list(plain.messages(id_, wanted))
            assert found


@pytest.mark.slow
def test_the_state_anywhere_is_the_same(made: Path, log: Path) -> None:
    compact(log, 2)

    assert ask(log, "SELECT count(*) FROM checkpoint_parts WHERE packed > 0") != [(0,)]
    for at in (1, 17, 2000, 3500):
        for form in ([], ["--json"]):
            asked = ["state", "2", "--at", at, *form, "--log"]
            assert invoke(*asked, log).output == invoke(*asked, made).output


def test_a_running_connection_is_left_alone(log: Path) -> None:
    with closing(sqlite3.connect(log)) as db:
        db.execute("UPDATE connections SET status = 'running' WHERE id = 2")
        db.commit()

    compact(log, 2)

    assert compaction.standings(str(log)) == {}


@pytest.mark.slow
def test_reindex_reads_compacted_frames(made: Path, log: Path) -> None:
    compact(log, 2)

    invoke("log", "reindex", "2", "--log", log)

    invoke("verify", "--log", log)
    assert frames_of(log) == frames_of(made)
    assert ask(log, "SELECT count(*) FROM checkpoint_parts WHERE packed IS NULL") == ask(
        made, "SELECT count(*) FROM checkpoint_parts WHERE connection_id <> 2"
    )


@pytest.mark.slow
def test_a_reader_in_the_middle_of_it_is_not_hurt(made: Path, log: Path) -> None:
    """Whoever compacts, undoes or compacts again meanwhile: the answers stay right."""
    right = frames_of(made)
    wanted = MessageFilter(grep="garden")
    with LogReader(str(made)) as reader:
        messages = [*reader.messages(2), *reader.messages(2, wanted)]
    for change in (compact, undo, compact):
        with LogReader(str(log)) as reader:
            frames = reader.frames(2)
            some = [next(frames) for _ in range(10)]
            told = reader.messages(2)
            more = [next(told) for _ in range(10)]
            found = reader.messages(2, wanted)
            last = [next(found)]
            long_one = reader.frame(2, 30)._replace(raw=None)
            change(log, 2)
            assert [*some, *frames] == [frame for frame in right if frame.id >> 32 == 2]
            assert [*more, *told, *last, *found] == messages
            for frame in (long_one, *(frame._replace(raw=None) for frame in some)):
                [same] = [other for other in right if other.id == frame.id]
                assert b"".join(reader.pieces(frame)) == same.raw


@pytest.mark.slow
@pytest.mark.parametrize("name", ["compact", "undo"])
def test_killed_anywhere_nothing_is_lost_and_it_can_go_on(
    made: Path, log: Path, tmp_path: Path, name: str
) -> None:
    work = f"from acp_proxy.log import compaction\ncompaction.{name}(upkeep, 2)\n"
    if name == "undo":
        compact(log, 2)
    right = frames_of(made)
    partly = 0
    for place, point in enumerate(points(log, work, tmp_path, 5)):
        copy = tmp_path / f"{place}.db"
        kill_at(log, copy, work, point)

        assert frames_of(copy) == right
        invoke("verify", "2", "--log", copy)
        [[plain]] = ask(
            copy, "SELECT count(*) FROM frames WHERE connection_id = 2 AND length(raw) > 0"
        )
        assert isinstance(plain, int)
        partly += 0 < plain < len(right) - 300
        if place % 2:
            compact(copy, 2)
            assert frames_of(copy) == right
        undo(copy, 2)
        assert content(copy) == content(made)
    assert partly >= 2


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["UPDATE packs SET data = X'00'", "DELETE FROM packs"])
def test_a_damaged_pack_is_told_never_taken_for_the_truth(log: Path, damage: str) -> None:
    compact(log, 2)
    with closing(sqlite3.connect(log)) as db:
        db.execute(f"{damage} WHERE rowid = (SELECT max(rowid) FROM packs)")
        db.commit()

    result = invoke("verify", "2", "--log", log, code=1)
    assert "is not what was recorded" in result.stdout
    asked = [["messages", "2"], ["export", "2", "--stream", "agent"]]
    asked += [["messages", "2", "--grep", "x"]] if damage.startswith("UPDATE") else []
    for words in asked:
        told = invoke(*words, "--log", log, code=1)
        assert "is damaged" in told.stderr
    with Upkeep(str(log)) as upkeep:
        if damage.startswith("UPDATE"):
            with pytest.raises(LogError, match=r"damaged packs of connection 2: 1;"):
                compaction.undo(upkeep, 2)
        else:
            compaction.undo(upkeep, 2)
    assert "is not what was recorded" in invoke("verify", "2", "--log", log, code=1).stdout


@pytest.mark.slow
def test_damaged_parts_of_checkpoints_are_passed_over(made: Path, log: Path) -> None:
    compact(log, 2)
    for damage in ("DELETE FROM dictionaries", "UPDATE checkpoint_parts SET head = X'28B52FFD'"):
        with closing(sqlite3.connect(log)) as db:
            db.execute(damage)
            db.commit()
        asked = ["state", "2", "--at", 3500, "--json", "--log"]
        assert invoke(*asked, log).output == invoke(*asked, made).output

    invoke("log", "reindex", "2", "--log", log)
    invoke("verify", "2", "--log", log)


def test_a_compacted_connection_can_be_deleted(log: Path) -> None:
    compact(log, 2)

    invoke("prune", "2", "--yes", "--log", log)

    assert ask(log, "SELECT count(*) FROM packs") == [(0,)]
    assert ask(log, "SELECT count(*) FROM dictionaries") == [(0,)]
    invoke("verify", "--log", log)


def test_from_python_a_stream_is_what_it_was(made: Path, log: Path) -> None:
    compact(log, 1, 2, 3)

    with open_recording(made) as plain, open_recording(log) as packed:
        for id_ in (1, 2, 3):
            for stream in ("client", "agent", "stderr"):
                assert b"".join(packed.stream(id_, stream)) == b"".join(plain.stream(id_, stream))
