"""Whether the log's file and its search index are sound, as SQLite sees them."""

import contextlib
import os
import sqlite3
import tempfile

from acp_proxy.log import schema
from acp_proxy.log.connecting import LogConnection, connect

_PATIENCE_SECONDS = 5
_CHECK_INDEX = "INSERT INTO search (search, rank) VALUES ('integrity-check', 1)"
"""It writes nothing, but SQLite wants a connection that could."""


def problems(path: str, db: LogConnection) -> list[str]:
    """Return what SQLite finds wrong with a log, nothing when it is sound.

    Compares the search index with the texts that it is of, while no other process can write:
    some seconds for a log of some hundred MB. Of a log that cannot be written a copy is made for it.

    Args:
        path: The log.
        db: It, open for reading.

    Raises:
        LogError: It cannot be read.

    """
    with schema.reading(path):
        rows = db.execute("PRAGMA integrity_check").fetchall()
        has_index = bool(db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'search'").fetchall())
        found = [str(text) for (text,) in rows if text != "ok"]
    return found + _of_index(db) if has_index else found


def _of_index(db: LogConnection) -> list[str]:
    path = db.file
    try:
        if os.access(path, os.W_OK) and os.access(os.path.dirname(path) or ".", os.W_OK):
            _check(path)
        else:
            with tempfile.TemporaryDirectory(prefix="acp-proxy-") as folder:
                copy = os.path.join(folder, "log.db")
                os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
                with contextlib.closing(connect(copy, "rw", timeout=0)) as target:
                    db.backup(target)
                _check(copy)
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
            return [
                f"the search index is not that of the texts ({error}); acp-proxy log reindex mends it"
            ]
        return [f"the search index could not be checked ({error}); try again"]
    except OSError as error:
        return [f"the search index could not be checked ({error.strerror}); make room for a copy"]
    return []


def _check(path: str) -> None:
    with contextlib.closing(connect(path, "rw", timeout=_PATIENCE_SECONDS)) as db:
        db.execute("BEGIN IMMEDIATE")
        try:
            db.execute(_CHECK_INDEX)
        finally:
            db.execute("ROLLBACK")
