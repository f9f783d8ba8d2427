"""Opening the log: making it, its schema's steps, who may write, what is wrong with it.

Writers migrate; readers open read-only and never do.
"""

import contextlib
import errno
import os
import runpy
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_proxy.errors import LogError
from acp_proxy.log import conformity, copies, identity
from acp_proxy.log.connecting import LogConnection, connect
from acp_proxy.log.identity import LogUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STEPS = (
    "m0001_recording",
    "m0002_state",
    "m0003_search",
    "m0004_checksums",
    "m0005_compaction",
    "m0006_connection_checksum",
)
"""The steps of the schema that this program knows, in order."""

SIDE_FILES = ("-wal", "-shm", "-journal")
"""What SQLite appends to a log's path for the files that it keeps beside it."""

SQLiteError = sqlite3.Error
SQLITE_VERSION = sqlite3.sqlite_version
"""For rooms that speak no SQL, and yet have to say what went wrong with it."""

_HISTORY = "_sqlite_migrations"
_MOST_STEPS = 1000
_BUSY_MS = 5000
_RECORD = "record into it with: acp-proxy run -- AGENT ARGS..."
_ANOTHER = "or choose another with --log"
_PACKAGE = Path(__file__).resolve().parent.parent


class NoLogError(LogError):
    """There is no log at that place yet."""


class LogLockedError(LogUnavailableError):
    """Another process has the log; it will not take long as a rule."""


def history_path() -> Path:
    """Return where this installation keeps the schema's history.

    Raises:
        LogError: The installation is incomplete.

    """
    places = [_PACKAGE.parent / "migrations", _PACKAGE / "migrations"]  # checkout, wheel
    for place in places:
        if (path := place / "migrations.py").is_file():
            return path
    raise LogError(f"no migrations.py in {places[0]} or {places[1]}", "reinstall acp-proxy")


def open_for_writing(path: str, *, busy_ms: int = _BUSY_MS) -> LogConnection:
    """Return a connection to the log, made and brought up to date if need be.

    Raises:
        ForeignLogError: It was not made by this installation.
        LogUnavailableError: It is locked by another process, or there is no room.
        LogError: It cannot be used; the text says why and what to do.

    """
    with explaining(path):
        check_place(path)
        identity.check_regular(path)
        _create_private(path)
        identity.require_ours(path)
        connection = connect(path, "rw", timeout=busy_ms / 1000, threads=True)
        try:
            _use_wal(connection, busy_ms)
            applied = _applied(connection)
            pending = _pending(path, applied)
            if applied:
                conformity.check(path, connection, applied, strictly=False)
            if pending:
                _migrate(path, connection)
            _allow_triggers(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
    return connection


def open_for_reading(path: str) -> LogConnection:
    """Return a connection that can only read; of a log that is not ours, to a private copy.

    Raises:
        LogError: There is no log, or it cannot be read; the text says why and what to do.

    """
    return _opened(path, _connect_read_only)


def open_without_trace(path: str) -> LogConnection:
    """Return a connection that can only read, waits for nobody, and makes no file beside the log.

    What stands in a ``-wal`` that nobody has opened is not seen. Where somebody begins to write
    just then, what is read may be torn: fit for what only proposes, not for what answers.

    Raises:
        LogError: There is no log, it is not ours, or it cannot be read now.

    """
    return _opened(path, _connect_without_trace)


def _opened(path: str, opener: "Callable[[str], LogConnection]") -> LogConnection:
    """Return a connection to a log that is there and that this program can read."""
    check_place(path)
    if not os.path.exists(path):
        raise NoLogError(f"there is no log at {path} yet", _RECORD)
    with explaining(path):
        identity.check_regular(path)
        connection = opener(path)
        try:
            applied = _applied(connection)
            _check_steps(path, applied)
            conformity.check(path, connection, applied, strictly=connection.notice is not None)
        except BaseException:
            connection.close()
            raise
    return connection


def why_not_writable(path: str) -> str | None:
    """Return why a log could not be written, without making it; None when it could, it seems."""
    try:
        check_place(path)
    except LogError as error:
        return str(error)
    place = path
    while not os.path.lexists(place):
        place = os.path.dirname(place)
    if place == path:
        writable = os.access(path, os.W_OK) and os.path.isfile(path)
        folder = os.path.dirname(path)
    else:
        writable, folder = os.path.isdir(place), place
    try:
        if writable:
            tempfile.TemporaryFile(dir=folder).close()
            return None
    except OSError:
        pass
    what = "written" if os.path.isdir(folder) else "used: it is no folder"
    return f"{folder if writable else place} cannot be {what}; make it writable, {_ANOTHER}"


def check_usable(path: str) -> None:
    """Say why a log could not be written now, without making or migrating it.

    Raises:
        LogError: It could not; the text says why and what to do.

    """
    check_place(path)
    if not os.path.exists(path):
        if (reason := why_not_writable(path)) is not None:
            raise LogUnavailableError(reason)
        return
    with explaining(path):
        identity.require_ours(path)
        connection = connect(path, "rw", timeout=0.1)
        try:
            applied = _applied(connection)
            _pending(path, applied)
            if applied:
                conformity.check(path, connection, applied, strictly=False)
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
        finally:
            connection.close()


def text_or_bytes(raw: bytes) -> str | bytes:
    """Return a text of SQLite's, its bytes when it is no UTF-8 (a ``text_factory``)."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def fetched(db: sqlite3.Connection, cursor: sqlite3.Cursor) -> list[Any]:
    """Return all rows of a query; what is no UTF-8 in them is bytes, and spoils nothing else."""
    usual, db.text_factory = db.text_factory, text_or_bytes
    try:
        return cursor.fetchall()
    finally:
        db.text_factory = usual


def bytes_on_disk(path: str) -> int:
    """Return the bytes that a log takes, the write-ahead log included."""
    files = (path + suffix for suffix in ("", "-wal"))
    return sum(os.stat(file).st_size for file in files if os.path.exists(file))


@contextlib.contextmanager
def undoing(connection: sqlite3.Connection) -> "Iterator[None]":
    """In this context, an exception undoes the transaction."""
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def transaction(path: str, connection: sqlite3.Connection) -> "Iterator[None]":
    """In this context, what is written is written together or not at all.

    Raises:
        LogError: It cannot be written; nothing was.

    """
    with explaining(path), undoing(connection):
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")


def has_column(connection: sqlite3.Connection, table: str, column: str) -> bool:
    """Tell whether an opened log has a column: those of older steps lack some."""
    return any(row[1] == column for row in connection.execute(f"PRAGMA table_info({table})"))


def applied_steps(path: str) -> list[str]:
    """Return the names of the steps that a log has, also of those that this program does not know.

    Raises:
        LogError: It cannot be read.

    """
    with explaining(path):
        identity.check_regular(path)
        connection = _connect_read_only(path)
        try:
            return _applied(connection)
        finally:
            connection.close()


def check_place(path: str) -> None:
    """Refuse a path that can name no file, with what is wrong with it.

    Raises:
        LogUnavailableError: It leads through a link to nothing, a circle of links or a file that
            is no folder, or is too long.

    """
    try:
        os.stat(path)
    except FileNotFoundError:
        link = _dangling(path)
        if link is not None:
            target = os.path.join(os.path.dirname(link), os.readlink(link))
            raise LogUnavailableError(
                f"{link} is a symbolic link to {target}, which is not there",
                f"create that, correct or delete the link, {_ANOTHER}",
            ) from None
    except NotADirectoryError:
        what = next(above for above in _above(path) if os.path.exists(above))
        raise LogUnavailableError(
            f"{path} cannot be: {what} is a file, not a folder", _ANOTHER[3:]
        ) from None
    except ValueError:
        raise LogUnavailableError(
            "the log's path holds a character that no path can", _ANOTHER[3:]
        ) from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            why = f"{path} leads in a circle of symbolic links"
            raise LogUnavailableError(why, f"correct or delete the links, {_ANOTHER}") from None
        if error.errno == errno.ENAMETOOLONG:
            why = f"the log's path, or a name in it, is too long ({len(os.fsencode(path))} bytes)"
            raise LogUnavailableError(why, "choose a shorter one with --log") from None


def _dangling(path: str) -> str | None:
    """Return the part of a path that is a link to nothing, None when none is."""
    for place in (path, *_above(path)):
        if os.path.exists(place):
            return None
        if os.path.islink(place):
            return place
    return None


def _above(path: str) -> "Iterator[str]":
    """Yield the folders above a path, the nearest first."""
    while (above := os.path.dirname(path)) != path:
        yield above
        path = above


def _check_steps(path: str, applied: list[str]) -> None:
    """Refuse to read a log that is not as this program expects it."""
    if not applied:  # somebody is making it
        raise NoLogError(f"there is no log at {path} yet", _RECORD)
    if STEPS[0] in _pending(path, applied):  # what later steps add can be done without
        raise LogError(
            f"{path} was written by an older acp-proxy",
            f"bring it up to date with: acp-proxy log migrate --log {path}",
        )


def _connect_without_trace(path: str) -> LogConnection:
    identity.require_ours(path)
    has_both = all(os.path.exists(path + suffix) for suffix in ("-wal", "-shm"))
    return connect(path, "ro", timeout=0, immutable=not has_both)  # else SQLite makes them


def _connect_read_only(path: str) -> LogConnection:
    place, notice = copies.place_to_read(path)
    if not os.path.getsize(place):  # somebody is making it; or nothing but a -wal is there
        raise NoLogError(f"there is no log at {path} yet", _RECORD)
    timeout = _BUSY_MS / 1000
    connection = connect(place, "ro", timeout=timeout, notice=notice)
    try:
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    except sqlite3.OperationalError as error:
        connection.close()
        # Reading a WAL file needs its shared memory, which a read-only folder cannot give.
        if "unable to open" not in str(error) or os.access(os.path.dirname(place) or ".", os.W_OK):
            raise
        connection = connect(place, "ro", timeout=timeout, immutable=True, notice=notice)
    except BaseException:
        connection.close()
        raise
    return connection


def _create_private(path: str) -> None:
    """Make a log without tables that only its owner can read; one that is there stays.

    SQLite gives the files beside it the same mode.
    """
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        os.makedirs(folder, exist_ok=True)
        os.chmod(folder, 0o700)
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        if os.geteuid() not in (0, os.stat(path).st_uid):
            raise LogUnavailableError(f"{path} belongs to another user", _ANOTHER[3:]) from None
    else:
        os.fchmod(fd, 0o600)  # whatever the umask
        os.close(fd)
    if not os.path.getsize(path):
        identity.make(path)


def _use_wal(connection: sqlite3.Connection, busy_ms: int) -> None:
    """Switch to WAL; SQLite does not wait for others here, so this does."""
    give_up = time.monotonic() + busy_ms / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.02)
        else:
            return


def _allow_triggers(connection: sqlite3.Connection) -> None:
    """Let our triggers write to the search index, after the schema was found to be ours.

    Before 3.41, SQLite lets no trigger of an untrusted schema use FTS5.
    """
    try:
        connection.execute("EXPLAIN DELETE FROM texts WHERE id = 0").fetchall()
    except sqlite3.OperationalError as error:
        if not str(error).startswith("unsafe use"):
            raise
        connection.execute("PRAGMA trusted_schema = ON").fetchall()


def _applied(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute("SELECT type FROM sqlite_schema WHERE name = ?", (_HISTORY,))
    types = [kind for (kind,) in found.fetchall()]
    if types != ["table"]:  # a view of that name would be run
        if not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall():
            return []
        raise LogError("this is an SQLite file of some other program", "choose another with --log")
    rows = connection.execute(
        f"SELECT name FROM {_HISTORY} WHERE migration_set = 'acp_proxy' ORDER BY id LIMIT ?",
        (_MOST_STEPS,),
    )
    return [str(name) for (name,) in rows.fetchall()]


def _pending(path: str, applied: list[str]) -> list[str]:
    newer = [name for name in applied if name not in STEPS]
    if newer:
        raise LogError(
            f"{path} was written by a newer acp-proxy (it has step {newer[0]})",
            f"upgrade acp-proxy to use it, {_ANOTHER}",
        )
    return [name for name in STEPS if name not in applied]


def _migrate(path: str, connection: sqlite3.Connection) -> None:
    """Apply what is pending, as one transaction that no second writer can enter."""
    from sqlite_utils import Database  # noqa: PLC0415 - 100 ms; a current log never pays it

    history: Any = runpy.run_path(str(history_path()))["migrations"]
    with transaction(path, connection):
        if _pending(path, _applied(connection)):
            history.apply(Database(connection, execute_plugins=False))


@contextlib.contextmanager
def explaining(path: str) -> "Iterator[None]":
    """In this context, turn what SQLite and the system say into what a person can act on."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise explain(path, error) from error
    except MemoryError as error:
        raise damaged(path, "a value in it takes more memory than there is") from error
    except UnicodeDecodeError as error:  # what SQLite would say quotes a damaged schema
        raise damaged(path, "its schema is no UTF-8") from error
    except OSError as error:
        raise LogUnavailableError(
            f"cannot use the log {path}: {error.strerror}", f"make its folder writable, {_ANOTHER}"
        ) from error


@contextlib.contextmanager
def reading(path: str) -> "Iterator[None]":
    """As ``explaining``, where rows are read: a value that cannot be is damage of the log too."""
    try:
        with explaining(path):
            yield
    except (
        ValueError,
        TypeError,
        LookupError,
        ArithmeticError,
        AttributeError,
        RecursionError,
    ) as error:
        raise damaged(path, f"a value that was never written: {error}") from error


def damaged(path: str, what: str) -> LogError:
    """Return what a person can do about a log of which a row cannot be read."""
    return LogError(
        f"{path} is damaged ({what})",
        f"acp-proxy verify --log {path} tells what is left; what is derived, acp-proxy log reindex mends",
    )


def explain(path: str, error: sqlite3.Error) -> LogError:
    """Return what a person can do about an error of SQLite's."""
    text = str(error)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LogLockedError(
            f"{path} is locked by another program ({text})", "end that, or try later"
        )
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return LogUnavailableError(f"{path} cannot be written ({text})", "make room on its disk")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return LogUnavailableError(
            f"cannot use the log {path}: {text}", f"make it and its folder writable, {_ANOTHER}"
        )
    return _explain_damage(path, code, text)


def _explain_damage(path: str, code: int, text: str) -> LogError:
    """Return what a person can do about an error that is in the log, not around it."""
    if text.startswith("Could not decode"):
        return damaged(path, "text that is no UTF-8")
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return identity.not_a_log(path, text)
    if code == sqlite3.SQLITE_INTERRUPT:
        return LogError(
            f"{path} is damaged or hostile: a question took far more work than a log of "
            f"its size needs ({text})",
            "do not use it; acp-proxy verify may say more",
        )
    return LogError(f"cannot use the log {path}: {text}", f"check it, {_ANOTHER}")
