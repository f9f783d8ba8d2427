"""What several commands share: the log option, the connection argument, opening, JSON output."""

import contextlib
import gc
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

from acp_proxy.cli.completion import candidates
from acp_proxy.cli.failures import failing_plainly
from acp_proxy.cli.outputs import STDOUT, opened_output
from acp_proxy.cli.progress import progress
from acp_proxy.errors import AcpProxyError
from acp_proxy.events.event import Owner
from acp_proxy.log.copies import remove_on_signals
from acp_proxy.log.identity import require_ours, why_foreign
from acp_proxy.log.place import VARIABLE, log_path
from acp_proxy.log.schema import NoLogError, explaining
from acp_proxy.recorder.leftovers import Waiting, settle
from acp_proxy.recording import Recording, open_recording
from acp_proxy.settings import load
from acp_proxy.views.jsonlines import dumps
from acp_proxy.views.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from acp_proxy.events.event import Event
    from acp_proxy.log.rows import ConnectionRow
    from acp_proxy.log.tables import Tables
    from acp_proxy.redaction.redactor import Redactor
    from acp_proxy.state.fold import State

_AT_ONCE = 256 * 1024
_SAID = "acp_proxy.cli.options.said"
_MOST_WARNINGS = 5

log_option = click.option(
    "--log",
    metavar="PATH",
    shell_complete=candidates.path_name,
    help=f"The log to use; default: ${VARIABLE}, else log.db in your platform's state folder.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document.")
jsonl_option = click.option("--jsonl", "as_jsonl", is_flag=True, help="One JSON object a line.")
at_option = click.option(
    "--at",
    metavar="POINT",
    shell_complete=candidates.seqs,
    help="Just after this message (17), so many before the last (-3), at a time (RFC 3339), or at "
    "seconds since the start, with a point or an s (4.25, 90s); default: the last.",
)
owner_option = click.option(
    "--owner", type=click.Choice([owner.value for owner in Owner]), help="Only this owner's."
)
output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=candidates.path_name,
    help="Where to write; default: stdout.",
)
session_option = click.option(
    "--session", metavar="ID", shell_complete=candidates.sessions, help="Only this session."
)
connection_argument = click.argument(
    "connection", default="latest", shell_complete=candidates.connections
)


@contextlib.contextmanager
def opened(log: str | None) -> "Iterator[Recording]":
    """Open a log to read it, after what waits in journals had its chance to get in."""
    gc.set_threshold(1_000_000, 50, 100)  # what is read lives until the end: rarely look through it
    with failing_plainly():
        path = log_path(log)
        warn_of(settle(path))
        with reading(path) as recording, _warning_of_losses(recording):
            yield recording


@contextlib.contextmanager
def opened_if_there(log: str | None) -> "Iterator[Recording | None]":
    """Open a log to read it; None, and a word on stderr, when nothing was recorded yet."""
    with failing_plainly(), contextlib.ExitStack() as stack:
        path = log_path(log)
        warn_of(settle(path))
        try:
            recording = stack.enter_context(reading(path))
            stack.enter_context(_warning_of_losses(recording))
        except NoLogError as error:
            click.echo(f"acp-proxy: {visible(str(error))}", err=True)
            recording = None
        yield recording


def own_log(log: str | None) -> str:
    """Return the path of a log that is to be written.

    Raises:
        LogError: It was not made by this installation, or there is no place for one.

    """
    path = log_path(log)
    with explaining(path):
        require_ours(path)
    return path


@contextlib.contextmanager
def reading(path: str) -> "Iterator[Recording]":
    """Open a log to read it; say once on stderr when a private copy of it is read, and why."""
    with contextlib.suppress(AcpProxyError, OSError):  # opening it says that better
        if os.path.isfile(path) and why_foreign(path) is not None:
            remove_on_signals()
    with open_recording(path) as recording:
        if recording.notice is not None:
            said: set[str] = click.get_current_context().meta.setdefault(_SAID, set())
            if path not in said:
                said.add(path)
                click.echo(f"acp-proxy: {visible(recording.notice)}", err=True)
        yield recording


@contextlib.contextmanager
def _warning_of_losses(recording: Recording) -> "Iterator[None]":
    """Say on stderr what the answers lack: at once what is known, after them what they tell."""
    known = len(recording.losses)
    for loss in recording.losses:
        click.echo(f"acp-proxy: {visible(loss)}", err=True)
    try:
        yield
    finally:
        for loss in dict.fromkeys(recording.losses[known:]):
            click.echo(f"acp-proxy: {visible(loss)}", err=True)


def warn_of(waiting: "Iterable[Waiting]") -> None:
    """Say on stderr which recordings are not in the log, and why."""
    every = list(waiting)
    for journal in every[:_MOST_WARNINGS]:
        from acp_proxy.views.tables import command_text

        what = visible(command_text(journal.command))[:60] or visible(journal.uuid)
        click.echo(
            f"acp-proxy: not in the log yet: {what} ({journal.bytes} bytes in "
            f"{visible(journal.path)}): {visible(journal.why)}; {visible(journal.remedy)}",
            err=True,
        )
    if len(every) > _MOST_WARNINGS:
        click.echo(
            f"acp-proxy: {len(every) - _MOST_WARNINGS} more journals are not in the log: "
            "acp-proxy log info lists them",
            err=True,
        )


def state_at(
    recording: Recording,
    connection: str,
    at: str | None,
    session: str | None = None,
    things: "Collection[str] | None" = None,
    within: "Callable[[Tables, int], Collection[str]] | None" = None,
) -> "tuple[ConnectionRow, State]":
    """Return a connection, and what was true on it at a point as people write it.

    Args:
        recording: The log.
        connection: Which.
        at: The point; default: the last message.
        session: Only this session.
        things: Only these things (``Recording.state``).
        within: Tells the only sessions that matter, from the tables and the message.

    """
    row = recording.connection(connection)
    seq = None if at is None else recording.resolve(row.id, at)
    sessions: Collection[str] | None = None if session is None else [session]
    tables = None if sessions is not None or within is None else recording.tables(row.id)
    if tables is not None and within is not None and row.messages:
        seq = row.messages if seq is None else seq
        sessions = within(tables, seq)
    return row, recording.state(row.id, at=seq, sessions=sessions, things=things)


def last_seq(recording: Recording, connection: str | int, at: str | None) -> int:
    """Return the seq of a point as people write it; without one, of the last message."""
    if at is None:
        return recording.connection(connection).messages
    return recording.resolve(connection, at)


review_option = click.option(
    "--review", is_flag=True, help="List on stderr what was blanked, and what is left to look at."
)


def redactor_of(recording: Recording, connection: int, *, review: bool = False) -> "Redactor":
    """Return what blanks a connection's secrets, as the settings want; show how far reading it is.

    Args:
        recording: The log.
        connection: Which.
        review: Gather what ``echo_review`` prints.

    """
    from acp_proxy.redaction.review import Review
    from acp_proxy.redaction.rules import Rules

    with failing_plainly():
        rules = Rules(**load().rules)
    frames = recording.connection(connection).frames
    with progress("redacting", 2 * frames, " frames") as advance:
        redactor = recording.redactor(connection, rules, advance=advance)
    if review:
        redactor.review = Review()
    return redactor


def echo_review(redactor: "Redactor") -> None:
    """Print on stderr where something was blanked, and what is left that may be a secret."""
    review = redactor.review
    if review is None:
        return
    for title, places in (("blanked", review.blanked), ("left", review.left)):
        for place in places:
            where = ".".join(map(str, place.path)) or "text"
            seq = "" if place.seq is None else f" #{place.seq}"
            line = f"{title}{seq} {where} at {place.offset}: {place.what}"
            click.echo(f"acp-proxy: {visible(line)}", err=True)
    if review.more:
        click.echo(f"acp-proxy: and {review.more} more places", err=True)
    if not review.left:
        click.echo("acp-proxy: nothing is left that looks as random as a secret", err=True)


def echo_table(text: str) -> None:
    """Print a table, fitted to the width of a terminal if it goes to one."""
    if sys.stdout.isatty():
        from acp_proxy.views.tables import fit

        text = fit(text, shutil.get_terminal_size().columns)
    click.echo(text)


def terminal_columns() -> int | None:
    """Return the width of the terminal that stdout is, None when it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def echo_page(*parts: str) -> None:
    """Print the parts of a page, fitted to the width of a terminal if it goes to one."""
    from acp_proxy.views.tables import fit_page

    click.echo(fit_page(parts, terminal_columns()))


def echo_lines(text: str) -> None:
    """Print lines of ours, wrapped at the width of a terminal if they go to one."""
    from acp_proxy.views.tables import fit_lines

    click.echo(fit_lines(text, terminal_columns()))


def list_things(
    recording: Recording,
    document: dict[str, Any],
    key: str,
    table: "Callable[[dict[str, Any], dict[int, int | None]], str]",
    *,
    as_json: bool,
) -> None:
    """Print one list of a narrowed state document; exit with 1 when nothing is in it.

    Args:
        recording: The log that the document is of.
        document: As ``views.parts.narrowed`` returns it.
        key: Which list it was narrowed to.
        table: Lays it out, given when its messages came.
        as_json: Whether to print the document instead.

    """
    from acp_proxy.views.parts import seqs_of
    from acp_proxy.views.state_json import state_text

    if as_json:
        click.echo(state_text(document))
    elif document["sessions"]:
        times = recording.times(document["connection"], seqs_of(document, key))
        echo_table(table(document, times))
    if not document["sessions"]:
        sys.exit(1)


def history_text(
    recording: Recording,
    connection: int,
    at: str | None,
    thing: tuple[str, str],
    history: "Callable[[Iterable[tuple[State, list[Event]]]], Iterable[dict[str, Any]]]",
    *,
    as_json: bool,
) -> str | None:
    """Return how one thing came to be what it is, None when no message is about it.

    Args:
        recording: The log.
        connection: Of which connection.
        at: Up to which point, as people write it.
        thing: Its table in the log, and its id.
        history: Tells it from the steps up to there (``views.history``).
        as_json: Whether as a document instead of a page.

    """
    from acp_proxy.views.history import history_page
    from acp_proxy.views.state_json import state_text

    seq = last_seq(recording, connection, at)
    found = list(history(recording.steps_about(connection, *thing, at=seq) if seq else ()))
    if not found:
        return None
    if as_json:
        return state_text({"connection": connection, "at": seq, "history": found})
    return history_page(found, recording.times(connection, [entry["seq"] for entry in found]))


def place_of(words: tuple[str, ...], what: str) -> tuple[str, str]:
    """Return connection and id of the arguments ``[CONNECTION] ID``."""
    if len(words) > 2:  # noqa: PLR2004 - two arguments
        raise click.UsageError(f"give a connection and the id of a {what}, or the id alone")
    return (words[0] if len(words) > 1 else "latest"), words[-1]


def write_json(objects: "Iterable[dict[str, Any]]") -> bool:
    """Print objects as one JSON array, as they come; tell whether there was any."""
    before = "[\n"
    for item in objects:
        click.echo(before + dumps(item), nl=False)
        before = ",\n"
    found = before == ",\n"
    click.echo("\n]" if found else "[]")
    return found


def write_jsonl(objects: "Iterable[dict[str, Any]]") -> bool:
    """Print objects one a line; tell whether there was any."""
    found = False
    for item in objects:
        click.echo(dumps(item))
        found = True
    return found


def write_bytes(
    pieces: "Iterable[bytes]", output: str | None = None, log: str | None = None
) -> None:
    """Write bytes as they are.

    Where reading the pieces fails, what came before is written first.

    Args:
        pieces: What to write.
        output: The file's path; None or ``-`` for stdout.
        log: The log that is read, which must not be written to (``cli.outputs``).

    """
    with contextlib.ExitStack() as stack:
        if output is None or output == STDOUT:
            file = sys.stdout.buffer
        else:
            file = stack.enter_context(opened_output(output, log))
        waiting: list[bytes] = []
        size = 0
        try:
            for piece in pieces:  # many are small: some at once
                waiting.append(piece)
                size += len(piece)
                if size > _AT_ONCE:
                    some, waiting, size = waiting, [], 0
                    file.write(b"".join(some))
        finally:
            file.write(b"".join(waiting))
            file.flush()


def only_one(given: "dict[str, bool]") -> None:
    """Refuse options that exclude each other."""
    chosen = [name for name, is_set in given.items() if is_set]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} exclude each other; give one")
