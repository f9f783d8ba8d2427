"""The recorder's process: follow a journal until its proxy has ended, whatever the log does.

It holds nothing of the client's or the agent's, runs with low priority in a
session of its own, and outlives the proxy only to finish its work. Its exit code
tells whether that is done (``journal.handover``).
"""

import contextlib
import gc
import os
import select
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from acp_proxy.errors import LogError
from acp_proxy.journal import handover, spool
from acp_proxy.journal.records import Stream, decode_facts
from acp_proxy.journal.tail import JournalReader
from acp_proxy.log.identity import LogUnavailableError
from acp_proxy.log.schema import LogLockedError
from acp_proxy.log.writer import Batch, ConflictError, LogWriter
from acp_proxy.recorder.ingest import Ingest
from acp_proxy.recorder.keeping import keep_limits
from acp_proxy.recorder.priority import Priority
from acp_proxy.recorder.readback import difference

T = TypeVar("T")

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_proxy.journal.records import Record

_BUSY_SECONDS = 0.02
"""How long to wait for more while bytes come; a batch may wait 50 ms (design section 2)."""
_QUIET_AFTER_SECONDS = 0.2
_QUIET_SECONDS = 5.0
_RETRY_SECONDS = (0.05, 1.0)
_LOCKED_SECONDS = 0.1
_PATIENCE_SECONDS = 1.0
_PATIENCE_WITH_LOCKS_SECONDS = 60.0
"""How long a recorder tries to use a log after its proxy has ended: later commands try again."""
_BUSY_MS = 1000
_TIMES_AGAIN = 2
"""How often a connection is recorded anew when the log turns out not to have it."""
_YIELD_SECONDS = 2.0
"""How often to look how many other recorders there are."""


def main() -> None:
    """Run: the arguments are a journal's path and, while its proxy runs, a pipe's end."""
    priority = Priority()
    gc.set_threshold(2_000_000, 50, 100)  # a state is large and has no cycles
    path, *wake = sys.argv[1:]
    code = _run(path, priority, int(wake[0]) if wake else None)
    if code == handover.DONE and wake:  # the log works: what others left over can go in too
        for left in spool.beside(path):
            if spool.is_ours(left) and not spool.is_alive(left):
                _run(left, priority)
        spool.sweep(path)
    sys.exit(code)


def _run(path: str, priority: Priority, wake: int | None = None) -> int:
    claim = spool.Claim(path)
    with contextlib.suppress(OSError):  # a folder that cannot be written: go without
        if not claim.take():
            return handover.DONE
    try:
        with JournalReader(path) as journal:
            return _Recorder(journal, priority, wake).run()
    except FileNotFoundError:  # somebody else has finished it
        return handover.DONE
    except LogError as error:
        return _give_up(error)
    except Exception as error:  # noqa: BLE001 - a journal may hold anything; it stays, and says so
        with contextlib.suppress(OSError):
            sys.stderr.write(
                f"the recorder met an unexpected error ({type(error).__name__})\n"
                f"the journal is kept; please report the error with {_place_of(error)} and the "
                "version of acp-proxy\n"
            )
        return handover.GAVE_UP
    finally:
        claim.release()


def _place_of(error: Exception) -> str:
    """Return the file and line of ours where an error was raised, without what was read."""
    trace = error.__traceback__
    place = "an unknown place"
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        if f"{os.sep}acp_proxy{os.sep}" in path:
            place = f"{os.path.basename(path)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _give_up(error: LogError) -> int:
    """Say why the journal stays where it is."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{_one_line(error.why)}\n{_one_line(error.remedy)}\n")
    return handover.GAVE_UP


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


class _Recorder:
    """Follows one journal."""

    def __init__(self, journal: JournalReader, priority: Priority, wake: int | None) -> None:
        self._journal = journal
        self._priority = priority
        self._wake = wake
        self._proxy_gone = wake is None
        self._last_news = time.monotonic()
        self._impatient_since: float | None = None
        self._next_yield = 0.0

    def run(self) -> int:
        """Record until all is in the log."""
        if self._journal.size() == 0:  # somebody died before it was begun
            spool.remove(self._journal.path)
            return handover.DONE
        if self._journal.slot() is None:
            raise LogError(
                f"{self._journal.path} is no journal of this acp-proxy", "look at it, or delete it"
            )
        start = self._begin()
        if start is None:  # the proxy died before it relayed anything
            spool.remove(self._journal.path)
            return handover.DONE
        log = _log_of(start, self._journal.path)
        again = 0
        while True:
            with self._patiently(lambda: LogWriter(log, busy_ms=_BUSY_MS)) as writer:
                begin = partial(Ingest, self._journal, start, writer)
                try:
                    ingest = self._patiently(begin)
                    self._follow(ingest, writer)
                except ConflictError:  # replaced: go on from where the log is that is there now
                    continue
            recorded = ingest.recorded()
            lost = self._patiently(partial(difference, log, recorded))
            if lost is None:
                break
            again += 1
            if again > _TIMES_AGAIN:
                raise LogError(
                    f"{log} does not keep what is recorded: {lost}",
                    "the journal is kept; end what else writes to that file, then any command "
                    "records it again",
                )
            self._patiently(partial(_forget, log, recorded.uuid))
        if ingest.is_damaged:
            spool.set_aside(self._journal.path)
        spool.remove(self._journal.path)
        keep_limits(log, decode_facts(start.data))
        return handover.DONE

    def _begin(self) -> "Record | None":
        """Return the first record of a journal that was written here, None when it has none."""
        path = self._journal.path
        if self._wake is None and not spool.is_ours(path):  # else its proxy started us
            raise LogError(f"{path} was not written by acp-proxy here", spool.ADOPT)
        start = self._first_record()
        if start is None and self._journal.is_damaged(0):
            kept = spool.set_aside(path)
            raise LogError(f"the beginning of a journal is damaged: {kept}", "look at it by hand")
        return start

    def _follow(self, ingest: Ingest, writer: LogWriter) -> None:
        with _Writing(writer, self._patiently) as writing:
            while not ingest.is_finished:
                gone = self._proxy_gone  # asked before reading: what is read then is all
                records = self._journal.read(ingest.position)
                if records:
                    self._last_news = time.monotonic()
                    ingest.take(records)
                    if (batch := ingest.batch()) is not None:
                        writing.write(batch)
                if ingest.has_ended or (gone and not records):
                    break
                if not records:
                    writing.settle()
                self._wait()
                self._yield()  # only now: a machine so busy that we get nothing should have a log
        if not ingest.is_finished:
            self._patiently(partial(_unless_replaced, writer, ingest.finish))

    def _yield(self) -> None:
        now = time.monotonic()
        if not self._proxy_gone and now > self._next_yield:
            self._next_yield = now + _YIELD_SECONDS
            self._priority.yield_to_traffic(max(1, len(spool.beside(self._journal.path))))

    def _first_record(self) -> "Record | None":
        while True:
            gone = self._proxy_gone
            if records := self._journal.read(0):
                return records[0]
            if gone:
                return None
            self._wait()

    def _patiently(self, do: "Callable[[], T]") -> T:
        """Do something with the log, again and again while it is only unavailable.

        Nothing is lost meanwhile: the journal has it.
        """
        pause, longest = _RETRY_SECONDS
        while True:
            try:
                result = do()
            except LogUnavailableError as error:
                self._check_patience(error)
                time.sleep(pause)
                # Who waits long for a lock that many want would always come too late for it.
                pause = min(2 * pause, _LOCKED_SECONDS if _is_locked(error) else longest)
            else:
                self._impatient_since = None
                return result

    def _check_patience(self, error: LogError) -> None:
        if self._wake is not None and not self._proxy_gone:
            self._listen(0)
        if not self._proxy_gone:
            return
        now = time.monotonic()
        if self._impatient_since is None:
            self._impatient_since = now
        patience = _PATIENCE_WITH_LOCKS_SECONDS if _is_locked(error) else _PATIENCE_SECONDS
        if now - self._impatient_since > patience:
            raise LogError(error.why, error.remedy)  # no longer one to be patient with

    def _wait(self) -> None:
        """Wait until the journal may have grown."""
        self._priority.settle()
        if self._proxy_gone:
            return
        quiet = time.monotonic() - self._last_news > _QUIET_AFTER_SECONDS
        self._listen(_QUIET_SECONDS if quiet else _BUSY_SECONDS)

    def _listen(self, seconds: float) -> None:
        """Wait for the proxy to say that it wrote; notice when it has gone.

        The proxy speaks at most each 20 ms. What it wrote without a word right after
        is found because this waits only briefly for a while after the last news.
        """
        assert self._wake is not None
        poller = select.poll()
        poller.register(self._wake, select.POLLIN)
        for _, events in poller.poll(seconds * 1000):
            self._last_news = time.monotonic()
            with contextlib.suppress(BlockingIOError):
                # Where the system tells of the end at once, what it said before need not be read.
                self._proxy_gone = not os.read(self._wake, 65536) or bool(events & select.POLLHUP)
        if self._proxy_gone:
            self._priority.finish()


class _Writing:
    """Batches on their way into the log: one is completed beside our reading of the next."""

    def __init__(
        self, writer: LogWriter, patiently: "Callable[[Callable[[], None]], None]"
    ) -> None:
        self._writer = writer
        self._patiently = patiently
        self._pool = ThreadPoolExecutor(1)
        self._batch: Batch | None = None
        self._completing: Future[None] | None = None

    def __enter__(self) -> "_Writing":
        return self

    def __exit__(self, kind: object, *exc: object) -> None:
        with contextlib.ExitStack() as stack:
            stack.callback(self._pool.shutdown)
            if kind is None:
                self.settle()

    def write(self, batch: Batch) -> None:
        """Write a batch after the last one; it is safe only once it is settled."""
        self.settle()
        self._batch = batch
        self._patiently(partial(_unless_replaced, self._writer, partial(self._writer.begin, batch)))
        self._completing = self._pool.submit(self._writer.complete)

    def settle(self) -> None:
        """Wait until the last batch is in the log."""
        if self._batch is not None:
            self._patiently(self._settle)
            self._batch = None

    def _settle(self) -> None:
        completing, self._completing = self._completing, None
        if completing is not None:
            completing.result()
        elif self._batch is not None:  # it did not work: from the beginning
            _unless_replaced(self._writer, partial(self._writer.write, self._batch))


def _forget(log: str, uuid: str) -> None:
    """Delete a connection that the log has not whole, so that it can be recorded from the beginning."""
    with LogWriter(log, busy_ms=_BUSY_MS) as writer:
        writer.forget(uuid)


def _is_locked(error: LogError) -> bool:
    return isinstance(error, LogLockedError)


def _unless_replaced(writer: LogWriter, do: "Callable[[], None]") -> None:
    if writer.is_replaced():
        raise ConflictError(f"{writer.path} was replaced")
    do()


def _log_of(start: "Record", journal: str) -> str:
    """Return the log that a journal is for."""
    told = decode_facts(start.data).get("log") if start.stream is Stream.CONTROL else None
    log = spool.log_of(journal, told if isinstance(told, str) else None)
    if log is None:
        raise LogError(f"{journal} does not tell which log it is for", "look at it, or delete it")
    return log
