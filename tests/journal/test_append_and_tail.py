"""A journal on a real disk: appended by threads, read while it grows, on disks that fill up."""

import fcntl
import os
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from acp_proxy.journal.append import JournalWriter
from acp_proxy.journal.records import HEAD, HEAD_SIZE, HEADER_SIZE, Slot, Stream, decode_facts
from acp_proxy.journal.tail import JournalReader


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "journal")


def test_what_is_appended_is_read_in_order_with_offsets(path: str) -> None:
    writer = JournalWriter(path)
    writer.note({"event": "start"})
    writer.append(Stream.CLIENT, b"ab")
    writer.append(Stream.AGENT, b"c")
    writer.append(Stream.CLIENT, b"")
    writer.append(Stream.CLIENT, b"def")
    writer.close(0)

    with JournalReader(path) as reader:
        records = list(reader.records())

    found = [(r.stream, r.offset, r.data) for r in records if r.stream is not Stream.CONTROL]
    assert found == [
        (Stream.CLIENT, 0, b"ab"),
        (Stream.AGENT, 0, b"c"),
        (Stream.CLIENT, 2, b""),
        (Stream.CLIENT, 2, b"def"),
    ]
    notes = [decode_facts(r.data) for r in records if r.stream is Stream.CONTROL]
    assert notes == [{"event": "start"}, {"event": "exit", "wait_status": 0}]
    clocks = [r.monotonic_ns for r in records]
    assert clocks == sorted(clocks)


def test_a_reader_goes_on_from_any_record(path: str) -> None:
    writer = JournalWriter(path)
    for number in range(10):
        writer.append(Stream.AGENT, b"x" * number)

    with JournalReader(path) as reader:
        everything = list(reader.records())
        for at, record in enumerate(everything):
            assert list(reader.records(record.position)) == everything[at:]
        assert reader.read(everything[-1].end) == []
        writer.append(Stream.AGENT, b"more")
        assert [r.data for r in reader.read(everything[-1].end)] == [b"more"]
    writer.close(0)


def test_records_larger_than_one_read_come_whole(path: str) -> None:
    writer = JournalWriter(path)
    writer.append(Stream.AGENT, b"a" * 9_000_000)
    writer.append(Stream.AGENT, b"b" * 3)
    writer.close(0)

    with JournalReader(path) as reader:
        sizes = [len(r.data) for r in reader.records() if r.stream is Stream.AGENT]

    assert sizes == [9_000_000, 3]


def test_threads_append_without_tearing_each_other(path: str) -> None:
    writer = JournalWriter(path)

    def append(stream: Stream) -> None:
        for number in range(500):
            writer.append(stream, bytes([stream]) * (number % 97))

    threads = [
        threading.Thread(target=append, args=(stream,))
        for stream in (Stream.CLIENT, Stream.AGENT, Stream.STDERR)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close(0)

    with JournalReader(path) as reader:
        records = list(reader.records())
    for stream in (Stream.CLIENT, Stream.AGENT, Stream.STDERR):
        mine = [r for r in records if r.stream is stream]
        assert [len(r.data) for r in mine] == [number % 97 for number in range(500)]
        offset = 0
        for record in mine:
            assert record.offset == offset
            offset += len(record.data)


@pytest.mark.parametrize("cut", [1, 20, HEAD_SIZE - 1, HEAD_SIZE, HEAD_SIZE + 1, HEAD_SIZE + 4])
def test_a_torn_end_is_not_read_and_is_no_damage(path: str, cut: int) -> None:
    writer = JournalWriter(path)
    writer.append(Stream.AGENT, b"whole")
    end = os.path.getsize(path)
    writer.append(Stream.AGENT, b"torn!")
    os.truncate(path, end + cut)

    with JournalReader(path) as reader:
        assert [r.data for r in reader.records()] == [b"whole"]
        assert not reader.is_damaged(end)


def test_a_hole_in_the_middle_is_damage(path: str) -> None:
    writer = JournalWriter(path)
    writer.append(Stream.AGENT, b"first")
    end = os.path.getsize(path)
    writer.append(Stream.AGENT, b"second")
    writer.append(Stream.AGENT, b"third")
    with Path(path).open("r+b") as file:
        file.seek(end + HEAD_SIZE + 2)
        file.write(b"X")

    with JournalReader(path) as reader:
        assert [r.data for r in reader.records()] == [b"first"]
        assert reader.is_damaged(end)


def test_a_length_that_was_damaged_is_no_torn_end(path: str) -> None:
    writer = JournalWriter(path)
    writer.append(Stream.AGENT, b"first")
    end = os.path.getsize(path)
    writer.append(Stream.AGENT, b"second")
    writer.append(Stream.AGENT, b"third")
    with Path(path).open("r+b") as file:
        file.seek(end + 1)
        file.write(b"\x01")

    with JournalReader(path) as reader:
        assert [r.data for r in reader.records()] == [b"first"]
        assert reader.is_damaged(end)
        assert reader.unread(end) == os.path.getsize(path) - end


def test_a_torn_end_with_many_seeming_records_in_it_takes_no_long_time(path: str) -> None:
    writer = JournalWriter(path)
    end = os.path.getsize(path)
    heads = HEAD.pack(2**20, 1, 0, 0, 0, 1) * (2**21 // HEAD_SIZE)
    writer.append(Stream.AGENT, heads)
    os.truncate(path, os.path.getsize(path) - 1)

    with JournalReader(path) as reader:
        assert not list(reader.records())
        assert reader.is_damaged(end)  # taken for granted: to know it would take long


def test_a_closed_journal_has_no_torn_end(path: str) -> None:
    writer = JournalWriter(path)
    writer.append(Stream.AGENT, b"whole")
    end = os.path.getsize(path)
    writer.append(Stream.AGENT, b"lost")
    writer.close(0)
    size = os.path.getsize(path)
    with JournalReader(path) as reader:
        assert not reader.is_damaged(size)
    for cut in (size - 1, end + 5, end):
        os.truncate(path, cut)
        with JournalReader(path) as reader:
            assert reader.is_damaged(end)
            assert reader.unread(end) == size - end


def test_the_file_is_private_and_locked_while_it_is_written(path: str) -> None:
    old = os.umask(0)
    try:
        writer = JournalWriter(path)
    finally:
        os.umask(old)

    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    with Path(path).open("rb") as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        writer.close(0)
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)


def test_nothing_is_left_where_a_journal_cannot_be_made(tmp_path: Path) -> None:
    taken = tmp_path / "journal"
    taken.mkdir()

    with pytest.raises(OSError, match="directory"):
        JournalWriter(str(taken))

    assert [entry.name for entry in tmp_path.iterdir()] == ["journal"]


_FILLS_UP = """
import resource, signal, sys
from acp_proxy.journal.append import JournalWriter
from acp_proxy.journal.records import Stream

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
writer = JournalWriter(sys.argv[1])
writer.append(Stream.AGENT, b"before ")
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), hard))
writer.append(Stream.AGENT, b"x" * 1000)
writer.append(Stream.CLIENT, b"y" * 500)
writer.append(Stream.AGENT, b"z" * 1000)
if sys.argv[3] == "room":
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    writer.append(Stream.AGENT, b"after")
writer.close(9)
"""


def _fill_up(path: str, then: str) -> None:
    assert resource.RLIMIT_FSIZE is not None
    limit = str(HEADER_SIZE + 100)  # room for "before " and a piece of what follows
    subprocess.run([sys.executable, "-c", _FILLS_UP, path, limit, then], check=True)


def test_a_gap_is_told_when_there_is_room_again(path: str) -> None:
    _fill_up(path, "room")

    with JournalReader(path) as reader:
        records = list(reader.records())
        assert reader.slot() == Slot((0, 0, 0), 9, os.path.getsize(path))
    told = [
        decode_facts(r.data) if r.stream is Stream.CONTROL else (r.stream, r.offset, r.data)
        for r in records
    ]
    assert told == [
        (Stream.AGENT, 0, b"before "),
        {"event": "gap", "stream": 0, "offset": 0, "bytes": 500},
        {"event": "gap", "stream": 1, "offset": 7, "bytes": 2000},
        (Stream.AGENT, 2007, b"after"),
        {"event": "exit", "wait_status": 9},
    ]


def test_a_gap_and_the_end_are_told_in_the_header_when_there_never_is_room(path: str) -> None:
    _fill_up(path, "no room")

    with JournalReader(path) as reader:
        assert [r.data for r in reader.records()] == [b"before "]
        assert reader.slot() == Slot((500, 2007, 0), 9, os.path.getsize(path))
        assert not reader.is_damaged(os.path.getsize(path))
