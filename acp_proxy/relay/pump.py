"""One direction of the relay: read, record, write, in a thread of its own.

The two protocol directions pass backpressure on: a reader that stops stops the
writer. Standard error never does: see ``StderrPump``.
"""

import fcntl
import os
import select
import sys
import termios
import threading
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Record = Callable[[bytes], object]

CHUNK = 64 * 1024
STDERR_BUFFER = 1024 * 1024
"""How much of standard error waits for a client that does not read it."""
_ATOMIC = 4096  # what a pipe that polls as writable takes without blocking
_GONE = select.POLLERR | select.POLLHUP | select.POLLNVAL
_STALL_SECONDS = 0.1
"""A client that has not read standard error for so long does not read it."""


class Pump(threading.Thread):
    """Copies one protocol direction until its end.

    Args:
        source: Descriptor to read.
        sink: Descriptor to write.
        agent_gone: A descriptor that hangs up when the agent has ended; what stands in the source then
            is still copied, if the source is the agent's, but nothing that its children write later.
        record: Called with each chunk before it is written.
        on_end: Called once with ``"eof"`` when the source ended, ``"sink gone"`` when nobody reads the
            sink any more, or ``"agent gone"``, and the bytes that could not be delivered.
        drains: Whether the source is the agent's.

    """

    def __init__(
        self,
        source: int,
        sink: int,
        agent_gone: int,
        record: "Record",
        on_end: "Callable[[str, int], object]",
        *,
        drains: bool,
    ) -> None:
        super().__init__(daemon=True)
        self._source = source
        self._sink = sink
        self._agent_gone = agent_gone
        self._record = record
        self._on_end = on_end
        self._drains = drains
        self.delivered = 0
        """Bytes written so far."""

    def run(self) -> None:
        """Copy until the end."""
        self._on_end(*self._copy())

    def _copy(self) -> tuple[str, int]:
        poller = select.poll()
        poller.register(self._source, select.POLLIN)
        poller.register(self._sink, 0)  # tells only that its reader has gone
        poller.register(self._agent_gone, 0)
        left: int | None = None  # to be copied still, known when the agent has ended
        while left is None or left > 0:
            events = dict(poller.poll())
            if events.get(self._sink, 0) & _GONE:
                return "sink gone", 0
            if self._agent_gone in events and left is None:
                left = _waiting(self._source) if self._drains else 0
                continue
            if self._source in events:
                chunk = _read(self._source)
                if chunk is None:
                    continue
                if not chunk:
                    return "eof", 0
                self._record(chunk)
                if undelivered := _write_all(self._sink, chunk):
                    return "sink gone", undelivered
                self.delivered += len(chunk)
                left = None if left is None else left - len(chunk)
        return "agent gone", 0


class StderrPump:
    """Drains the agent's standard error whatever happens, and forwards what the client takes.

    Two threads: one reads and records, one writes. Between them stands a buffer of
    STDERR_BUFFER bytes. When it is full the agent waits as long as the client goes on
    reading; when the client has not read for a moment, the oldest is dropped.
    """

    def __init__(self, source: int, sink: int, agent_gone: int, record: "Record") -> None:
        self.dropped = 0
        self._source = source
        self._sink = sink
        self._agent_gone = agent_gone
        self._record = record
        self._buffer: deque[bytes] = deque()
        self._buffered = 0
        self._changed = threading.Condition()
        self._ended = False
        self._unread = False  # the client has not read for a moment
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._writer = threading.Thread(target=self._write, daemon=True)

    def start(self) -> None:
        """Start both threads."""
        self._reader.start()
        self._writer.start()

    def join(self) -> None:
        """Wait until all is recorded and forwarded, or the client has stopped taking it."""
        self._reader.join()
        left = -1
        while self._writer.is_alive():
            self._writer.join(_STALL_SECONDS)
            with self._changed:
                if self._buffered == left:  # no progress: the client does not read
                    break
                left = self._buffered
        with self._changed:
            self.dropped += self._buffered
            self._buffer.clear()
            self._buffered = 0

    def _read(self) -> None:
        poller = select.poll()
        poller.register(self._source, select.POLLIN)
        poller.register(self._agent_gone, 0)
        left: int | None = None  # to be read still, known when the agent has ended
        while left is None or left > 0:
            events = dict(poller.poll())
            if self._agent_gone in events and left is None:
                left = _waiting(self._source)
                continue
            if self._source in events:
                chunk = _read(self._source)
                if chunk is None:
                    continue
                if not chunk:
                    break
                self._record(chunk)
                self._put(chunk)
                left = None if left is None else left - len(chunk)
        with self._changed:
            self._ended = True
            self._changed.notify()

    def _put(self, chunk: bytes) -> None:
        with self._changed:
            while self._buffered > STDERR_BUFFER - CHUNK and not self._unread:
                before = self._buffered
                self._changed.wait(_STALL_SECONDS)
                self._unread = self._buffered == before  # until the client reads again
            self._buffer.append(chunk)
            self._buffered += len(chunk)
            while self._buffered > STDERR_BUFFER:
                oldest = self._buffer.popleft()
                self._buffered -= len(oldest)
                self.dropped += len(oldest)
            self._changed.notify()

    def _take(self) -> bytes:
        """Return the next few bytes to write, empty at the end."""
        with self._changed:
            while not self._buffer and not self._ended:
                self._changed.wait()
            if not self._buffer:
                return b""
            chunk = self._buffer.popleft()
            if len(chunk) > _ATOMIC:
                self._buffer.appendleft(chunk[_ATOMIC:])
                chunk = chunk[:_ATOMIC]
            return chunk

    def _write(self) -> None:
        poller = select.poll()
        poller.register(self._sink, select.POLLOUT)
        gone = False
        while chunk := self._take():
            if not gone:
                gone = any(event & _GONE for _, event in poller.poll()) or bool(
                    _write_all(self._sink, chunk)
                )
            with self._changed:
                self._buffered -= len(chunk)
                self._unread = False
                self._changed.notify()


def _read(fd: int) -> bytes | None:
    """Return what there is: empty at the end, None when there is nothing yet after all."""
    try:
        return os.read(fd, CHUNK)
    except BlockingIOError:  # the client shares this descriptor and made it non-blocking
        return None
    except OSError:  # a terminal hung up, a socket was reset: there will be no more
        return b""


def _waiting(fd: int) -> int:
    """Return how many bytes stand in a pipe."""
    try:
        return int.from_bytes(fcntl.ioctl(fd, termios.FIONREAD, bytes(4)), sys.byteorder)
    except OSError:
        return 0


def _write_all(fd: int, chunk: bytes) -> int:
    """Write all of a chunk; return how many bytes nobody will read."""
    rest = memoryview(chunk)
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:
            select_writable = select.poll()
            select_writable.register(fd, select.POLLOUT)
            select_writable.poll()
        except OSError:
            return len(rest)
    return 0
