"""Giving many rows of a table other values so that the pages which become empty are free at once.

SQLite shrinks a row that is updated in its page, and leaves the page as empty as that makes
it. Rows that are deleted and inserted again stand close together.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any


def rewrite(
    db: sqlite3.Connection,
    table: str,
    columns: Sequence[str],
    changes: Sequence[tuple[Any, ...]],
) -> None:
    """Change rows, inside a transaction.

    Args:
        db: The log.
        table: Which; one with rowids.
        columns: Which are changed.
        changes: Of each row the new values, then its rowid; best in the order of these.

    """
    others = [
        name
        for _, name, *_ in db.execute(f"PRAGMA table_info({table})")
        if name not in (*columns, "id")
    ]
    names = ", ".join(["rowid", *others, *columns])
    kept = f"SELECT rowid, {', '.join(others)} FROM {table} WHERE rowid = ?"
    rows = []
    for *values, id_ in changes:
        rows += [(*row, *values) for row in db.execute(kept, (id_,))]
    db.executemany(f"DELETE FROM {table} WHERE rowid = ?", ((row[0],) for row in rows))
    marks = ", ".join("?" * (1 + len(others) + len(columns)))
    db.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)
