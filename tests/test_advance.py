"""What each work tells of how far it is: some of it at a time, and in the end all that there was."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from acp_proxy.advance import counted, unwatched
from acp_proxy.log import compaction, pruning
from acp_proxy.log.upkeep import Upkeep
from acp_proxy.log.vacuum import is_incremental, vacuum
from acp_proxy.recorder.rewrite import ImportedFrame, import_connection, reindex
from acp_proxy.recording import open_recording
from tests.log.killing import copied
from tests.log.long import conversation, put_long

CHUNKS = 2000
LONG = 3 * 1024 * 1024
_THINGS = 256


class Told:
    """Somebody who listens."""

    def __init__(self) -> None:
        self.amounts: list[int] = []

    def advance(self, amount: int) -> None:
        self.amounts.append(amount)

    def assert_is(self, total: int, *, at_least: int = 3) -> None:
        """Fail unless all of it was told, forwards, and in more than one go."""
        assert min(self.amounts) >= 0
        assert sum(self.amounts) == total
        assert sum(amount > 0 for amount in self.amounts) >= at_least


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with a small connection, a long one, and one with a frame that needs several packs."""
    log = tmp_path_factory.mktemp("made") / "log.db"
    put_long(log, 30, seed=1)
    put_long(log, CHUNKS, seed=2)
    put_long(log, 30, seed=3, long_line=LONG)
    return log


@pytest.fixture
def log(made: Path, tmp_path: Path) -> Path:
    return copied(made, tmp_path / "log.db")


@pytest.fixture
def told() -> Told:
    return Told()


def frames_of(log: Path, connection: int) -> int:
    with open_recording(log) as recording:
        return recording.connection(connection).frames


# Counting.


@pytest.mark.parametrize("number", [0, 1, _THINGS - 1, _THINGS, _THINGS + 1, 5 * _THINGS])
def test_what_goes_by_is_counted_without_changing_it(told: Told, number: int) -> None:
    assert list(counted(range(number), told.advance)) == list(range(number))

    assert sum(told.amounts) == number
    assert len(told.amounts) == number // _THINGS + 1


def test_an_item_is_done_when_the_next_one_is_asked_for(told: Told) -> None:
    items = counted(range(2 * _THINGS), told.advance)

    for _ in range(_THINGS):
        next(items)
    assert told.amounts == []
    next(items)
    assert told.amounts == [_THINGS]


def test_what_is_large_is_told_at_once(told: Told) -> None:
    pieces = [b"x" * (1 << 20)] * 3

    assert list(counted(pieces, told.advance, len)) == pieces

    assert told.amounts == [1 << 20, 1 << 20, 1 << 20, 0]


def test_nobody_need_listen() -> None:
    assert list(counted("abc", unwatched)) == ["a", "b", "c"]


# Work.


def test_reindexing_tells_of_each_frame(log: Path, told: Told) -> None:
    reindex(str(log), 2, told.advance)

    told.assert_is(frames_of(log, 2))


def test_verifying_tells_of_each_frame(log: Path, told: Told) -> None:
    with open_recording(log) as recording:
        assert recording.verify(2, advance=told.advance) == []

    told.assert_is(frames_of(log, 2))


SECRET = b'{"jsonrpc":"2.0","method":"x","params":{"apiKey":"sk-ant-api03-%s"}}\n' % (b"k1L9" * 12)


@pytest.mark.parametrize("has_secret", [False, True])
def test_looking_for_secrets_tells_of_each_frame_twice(
    tmp_path: Path, told: Told, has_secret: bool
) -> None:
    def frames() -> Iterator[ImportedFrame]:
        yield from conversation(CHUNKS)
        if has_secret:
            yield ImportedFrame("agent", SECRET, None, None)

    log = tmp_path / "log.db"
    import_connection(str(log), "0" * 32, {"command": '["agent"]'}, frames())
    with open_recording(log) as recording:
        redactor = recording.redactor(1, advance=told.advance)

    assert (b"k1L9" in redactor.redact_frame("agent", SECRET)) is False
    told.assert_is(2 * frames_of(log, 1))
    jumps = [amount for amount in told.amounts if amount > _THINGS]
    assert jumps == ([] if has_secret else [frames_of(log, 1)])


def test_compacting_and_undoing_tell_of_each_byte(log: Path) -> None:
    for undo, change in ((False, compaction.compact), (True, compaction.undo)):
        told = Told()
        with Upkeep(str(log)) as upkeep:
            total = compaction.bytes_to_do(upkeep, [1, 2, 3], undo=undo)
            for id_ in (1, 2, 3):
                change(upkeep, id_, told.advance)
            left = compaction.bytes_to_do(upkeep, [1, 2, 3], undo=undo)

        told.assert_is(total, at_least=5)
        assert left == 0


def test_compacting_goes_on_where_it_was_left(log: Path, told: Told) -> None:
    with Upkeep(str(log)) as upkeep:
        compaction.compact(upkeep, 2)
        total = compaction.bytes_to_do(upkeep, [2, 3], undo=False)
        for id_ in (2, 3):
            compaction.compact(upkeep, id_, told.advance)

    assert total < LONG * 3
    told.assert_is(total)


def test_deleting_tells_of_each_row_also_of_what_was_left_half_deleted(
    log: Path, told: Told
) -> None:
    with Upkeep(str(log)) as upkeep:
        first, second, _ = pruning.survey(str(log)).candidates
        assert pruning._take_out(upkeep, first, "test")  # and whoever did so was killed
        total = pruning.rows_to_delete(upkeep, [second])

        freed = pruning.prune(upkeep, [second], "test", advance=told.advance)

    assert (freed.completed, [one.id for one in freed.gone]) == ([first.id], [second.id])
    assert total > first.frames + second.frames + first.messages + second.messages
    told.assert_is(total, at_least=10)


def test_giving_back_in_slices_tells_of_each_byte(log: Path, told: Told) -> None:
    with Upkeep(str(log)) as upkeep:
        assert not is_incremental(upkeep)
        vacuum(upkeep, make_incremental=True, advance=told.advance)
        assert told.amounts == []
        pruning.prune(upkeep, pruning.survey(str(log)).candidates, "test")
        free = upkeep.free_bytes()

        done = vacuum(upkeep, advance=told.advance)

    assert done.in_slices
    assert free > 1 << 20
    told.assert_is(free)
