"""Whatever the client's streams are, they work, and keep the flags they had."""

from __future__ import annotations

import contextlib
import os
import pty
import random
import select
import shlex
import socket
import termios
import tty
from typing import TYPE_CHECKING

import pytest

from tests.agents.streams import frame
from tests.harness import LIMIT, Collector, Process, Way, agent, needs_linux, receive, send

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = needs_linux

LINE = b'{"jsonrpc":"2.0","id":1,"method":"x"}\r\n'
MEGABYTE = b"".join(map(frame, range(4_000)))


def plain_terminal(fd: int) -> None:
    """Let a terminal hand lines over as they are typed, and know only its end-of-file key."""
    settings = termios.tcgetattr(fd)
    tty.setraw(fd)
    raw = termios.tcgetattr(fd)
    raw[3] |= termios.ICANON
    raw[6] = settings[6]
    termios.tcsetattr(fd, termios.TCSANOW, raw)


class Streams:
    """Three descriptors to be inherited, our ends of them, and copies to look at the flags."""

    def __init__(self, kind: str) -> None:
        self._open: list[int] = []
        if kind == "pipes":
            self.stdin, self.to_it = self._keep(*os.pipe())
            self.from_it, self.stdout = self._keep(*os.pipe())
            self.errors, self.stderr = self._keep(*os.pipe())
        elif kind == "socketpairs":
            self.stdin, self.to_it = self._pair()
            self.stdout, self.from_it = self._pair()
            self.stderr, self.errors = self._pair()
        elif kind == "one socketpair":
            self.stdin, self.to_it = self._pair()
            self.stdout, self.from_it = self.stdin, self.to_it
            self.stderr, self.errors = self._pair()
        else:
            self.to_it, self.stdin = self._keep(*pty.openpty())
            plain_terminal(self.stdin)
            self.stdout, self.from_it = self.stdin, self.to_it
            self.stderr, self.errors = self._pair()

    def _keep(self, *fds: int) -> tuple[int, ...]:
        self._open += fds
        return fds

    def _pair(self) -> tuple[int, ...]:
        return self._keep(*(end.detach() for end in socket.socketpair()))

    @property
    def inherited(self) -> list[int]:
        """The descriptors that a started process gets (the same open file descriptions)."""
        return [self.stdin, self.stdout, self.stderr]

    def blocking(self) -> list[bool]:
        """Tell of each inherited stream whether it is blocking now."""
        return [os.get_blocking(fd) for fd in self.inherited]

    def close(self) -> None:
        """Close all that is still open."""
        for fd in self._open:
            with contextlib.suppress(OSError):
                os.close(fd)


@pytest.fixture(params=["pipes", "socketpairs", "one socketpair", "a terminal"])
def streams(request: pytest.FixtureRequest) -> Iterator[Streams]:
    """Streams of each kind that carries both ways."""
    streams = Streams(request.param)
    yield streams
    streams.close()


def converse(way: Way, streams: Streams, *, blocking: bool) -> None:
    """Talk over the streams, and look at the flags before, meanwhile and afterwards."""
    fds = {"stdin": streams.stdin, "stdout": streams.stdout, "stderr": streams.stderr}
    with Process(way.command(agent("echo", 3)), **fds) as process:  # type: ignore[arg-type]
        output = Collector(os.dup(streams.from_it))
        try:
            send(streams.to_it, LINE)
            output.wait_count(len(LINE))
            assert streams.blocking() == [blocking] * 3
            send(streams.to_it, MEGABYTE)
            output.wait_count(len(LINE) + len(MEGABYTE))
            assert streams.blocking() == [blocking] * 3
            end_input(streams)
            assert process.wait() == 3
            assert output.data == LINE + MEGABYTE
        finally:
            output.close()

    assert streams.blocking() == [blocking] * 3
    poll = select.poll()
    poll.register(streams.errors, select.POLLIN)
    assert not poll.poll(0), f"noise: {receive(streams.errors, 1000)!r}"
    way.assert_recorded(client=LINE + MEGABYTE, agent=LINE + MEGABYTE, stderr=b"")


def end_input(streams: Streams) -> None:
    """Let the other side see the end of its input, in the way of this kind of stream."""
    if os.isatty(streams.to_it):
        send(streams.to_it, b"\x04")
    elif streams.to_it == streams.from_it:
        with socket.socket(fileno=os.dup(streams.to_it)) as ours:
            ours.shutdown(socket.SHUT_WR)
    else:
        os.close(streams.to_it)


@pytest.mark.slow
def test_each_kind_of_stream_works_and_stays_blocking(way: Way, streams: Streams) -> None:
    converse(way, streams, blocking=True)


@pytest.mark.slow
def test_streams_that_are_non_blocking_already_work_and_stay_so(
    proxied: Way, streams: Streams
) -> None:
    for fd in streams.inherited:
        os.set_blocking(fd, False)
    converse(proxied, streams, blocking=False)


def test_regular_files_are_read_and_written_from_where_they_stand(way: Way, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"not this\n" + LINE + MEGABYTE)
    fds = [
        os.open(tmp_path / "in", os.O_RDONLY),
        os.open(tmp_path / "out", os.O_RDWR | os.O_CREAT),
        os.open(tmp_path / "err", os.O_RDWR | os.O_CREAT),
    ]
    try:
        os.read(fds[0], len(b"not this\n"))
        os.write(fds[1], b"before\n")
        with way.start(agent("echo", 3), stdin=fds[0], stdout=fds[1], stderr=fds[2]) as process:
            assert process.wait() == 3
        os.write(fds[1], b"after\n")
        assert all(os.get_blocking(fd) for fd in fds)
    finally:
        for fd in fds:
            os.close(fd)

    assert (tmp_path / "out").read_bytes() == b"before\n" + LINE + MEGABYTE + b"after\n"
    assert (tmp_path / "err").read_bytes() == b""
    way.assert_recorded(client=LINE + MEGABYTE, agent=LINE + MEGABYTE, stderr=b"")


def test_output_and_stderr_may_be_one_file(way: Way, tmp_path: Path) -> None:
    path = tmp_path / "both"
    with path.open("wb") as both:
        fd = both.fileno()
        with way.start(agent("last_words", 4), stdout=fd, stderr=fd) as process:
            assert process.wait() == 4

    assert sorted(path.read_bytes().splitlines()) == [b"goodbye", b'{"last":"words"}']
    way.assert_recorded(agent=b'{"last":"words"}\n', stderr=b"goodbye\n")


@pytest.mark.slow
def test_the_null_device_is_an_empty_input_and_a_patient_output(way: Way) -> None:
    expected = random.Random(3).randbytes(300_000)
    null = os.open(os.devnull, os.O_RDWR)
    try:
        command = agent("burst", len(expected), 3)
        with way.start(command, stdin=null, stdout=null, stderr=null) as process:
            assert process.wait() == 9
        with way.start(agent("answers_late"), stdin=null) as process:
            assert process.stdout.wait_end() == b""
            assert process.wait() == 3
        assert os.get_blocking(null)
    finally:
        os.close(null)

    if way.log:
        assert [c["bytes"]["agent"] for c in way.log.connections()] == [0, len(expected)]
        way.log.assert_clean()


def test_a_client_that_is_gone_with_answers_unread_ends_the_conversation(proxied: Way) -> None:
    ours, theirs = socket.socketpair()
    with theirs, ours:
        fd = theirs.fileno()
        with proxied.start(agent("echo", 3), stdin=fd, stdout=fd) as process:
            theirs.close()
            send(ours.fileno(), LINE)
            poll = select.poll()
            poll.register(ours.fileno(), select.POLLIN)
            assert poll.poll(LIMIT * 1000)
            ours.close()  # the proxy's next read says "connection reset", not "end"
            assert process.wait() == 3
            assert process.stderr.wait_end() == b""

    proxied.assert_recorded(client=LINE, agent=LINE, stderr=b"")


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["0", "1", "2", "012"])
def test_streams_that_were_closed_from_the_start_hurt_neither_agent_nor_record(
    way: Way, closed: str
) -> None:
    script = "(echo out) 2>/dev/null; echo err >&2; exit 3"
    command = shlex.join(way.command(["/bin/sh", "-c", script]))
    without = " ".join(f"{fd}>&-" for fd in closed)
    with Process(["/bin/sh", "-c", f"exec {command} {without}"]) as process:
        assert process.stdout.wait_end() == (b"" if "1" in closed else b"out\n")
        assert process.stderr.wait_end() == (b"" if "2" in closed else b"err\n")
        assert process.wait() == 3

    if way.log:
        assert way.log.export("client") == b""
        assert way.log.export("agent") in {b"out\n", b"" if "1" in closed else b"out\n"}
        assert way.log.export("stderr") in {b"err\n", b"" if "2" in closed else b"err\n"}
        way.log.assert_clean()
