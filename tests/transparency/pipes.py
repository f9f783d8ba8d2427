"""Reading and writing our ends of pipes, sockets and terminals, always for a bounded time."""

from __future__ import annotations

import contextlib
import hashlib
import os
import select
import threading
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LIMIT = 60.0
"""Seconds after which a wait is given up."""

T = TypeVar("T")


def wait_until(condition: Callable[[], T], what: str, seconds: float = LIMIT) -> T:
    """Return the first true value of ``condition``; fail when there is none in time."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds:.0f} s in vain: {what}")
        time.sleep(0.004)
    return value


class Collector:
    """Reads a descriptor to its end in a thread: counts, hashes and (if asked to) keeps."""

    def __init__(self, fd: int, *, keep: bool = True) -> None:
        self.data = bytearray()
        self.count = 0
        self._keep = keep
        self._digest = hashlib.sha256()
        self._fd = fd
        self._news = threading.Condition()
        self._stop = False
        self.ended = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        while not self._stop:
            if not poll.poll(100):
                continue
            try:
                chunk = os.read(self._fd, 1 << 18)
            except BlockingIOError:
                continue
            except OSError:  # a terminal whose other side is closed
                chunk = b""
            with self._news:
                self._digest.update(chunk)
                self.count += len(chunk)
                if self._keep:
                    self.data += chunk
                self.ended = not chunk
                self._news.notify_all()
            if not chunk:
                return

    def _wait(self, condition: Callable[[], bool], what: str, seconds: float) -> bytes:
        with self._news:
            if not self._news.wait_for(condition, seconds):
                raise AssertionError(
                    f"waited {seconds:.0f} s in vain for {what};"
                    f" got {self.count} bytes, the last are {bytes(self.data[-200:])!r}"
                )
            return bytes(self.data)

    def wait_for(self, needle: bytes, seconds: float = LIMIT) -> bytes:
        """Return all that came, once it contains ``needle``."""
        there = self._wait(lambda: needle in self.data or self.ended, repr(needle), seconds)
        assert needle in there, f"the stream ended without {needle!r}: {there[-200:]!r}"
        return there

    def wait_count(self, count: int, seconds: float = LIMIT) -> bytes:
        """Return all that came, once it is at least so many bytes."""
        there = self._wait(lambda: self.count >= count or self.ended, f"{count} bytes", seconds)
        assert self.count >= count, f"the stream ended after {self.count} of {count} bytes"
        return there

    def wait_end(self, seconds: float = LIMIT) -> bytes:
        """Return all that came, once the stream has ended."""
        return self._wait(lambda: self.ended, "the end of the stream", seconds)

    @property
    def sha256(self) -> str:
        """The hash of all bytes so far."""
        with self._news:
            return self._digest.hexdigest()

    def close(self) -> None:
        """Stop reading and close the descriptor."""
        self._stop = True
        self._thread.join(LIMIT)
        os.close(self._fd)


def send(fd: int, data: bytes, seconds: float = LIMIT) -> None:
    """Write all of ``data`` to our end of a pipe or socket, for a bounded time.

    Only our own end becomes non-blocking; the peer's is an open file description of its own.
    """
    os.set_blocking(fd, False)
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    view, end = memoryview(data), time.monotonic() + seconds
    while view:
        if time.monotonic() > end:
            raise TimeoutError(
                f"{len(view)} of {len(data)} bytes were not taken in {seconds:.0f} s"
            )
        if poll.poll(100):
            with contextlib.suppress(BlockingIOError):
                view = view[os.write(fd, view[: 1 << 20]) :]


def receive(fd: int, count: int, seconds: float = LIMIT) -> bytes:
    """Return up to ``count`` bytes from one read of our end; nothing at the end of the stream."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    if not poll.poll(seconds * 1000):
        raise AssertionError(f"waited {seconds:.0f} s in vain for a byte")
    return os.read(fd, count)


class Sender(threading.Thread):
    """Writes chunks in a thread; says afterwards how many bytes went and what stopped it."""

    def __init__(self, fd: int, chunks: Iterable[bytes], seconds: float = LIMIT) -> None:
        super().__init__(daemon=True)
        self.error: OSError | None = None
        self.count = 0
        self._fd, self._chunks, self._seconds = fd, chunks, seconds
        self.start()

    def run(self) -> None:
        try:
            for chunk in self._chunks:
                for start in range(0, len(chunk), 4096):
                    piece = chunk[start : start + 4096]
                    send(self._fd, piece, self._seconds)
                    self.count += len(piece)
        except OSError as error:
            self.error = error

    def finish(self) -> None:
        """Wait until all is written; raise what went wrong."""
        self.join(self._seconds + LIMIT)
        assert not self.is_alive(), "the sender is stuck"
        if self.error:
            raise self.error
