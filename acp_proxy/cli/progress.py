"""Progress bars of long work, on stderr; the one module that draws them.

A bar is there only while somebody looks at a terminal, only when the work takes longer than a
moment, and is gone when the work ends. Meanwhile nothing else may be written to stderr, and
nothing to a stdout that somebody looks at: warnings and results come before it or after it.
"""

import contextlib
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Iterator
from typing import Final

from acp_proxy.advance import Advance, unwatched
from acp_proxy.settings import NO_PROGRESS_VARIABLE

_PATIENCE_SECONDS: Final = 0.5
_EACH_SECONDS: Final = 0.2
_NARROW: Final = 64
_MARGIN: Final = 2
"""What a terminal echoes of Ctrl-C goes behind the bar, not into the next line."""
_ERASE: Final = "\r\x1b[K"

_BAR: Final = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}{unit}, {rate_noinv_fmt}, {remaining} left"
_NARROW_BAR: Final = "{desc} {percentage:3.0f}% {rate_noinv_fmt} {remaining}"
_WITHOUT_TOTAL: Final = "{desc}: {n_fmt}{unit}, {rate_noinv_fmt}, {elapsed}"
_WITHOUT_AMOUNT: Final = "{desc}: {elapsed}"


@contextlib.contextmanager
def progress(
    label: str, total: int | None = None, unit: str = "", *, wanted: bool = True
) -> Iterator[Advance]:
    """In this context, show how far work is; give what it has to tell that to.

    Args:
        label: What is done; ours, and short: beside amounts a terminal of 40 columns has room for 10.
        total: How much there is to do; None: not known.
        unit: What is counted, with a space before a word: ``" frames"``, ``"B"``. Without, only the
            time that the work takes is shown.
        wanted: Whether to show anything.

    """
    if not (wanted and _can_be_shown()):
        yield unwatched
        return
    bar = _Bar(label, total, unit)
    try:
        yield bar.advance
    finally:
        bar.end()


def is_kept(output: str | None) -> bool:
    """Tell whether what is written bit by bit goes into a file, so that a bar may be beside it.

    On a terminal it would be mixed with the bar; so it would behind a pipe if a pager is there.

    Args:
        output: Where it goes, a file's name; None and ``-`` are stdout.

    """
    try:
        if output is None or output == "-":
            return stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
        return not stat.S_ISCHR(os.stat(output).st_mode)
    except OSError:  # it is not there yet
        return True


def _can_be_shown() -> bool:
    return (
        sys.stderr.isatty()
        and os.environ.get("TERM", "") not in ("", "dumb")
        and os.environ.get(NO_PROGRESS_VARIABLE, "") in ("", "0")
    )


class _Bar:
    """A bar, drawn by a thread of its own, which looks at a number now and then.

    Work may be busy in SQLite for long, and need not look at a clock.
    """

    def __init__(self, label: str, total: int | None, unit: str) -> None:
        self._label, self._total, self._unit = label, total, unit
        self._began = time.monotonic()
        self._done = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
        self._thread.start()

    def advance(self, amount: int) -> None:
        """Be told how much more is done."""
        self._done += amount

    def end(self) -> None:
        """Take the bar away."""
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # they are for the work
        self._is_over.wait(_PATIENCE_SECONDS)
        if time.monotonic() - self._began < _PATIENCE_SECONDS:
            return
        with contextlib.suppress(OSError):  # the terminal is gone
            self._show(self._text())
            while not self._is_over.wait(_EACH_SECONDS):
                self._show(self._text())
            self._show(self._text())
            self._show("")

    def _show(self, text: str) -> None:
        if _is_in_front():
            sys.stderr.write(f"{_ERASE}{text}")
            sys.stderr.flush()

    def _text(self) -> str:
        from tqdm.std import tqdm  # 30 ms, which short work does not pay

        columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
        total = self._total or None
        if total is None:
            form = _WITHOUT_TOTAL if self._unit else _WITHOUT_AMOUNT
        else:
            form = _BAR if columns >= _NARROW else _NARROW_BAR
        text: str = tqdm.format_meter(
            self._done if total is None else min(self._done, total),
            total,
            time.monotonic() - self._began,
            ncols=max(1, columns - _MARGIN),
            prefix=self._label,
            ascii=not sys.stderr.encoding.lower().startswith("utf"),
            unit=self._unit,
            unit_scale=True,
            bar_format=form,
        )
        return text


def _is_in_front() -> bool:
    """Tell whether the terminal is ours to write on: not when a shell has us in the background."""
    fd = sys.stderr.fileno()
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:  # it controls no job of ours
        return True
