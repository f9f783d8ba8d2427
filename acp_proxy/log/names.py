"""The newest ids and words that a log holds, for shells that complete them: fast, without a trace.

What is told of each is for people and comes as the peers sent it: make it harmless.
"""

import sqlite3
import time
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.log import schema
from acp_proxy.log.opened import OpenedLog
from acp_proxy.log.rows import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 50
"""So many names are told at once, the newest."""
_RECENT = 20_000  # so many messages are looked through for words: 10 ms
_PATIENCE_S = 1.0  # then a question is given up: a cold disk must not hold up a prompt
_STEPS = 1000  # of SQLite's machine, between looks at the clock
_LONGEST_SEQ = 10  # digits; a seq has 32 bits

_EXITED = "CASE WHEN exited THEN coalesce('exit ' || exit_code, signal, 'ended') ELSE 'running' END"
# Of each kind: the value, what is told of it, the table, and the column that tells the newest.
_KINDS = {
    "sessions": ("session_id", "coalesce(title, cwd)", "sessions", "last_seq"),
    "tool_calls": (
        "tool_call_id",
        "status || coalesce(': ' || coalesce(title, name), '')",
        "tool_calls",
        "last_seq",
    ),
    "terminals": (
        "terminal_id",
        _EXITED + " || coalesce(': ' || command, '')",
        "terminals",
        "last_seq",
    ),
    "statuses": ("status", "NULL", "tool_calls", "last_seq"),
    "kinds": ("kind", "NULL", "tool_calls", "last_seq"),
    "methods": ("method", "NULL", "recent", "seq"),
    "updates": ("session_update", "NULL", "recent", "seq"),
}
_RECENTLY = (
    "WITH recent AS (SELECT connection_id, seq, method, session_update FROM messages "
    f"WHERE connection_id = :connection ORDER BY seq DESC LIMIT {_RECENT}) "
)
_BEGINNING = "WHERE connection_id = :connection AND substr({value}, 1, length(:begin)) = :begin"


class Name(NamedTuple):
    """An id or a word, and what a person may want to know of it, as it was sent."""

    value: str
    about: str


class Names(OpenedLog):
    """A log opened to complete what is in it.

    Raises:
        LogError: From every method: it cannot be read now, or not in time.
        QueryError: There is no such connection.

    """

    def __init__(self, path: str) -> None:
        super().__init__(path, schema.open_without_trace)
        give_up = time.monotonic() + _PATIENCE_S
        self._db.set_progress_handler(lambda: time.monotonic() > give_up, _STEPS)

    def labels(self, begin: str) -> "Iterator[Name]":
        """Yield the labels of connections that begin so, newest first."""
        sql = (
            "SELECT label, NULL, max(added_ns) FROM connections "
            "WHERE substr(label, 1, length(:begin)) = :begin GROUP BY label ORDER BY 3 DESC"
        )
        yield from self._names(sql, begin=begin)

    def of(self, what: str, connection: str, begin: str) -> "Iterator[Name]":
        """Yield names of one kind on a connection that begin so, newest first.

        Args:
            what: ``sessions``, ``tool_calls``, ``terminals``; ``statuses`` or ``kinds`` of tool
                calls; ``methods`` or ``updates`` in the latest messages.
            connection: Its id, the beginning of its uuid, or ``latest``.
            begin: How they begin.

        """
        value, about, table, newest = _KINDS[what]
        sql = (
            f"SELECT {value}, {about}, max({newest}) FROM {table} {_BEGINNING.format(value=value)} "
            f"GROUP BY {value} ORDER BY 3 DESC"
        )
        id_ = self.connection(connection).id
        yield from self._names(
            f"{_RECENTLY if table == 'recent' else ''}{sql}", connection=id_, begin=begin
        )

    def messages(self, connection: str, begin: str) -> "Iterator[Name]":
        """Yield the seqs that begin so: of requests for permission, then of all messages.

        Both newest first, with what they are.
        """
        id_ = self.connection(connection).id
        yield from self._names(
            "SELECT seq, 'permission ' || status || coalesce(': ' || title, '') FROM permissions "
            f"{_BEGINNING.format(value='seq')} ORDER BY seq DESC",
            connection=id_,
            begin=begin,
        )
        kind = " ".join(f"WHEN {code} THEN '{kind}'" for code, kind in enumerate(KINDS))
        for first, last in _seqs_beginning(begin):
            yield from self._names(
                f"SELECT seq, CASE kind_code {kind} END || coalesce(' ' || method, '') "
                "FROM messages WHERE connection_id = :connection AND seq BETWEEN :first AND :last "
                "ORDER BY seq DESC",
                connection=id_,
                first=first,
                last=last,
            )

    def _names(self, sql: str, **values: object) -> "Iterator[Name]":
        with schema.reading(self.path):
            try:
                for value, about, *_ in self._db.execute(f"{sql} LIMIT {MOST}", values):
                    yield Name(str(value), str(about or ""))
            except sqlite3.OperationalError as error:
                if not str(error).startswith("no such table"):  # a log of before that step
                    raise


def _seqs_beginning(digits: str) -> "Iterator[tuple[int, int]]":
    """Yield the ranges of seqs that begin with some digits, highest first."""
    if not digits:
        yield 1, 1 << 32
    elif digits.isdecimal() and digits[0] != "0":
        for more in range(_LONGEST_SEQ - len(digits), -1, -1):
            first = int(digits) * 10**more
            yield first, first + 10**more - 1
