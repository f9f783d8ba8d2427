"""``acp-proxy tail``: the conversation, one line for each thing that happens, as it happens."""

import contextlib
import os
import select
import shutil
import signal
import sys
import time
from collections import deque
from typing import TYPE_CHECKING

import click

from acp_proxy.cli.failures import failing_plainly
from acp_proxy.cli.filters import about_options, within_options
from acp_proxy.cli.options import (
    connection_argument,
    json_option,
    jsonl_option,
    log_option,
    only_one,
    opened,
)
from acp_proxy.log.filters import MessageFilter
from acp_proxy.log.place import log_path
from acp_proxy.log.schema import NoLogError
from acp_proxy.recorder.leftovers import settle
from acp_proxy.recording import open_recording
from acp_proxy.views.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_proxy.following import Following
    from acp_proxy.log.follow import LogWatch
    from acp_proxy.recording import Recording
    from acp_proxy.views.tail_text import TailLine

_POLL_S = 0.05
_HOLD_S = 0.1  # how long a message that is being written may wait for more of it
_SETTLE_S = 1.0  # how often to look for a recorder that died, when all is quiet
_SPAN = 2000  # messages that are read to find the last lines; more when they are not in there
_INTERRUPTED = 130


@click.command()
@connection_argument
@log_option
@click.option("-f", "--follow", is_flag=True, help="Go on until the connection ends, or Ctrl-C.")
@click.option("--all", "every", is_flag=True, help="Follow all that run, and those that begin.")
@click.option(
    "-n", "--lines", type=click.IntRange(0, 10**6), default=10, metavar="K", show_default=True,
    help="The last K lines first.",
)  # fmt: skip
@click.option("--full", is_flag=True, help="All of each text, on as many lines as it takes.")
@about_options
@within_options
@json_option
@jsonl_option
def tail(
    connection: str,
    log: str | None,
    follow: bool,
    every: bool,
    lines: int,
    full: bool,
    as_json: bool,
    as_jsonl: bool,
    **wanted: object,
) -> None:
    """Tell what happens on CONNECTION (default: latest), a line for each thing.

    Prompts, messages (their chunks joined), tool calls when their status changes,
    questions for permission and their answers, terminals that begin and end, turns,
    plans, requests and answers, lines on stderr, and all that is odd. With filters,
    only what the messages that fit tell.
    """
    only_one({"--json": as_json, "--jsonl": as_jsonl})
    given = click.get_current_context().get_parameter_source("connection")
    if every and given is not click.core.ParameterSource.DEFAULT:
        raise click.UsageError("give a connection or --all")
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # from here on it ends cleanly
    form = "json" if as_json else "jsonl" if as_jsonl else "text"
    with _Output(form, full=full, numbered=every) as output, contextlib.suppress(_ReaderGoneError):
        try:
            if every:
                _wait_for_log(log)
            with opened(log) as recording:
                _Tail(recording, MessageFilter(**wanted), output).run(  # type: ignore[arg-type]
                    None if every else connection, lines, follow=follow
                )
        except KeyboardInterrupt:
            output.interrupted()
            output.close()
            sys.exit(_INTERRUPTED)
    if not (output.wrote or follow or every):
        sys.exit(1)


def _wait_for_log(log: str | None) -> None:
    """Wait until there is a log to follow."""
    told = False
    while True:
        with failing_plainly():
            path = log_path(log)
            try:
                open_recording(path).close()
            except NoLogError:
                pass
            else:
                return
        if not told:
            click.echo(
                f"acp-proxy: there is no log at {visible(path)} yet; waiting for one", err=True
            )
        told = True
        _sleep(_POLL_S)


class _Tail:
    """Follows connections of one log."""

    def __init__(self, recording: "Recording", wanted: MessageFilter, output: "_Output") -> None:
        self._recording = recording
        self._wanted = wanted
        self._output = output
        self._followed: dict[int, _Followed] = {}
        self._newest = 0

    def run(self, connection: str | None, lines: int, *, follow: bool) -> None:
        """Print the last lines of a connection, or of all that run; then follow if asked to."""
        with contextlib.closing(self._recording.watch()) as watch:
            try:
                self._begin(connection, lines)
                if connection is None or follow:
                    self._follow(watch, every=connection is None)
            except KeyboardInterrupt:
                self._output.interrupted()
                raise
            finally:  # also when it is interrupted: what is half told is told
                for followed in self._followed.values():
                    self._output.write(followed.rest())

    def _begin(self, connection: str | None, lines: int) -> None:
        if connection is not None:
            begun = [self._recording.connection(connection).id]
        else:
            rows = list(self._recording.connections())
            begun = sorted(row.id for row in rows if row.status == "running")
            self._newest = max((row.id for row in rows), default=0)
        for id_ in begun:
            followed = _Followed(self._recording, id_, self._wanted)
            self._output.write(followed.last(lines))
            if not followed.is_over:
                self._followed[id_] = followed

    def _follow(self, watch: "LogWatch", *, every: bool) -> None:
        changed, settled = True, time.monotonic()
        while self._followed or every:
            if changed:
                if every:
                    self._take_up(watch)
                self._read()
            for followed in self._followed.values():
                self._output.write(followed.overdue())
            _sleep(_POLL_S)
            changed = watch.changed()
            now = time.monotonic()
            if changed:
                settled = now
            elif now - settled > _SETTLE_S:  # a recorder that was killed leaves its work to us
                settle(self._recording.path, _POLL_S)
                settled = now

    def _take_up(self, watch: "LogWatch") -> None:
        for id_ in watch.connections_after(self._newest):
            self._newest = id_
            self._followed[id_] = _Followed(self._recording, id_, self._wanted)

    def _read(self) -> None:
        for id_, followed in list(self._followed.items()):
            lines = list(followed.new())  # first read all: a slow reader must not hold the log
            self._output.write(lines)
            self._output.write(followed.end())
            if followed.is_over:
                del self._followed[id_]


class _Followed:
    """One connection and its lines.

    Attributes:
        is_over: It has ended, and all of it was told.

    """

    def __init__(self, recording: "Recording", id_: int, wanted: MessageFilter) -> None:
        from acp_proxy.views.tail_lines import Teller

        self._recording = recording
        self._id = id_
        self._wanted = wanted
        self._teller = Teller(id_)
        self._following: Following = recording.follow(id_)
        self._held_since = 0.0
        self.is_over = False

    def last(self, count: int) -> "list[TailLine]":
        """Return the last lines of what is there; reads no more of it than it must."""
        span = max(_SPAN, 100 * count) if count else 0
        while True:
            fresh = _Followed(self._recording, self._id, self._wanted)
            self._teller, self._following = fresh._teller, fresh._following
            total = self._following.connection().messages
            newest = self._following.newest(self._wanted, span)
            begin = min(newest, default=total + 1)
            for row, events, _ in self._following.skip_to(begin):
                self._teller.tell(row, events, wanted=False)
            lines: deque[TailLine] = deque(maxlen=count + 1)
            lines.extend(self.new())
            lines.extend(self.end() or self._teller.flush())
            if len(newest) < span or not span or len(lines) > count:
                return [*lines][-count:] if count else []
            span *= 8

    def new(self) -> "Iterator[TailLine]":
        """Yield the lines that are complete now."""
        for row, events, fits in self._following.new(self._wanted):
            held = self._teller.holds
            yield from self._teller.tell(row, events, wanted=fits)
            if self._teller.holds and not held:
                self._held_since = time.monotonic()

    def overdue(self) -> "list[TailLine]":
        """Return the messages that waited long enough for more of them."""
        if not self._teller.holds or time.monotonic() - self._held_since < _HOLD_S:
            return []
        return self._teller.flush()

    def rest(self) -> "list[TailLine]":
        """Return what has not been told yet, nothing may come after it."""
        return self._teller.flush()

    def end(self) -> "list[TailLine]":
        """Return the last lines of a connection that is over, none while it is not."""
        row = self._following.connection()
        if row.status == "running" or self._following.seq < row.messages:
            return []
        self.is_over = True
        return self._teller.ended(row)


class _ReaderGoneError(Exception):
    """Whoever read our output has gone."""


class _Output:
    """Writes lines to stdout, as text in the width of a terminal, or as JSON."""

    def __init__(self, form: str, *, full: bool, numbered: bool) -> None:
        self._form = form
        self._full = full
        self._numbered = numbered
        self._is_terminal = sys.stdout.isatty()
        self._colour = self._is_terminal and not os.environ.get("NO_COLOR")
        self._last: TailLine | None = None
        self._shown = ""
        self._interrupted = False
        self.wrote = False

    def __enter__(self) -> "_Output":
        return self

    def __exit__(self, kind: object, *_exc: object) -> None:
        if kind is None:
            self.close()

    def close(self) -> None:
        """End a JSON array."""
        if self._form == "json":
            click.echo("\n]" if self.wrote else "[]")

    def interrupted(self) -> None:
        """Step over the ^C that a terminal shows, once."""
        if self._is_terminal and not self._interrupted:
            click.echo()
        self._interrupted, self._last = True, None

    def write(self, lines: "Iterable[TailLine]") -> None:
        """Write lines."""
        for line in lines:
            if self._form == "text":
                self._write_text(line)
            else:
                self._write_object(line)
            self.wrote = True

    def _write_object(self, line: "TailLine") -> None:
        from acp_proxy.views.jsonlines import dumps
        from acp_proxy.views.tail_text import line_object

        text = dumps(line_object(line))
        if self._form == "jsonl":
            click.echo(text)
        else:
            click.echo(f"{',' if self.wrote else '['}\n{text}", nl=False)

    def _write_text(self, line: "TailLine") -> None:
        from acp_proxy.views.tail_text import Look, line_text

        size = shutil.get_terminal_size()
        columns = size.columns if self._is_terminal else None
        look = Look(columns, self._colour, self._numbered, self._full)
        rows, again = self._shown.count("\n") + 1, ""
        if self._is_terminal and line.goes_on and self._is_last(line) and rows < size.lines:
            assert self._last is not None  # what is being written grows in its place
            line = self._last._replace(text=self._last.text + line.text, last_seq=line.last_seq)
            again = f"\x1b[{rows}A\r\x1b[J"
        text = line_text(line, look)
        if not again or text != self._shown:
            click.echo(again + text, color=self._colour)
        self._last, self._shown = line, text

    def _is_last(self, line: "TailLine") -> bool:
        last = self._last
        return (
            last is not None
            and last[5:7] + last[8:9] == line[5:7] + line[8:9]
            and (last.connection_id == line.connection_id)
        )


def _sleep(seconds: float) -> None:
    """Wait; notice meanwhile when nobody reads our output any more.

    Raises:
        _ReaderGoneError: Nobody does.

    """
    try:
        fd = sys.stdout.fileno()
    except (OSError, ValueError):  # no file of the system, in tests
        time.sleep(seconds)
        return
    poll = select.poll()
    poll.register(fd, 0)  # errors and hang-ups are always told
    for _, event in poll.poll(seconds * 1000):
        if event & (select.POLLERR | select.POLLHUP | select.POLLNVAL):
            raise _ReaderGoneError
