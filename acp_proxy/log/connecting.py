"""The one way in which SQLite opens a log: what of a file it may act on, and how much it may do.

A log's schema can hold expressions that run when a table is read or written (views, triggers,
generated columns, defaults), so those may call only functions that are harmless anywhere, and
b-trees are checked as they are read. Python never lets SQL load extensions unless it is asked to.
"""

import os
import sqlite3
from typing import Any, Final
from urllib.parse import quote

from acp_proxy.log import descriptors

_DEFENSIVE: Final = 1010
_WRITABLE_SCHEMA: Final = 1011
"""SQLITE_DBCONFIG_DEFENSIVE and SQLITE_DBCONFIG_WRITABLE_SCHEMA, which Python 3.11 does not name."""
_STEPS_BETWEEN: Final = 1000
_LEAST_STEPS: Final = 20_000_000
_STEPS_PER_BYTE: Final = 40
"""A statement of ours takes some 60 steps of SQLite's machine a row, and a row 20 bytes or more."""
_LONGEST_VALUE: Final = 640 << 20
"""Bytes; the recorder writes no frame above 512 MiB."""


class LogConnection(sqlite3.Connection):
    """A connection to a log.

    Attributes:
        file: The file that is open: the log, or the private copy of one that is not ours.
        is_passed_over: Whether SQLite does not look at the ``-wal`` beside it.
        notice: What a person should know who asked for the log, None when it is open in place.

    """

    file: str = ""
    is_passed_over: bool = False
    notice: str | None = None
    _steps: int | None = None
    _left: int = 0
    _key: descriptors.Key | None = None

    def limit_work(self) -> None:
        """Stop statements that do far more work than a log of this size can need.

        In a damaged or hostile file pages can lead to each other so that a scan never ends.
        """
        size = sum(
            os.stat(self.file + suffix).st_size
            for suffix in ("", "-wal")
            if os.path.exists(self.file + suffix)
        )
        self._steps = (_LEAST_STEPS + _STEPS_PER_BYTE * size) // _STEPS_BETWEEN
        self._left = self._steps
        self.set_progress_handler(self._is_too_much, _STEPS_BETWEEN)
        self.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)

    def close(self) -> None:
        """Close the connection."""
        super().close()
        key, self._key = self._key, None
        if key is not None:
            descriptors.release(key)

    def hold(self, key: descriptors.Key) -> None:
        """Keep the descriptors of a file open as long as this connection is."""
        self._key = key

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Run a statement; each has the whole of the work that is allowed (``limit_work``)."""
        if self._steps is not None:
            self._left = self._steps
        return super().execute(sql, parameters)

    def _is_too_much(self) -> bool:
        self._left -= 1
        return self._left < 0


def file_uri(path: str, mode: str) -> str:
    """Return a log as SQLite opens it by URI, whatever its path is: ``ro`` or ``rw``, never made."""
    return f"file:{quote(os.fsencode(os.path.abspath(path)))}?mode={mode}"


def connect(
    path: str,
    mode: str,
    *,
    timeout: float,
    immutable: bool = False,
    notice: str | None = None,
    threads: bool = False,
) -> LogConnection:
    """Return a connection to the file of a log, with nothing asked of it yet.

    Args:
        path: The file; whether it may be opened in place is decided before (``log.identity``).
        mode: ``ro`` or ``rw``; the file is never made.
        timeout: How long to wait for locks, in seconds.
        immutable: Whether to pass over the ``-wal``, and to make no file beside the log.
        notice: What is said of a private copy; work in it is limited.
        threads: Whether several threads use it, one at a time.

    Raises:
        sqlite3.Error: It cannot be opened.
        OSError: There is no such file.

    """
    key = descriptors.hold(path)
    try:
        db: LogConnection = sqlite3.connect(
            file_uri(path, mode) + ("&immutable=1" if immutable else ""),
            uri=True,
            isolation_level=None,
            timeout=timeout,
            check_same_thread=not threads,
            factory=LogConnection,
        )
    except BaseException:
        descriptors.release(key)
        raise
    db.hold(key)
    db.file, db.is_passed_over, db.notice = path, immutable, notice
    try:
        _restrict(db)
        if notice is not None:
            db.limit_work()
    except BaseException:
        db.close()
        raise
    return db


def _restrict(db: sqlite3.Connection) -> None:
    """Let the file's schema do nothing that ours does not do."""
    db.execute("PRAGMA trusted_schema = OFF").fetchall()
    db.execute("PRAGMA cell_size_check = ON").fetchall()
    set_config = getattr(db, "setconfig", None)  # from Python 3.12 on
    if set_config is not None:
        set_config(_DEFENSIVE, True)
        set_config(_WRITABLE_SCHEMA, False)
