"""Whether a log's schema is what the migrations make: SQLite runs what stands in it.

A view in the place of a table can make any question run for ever, a trigger can change what is
recorded, and a generated column or an index computes something whenever a row is read or written.
So what is not exactly ours is refused by name, before the first question.
"""

import re
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from typing import Any, Final, NamedTuple

from acp_proxy.errors import LogError
from acp_proxy.installation import digest

_OF_SQLITE: Final = {
    "sqlite_sequence": "CREATE TABLE sqlite_sequence(name,seq)",
    "sqlite_stat1": "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "sqlite_stat4": "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
}
_WORST: Final = ("trigger", "view", "index", "table")
"""Which kinds are named first."""
_MOST_OBJECTS: Final = 500
_MOST_NAMED: Final = 5
_LONGEST_SQL: Final = 64 * 1024
_SPACE: Final = re.compile(r"\s+")
_VIRTUAL: Final = re.compile(r"\s*create\s+virtual\b", re.IGNORECASE)
_READ: Final = (
    "SELECT type, name, tbl_name, CASE WHEN length(sql) > ? THEN '(too long)' ELSE sql END "
    "FROM sqlite_schema LIMIT ?"
)
_DIGESTS: Final = (
    "bc8b3ad67a1354d225b1bb8504f1ada1",
    "9978c33d8917df9618b32db52b851717",
    "aa9675b2dd29b58a464e6694382f0f31",
    "ff33ff46ecc5f1ccc61ddacfdb086905",
    "c2f2b7cdb29393a9ed44f835dd17fb34",
    "5e542016aefe58416b21de00dc6068fd",
)
"""Of the schema after each step, as ``_digest`` takes it: the usual case, without sqlite_utils."""


class _Object(NamedTuple):
    """An object of a schema.

    Attributes:
        type: ``table``, ``index``, ``view`` or ``trigger``.
        name: Its name.
        table: The table that it belongs to.
        sql: The statement that made it, white space made one; empty for an automatic index.

    """

    type: str
    name: str
    table: str
    sql: str


def check(path: str, db: sqlite3.Connection, steps: Sequence[str], *, strictly: bool) -> list[str]:
    """Refuse a schema that is not ours; return the names of what is beside it and does no harm.

    Args:
        path: The log, for messages.
        db: It, open.
        steps: Names of those that were applied.
        strictly: Whether to refuse tables and views of somebody's own as well: those of another user
            may be meant for whoever opens the log.

    Raises:
        LogError: The schema is not ours; the text names what is wrong.
        sqlite3.Error: It cannot be read.

    """
    found = _objects(db, path)
    if len(steps) <= len(_DIGESTS) and _digest(found) == _DIGESTS[len(steps) - 1]:
        return []
    ours = _expected(steps)
    wrong, more = _compared(found, ours, strictly=strictly)
    if wrong:
        wrong.sort(
            key=lambda text: _WORST.index(text.split()[0]) if text.split()[0] in _WORST else 9
        )
        named = ", ".join(wrong[:_MOST_NAMED])
        rest = f" and {len(wrong) - _MOST_NAMED} more" if len(wrong) > _MOST_NAMED else ""
        raise LogError(
            f"the schema of {path} is not that of a log: {named}{rest}",
            "SQLite would run what stands there, so the log is neither read nor written; "
            "if you added it yourself, drop it with the sqlite3 shell",
        )
    return more


def _compared(
    found: Mapping[str, _Object], ours: Mapping[str, _Object], *, strictly: bool
) -> tuple[list[str], list[str]]:
    """Return what is wrong with a schema, and the names of what is there beside ours."""
    wrong = [f"{one.type} {name} is missing" for name, one in ours.items() if name not in found]
    more = []
    for name, one in found.items():
        if name in ours:
            if one != ours[name]:
                wrong.append(f"{one.type} {one.name} is not as acp-proxy makes it")
        elif strictly or not _is_harmless(one, ours):
            wrong.append(f"{one.type} {one.name} is not one of acp-proxy")
        else:
            more.append(f"{one.type} {one.name}")
    return wrong, more


def _is_harmless(one: _Object, ours: Mapping[str, _Object]) -> bool:
    """Tell whether an object that is not ours does nothing unless somebody asks it."""
    if one.type == "table":
        return _VIRTUAL.match(one.sql) is None
    return one.type == "view" or (one.type == "index" and one.table.casefold() not in ours)


def _objects(db: sqlite3.Connection, path: str) -> dict[str, _Object]:
    """Return the objects of a schema by their names, but for those that SQLite makes by itself."""
    rows: list[tuple[Any, ...]] = db.execute(_READ, (_LONGEST_SQL, _MOST_OBJECTS + 1)).fetchall()
    if len(rows) > _MOST_OBJECTS:
        raise LogError(
            f"the schema of {path} is not that of a log: it has more than {_MOST_OBJECTS} objects",
            "choose another log with --log",
        )
    found = {}
    for row in rows:
        one = _Object(*(_SPACE.sub(" ", str(value or "")).strip() for value in row))
        if one.type == "index" and one.name.startswith("sqlite_autoindex_") and row[3] is None:
            continue
        if one.type == "table" and _OF_SQLITE.get(one.name) == one.sql:
            continue
        key = one.name.casefold()
        found[key if key not in found else f"{key} ({one.type})"] = one
    return found


def _digest(objects: Mapping[str, _Object]) -> str:
    text = repr(sorted(tuple(one) for one in objects.values()))
    return digest(text.encode(errors="backslashreplace"), size=16).hex()


def _expected(steps: Collection[str]) -> dict[str, _Object]:
    """Return what some steps of the migrations make."""
    import runpy  # noqa: PLC0415 - only where a schema is not the usual one

    from sqlite_utils import Database  # noqa: PLC0415 - 100 ms

    from acp_proxy.log.schema import history_path  # noqa: PLC0415 - it imports this module

    history = runpy.run_path(str(history_path()))["migrations"]
    with closing(sqlite3.connect(":memory:")) as db:
        database = Database(db, execute_plugins=False)
        history.ensure_migrations_table(database)
        for step in history.pending(database):
            if step.name in steps:
                step.fn(database)
        return _objects(db, "the program's own schema")
