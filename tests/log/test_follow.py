"""Noticing that a log has grown."""

from contextlib import closing
from pathlib import Path

from acp_proxy.following import Following
from acp_proxy.log.filters import MessageFilter
from acp_proxy.log.follow import LogWatch
from acp_proxy.log.reader import LogReader
from tests.cli.conversations import V1, put


def test_what_another_process_writes_is_noticed_once(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V1)
    with closing(LogWatch(str(log))) as watch:
        assert not watch.changed()
        put(log, V1)
        assert watch.changed()
        assert not watch.changed()


def test_connections_that_came_later_are_told_in_order(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V1)
    with closing(LogWatch(str(log))) as watch:
        assert watch.connections_after(1) == []
        put(put(log, V1), V1)
        assert watch.connections_after(1) == [2, 3]
        assert watch.connections_after(0) == [1, 2, 3]


def test_reading_may_begin_anywhere_and_means_the_same(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V1 * 8)  # longer than the beginning that is always read
    with LogReader(str(log)) as reader:
        whole = list(Following(reader, 1).new())
        assert [told.row.seq for told in whole] == list(range(1, len(V1) * 8 + 1))
        for seq in (1, 2, 90, 102, 110, 125, len(whole), len(whole) + 1):
            following = Following(reader, 1)
            before = list(following.skip_to(seq))
            assert following.seq == seq - 1
            assert all(told.row.seq < seq for told in before)
            assert list(following.new()) == whole[seq - 1 :]
            assert list(following.new()) == []


def test_what_does_not_fit_comes_too_and_is_marked(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V1)
    with LogReader(str(log)) as reader:
        told = list(Following(reader, 1).new(MessageFilter(stream="stderr")))
        newest = Following(reader, 1).newest(MessageFilter(stream="client"), 2)

    assert [one.row.seq for one in told if one.fits] == [16]
    assert len(told) == len(V1)
    assert newest == [14, 12]
