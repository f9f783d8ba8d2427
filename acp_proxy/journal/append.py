"""Writing a journal: the proxy's side. Never raises once the file is open.

What cannot be written is counted and told as a gap as soon as writing works
again; the caller goes on either way (design section 4).
"""

import contextlib
import fcntl
import os
import threading
import time
from typing import TYPE_CHECKING

from acp_proxy.clock import LATEST_NS, wall_clock_ns
from acp_proxy.installation import seal
from acp_proxy.journal.records import (
    HEADER_SIZE,
    Facts,
    Slot,
    Stream,
    encode_facts,
    encode_head,
    encode_header,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_NOTIFY_EVERY_NS = 20_000_000
_MAX_UNWRITTEN_FACTS = 64


class JournalWriter:
    """An open journal that threads append to; records stand in the order of the calls.

    While it is open the file is locked, which tells others that its proxy lives.

    Args:
        path: The file to make; it must not exist.
        start: The first control record; whoever finds the journal finds it there.
        notify: Called after an append, not more often than each 20 ms, to wake the recorder. It must
            neither block nor raise.

    Raises:
        OSError: The file cannot be made.

    """

    def __init__(
        self,
        path: str,
        start: Facts | None = None,
        notify: "Callable[[], object] | None" = None,
    ) -> None:
        self.path = path
        self._notify = notify
        self._lock = threading.Lock()
        self._offsets = [0, 0, 0]
        self._lost = [0, 0, 0]
        self._lost_from = [0, 0, 0]
        self._unwritten: list[bytes] = []  # heads and facts of control records that found no room
        self._is_clock_noted = False
        self._wait_status: int | None = None
        self._notified_ns = 0
        self._position = HEADER_SIZE
        # Nobody may find it before it is locked: a journal without a proxy looks left over.
        unfinished = path + ".new"
        self._fd = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            os.fchmod(self._fd, 0o600)  # whatever the umask
            self._seal = seal(os.path.basename(path), os.fstat(self._fd).st_ino)
            os.pwrite(self._fd, encode_header(Slot(), self._seal), 0)
            if start is not None:
                self.note(start)
            os.rename(unfinished, path)
        except OSError:
            os.close(self._fd)
            os.unlink(unfinished)
            raise

    def append(self, stream: Stream, data: bytes) -> None:
        """Append a chunk of a stream; a gap is counted when there is no room for it."""
        with self._lock:
            monotonic_ns = time.monotonic_ns()
            offset = self._offsets[stream]
            self._offsets[stream] = offset + len(data)
            head = encode_head(stream, offset, monotonic_ns, self._wall_clock(), data)
            if not self._write([head, data]):
                if not self._lost[stream]:
                    self._lost_from[stream] = offset
                self._lost[stream] += len(data)
                self._rewrite_slot()
        if self._notify is not None and monotonic_ns - self._notified_ns > _NOTIFY_EVERY_NS:
            self._notified_ns = monotonic_ns
            self._notify()

    def note(self, facts: Facts) -> None:
        """Append a control record."""
        data = encode_facts(facts)
        with self._lock:
            head = encode_head(Stream.CONTROL, 0, time.monotonic_ns(), self._wall_clock(), data)
            if not self._write([head, data]) and len(self._unwritten) < _MAX_UNWRITTEN_FACTS:
                self._unwritten.append(head + data)
        if self._notify is not None:
            self._notify()

    def close(self, wait_status: int) -> None:
        """Append how the agent ended, and let go of the file."""
        with self._lock:
            self._wait_status = wait_status
        self.note({"event": "exit", "wait_status": wait_status})
        with self._lock:
            self._rewrite_slot(end=self._position)
            fd, self._fd = self._fd, -1
            os.close(fd)

    def _wall_clock(self) -> int:
        """Return the time for a record; where it is out of range, see that a record tells so."""
        now_ns = wall_clock_ns()
        if now_ns == LATEST_NS and not self._is_clock_noted and self._position > HEADER_SIZE:
            self._is_clock_noted = True
            facts = encode_facts({"event": "clock out of range", "latest_ns": LATEST_NS})
            head = encode_head(Stream.CONTROL, 0, time.monotonic_ns(), now_ns, facts)
            self._unwritten.append(head + facts)  # goes before the next record
        return now_ns

    def _write(self, parts: list[bytes]) -> bool:
        """Write records at the end, whole or not at all; what waited goes first."""
        if self._fd < 0:
            return False
        if any(self._lost) or self._unwritten:
            parts = [*self._backlog(), *parts]
        size = sum(map(len, parts))
        try:
            whole = os.pwritev(self._fd, parts, self._position) == size
        except OSError:
            whole = False
        if not whole:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self._position)
            return False
        self._position += size
        if any(self._lost) or self._unwritten:
            self._lost = [0, 0, 0]
            self._unwritten = []
            self._rewrite_slot()
        return True

    def _backlog(self) -> list[bytes]:
        """Return the control records that tell what could not be written so far."""
        parts = list(self._unwritten)
        for stream in (Stream.CLIENT, Stream.AGENT, Stream.STDERR):
            if lost := self._lost[stream]:
                facts = encode_facts(
                    {
                        "event": "gap",
                        "stream": int(stream),
                        "offset": self._lost_from[stream],
                        "bytes": lost,
                    }
                )
                head = encode_head(
                    Stream.CONTROL, 0, time.monotonic_ns(), self._wall_clock(), facts
                )
                parts += [head, facts]
        return parts

    def _rewrite_slot(self, end: int = 0) -> None:
        """Say in the header, where there is always room, what no record could say."""
        client, agent, stderr = (
            offset if lost else 0 for offset, lost in zip(self._offsets, self._lost, strict=True)
        )
        slot = Slot((client, agent, stderr), self._wait_status, end)
        with contextlib.suppress(OSError):
            os.pwrite(self._fd, encode_header(slot, self._seal), 0)
