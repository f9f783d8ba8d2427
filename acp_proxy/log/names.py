"""The newest ids and words that a log holds, for shells that complete them: fast, without a trace.

What is told of each is for people and comes as the peers sent it: make it harmless.
"""

import sqlite3
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.log import schema
from acp_proxy.log.opened import OpenedLog
from acp_proxy.log.rows import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 50
"""So many names are told at once, the newest."""
_RECENT = 20_000  # so many messages are looked through for words: 10 ms
_LONGEST_SEQ = 10  # digits; a seq has 32 bits

# Value, and what is told of it; :begin is how the value has to begin.
_NEWEST = {
    "sessions": "SELECT session_id, coalesce(title, cwd) FROM sessions {where} "
    "ORDER BY last_seq DESC",
    "tool_calls": "SELECT tool_call_id, status || coalesce(': ' || coalesce(title, name), '') "
    "FROM tool_calls {where} ORDER BY last_seq DESC",
    "terminals": "SELECT terminal_id, CASE WHEN exited THEN coalesce('exit ' || exit_code, signal, "
    "'ended') ELSE 'running' END || coalesce(': ' || command, '') FROM terminals {where} "
    "ORDER BY last_seq DESC",
    "statuses": "SELECT status, NULL FROM tool_calls {where} GROUP BY status",
    "kinds": "SELECT kind, NULL FROM tool_calls {where} GROUP BY kind",
    "methods": "SELECT method, NULL FROM recent {where} GROUP BY method",
    "updates": "SELECT session_update, NULL FROM recent {where} GROUP BY session_update",
}
_VALUES = {name: sql.split()[1].rstrip(",") for name, sql in _NEWEST.items()}
_WHERE = "WHERE connection_id = :connection AND substr({value}, 1, length(:begin)) = :begin"
_RECENTLY = (
    "WITH recent AS (SELECT connection_id, method, session_update FROM messages WHERE connection_id = :connection "
    f"ORDER BY seq DESC LIMIT {_RECENT}) "
)


class Name(NamedTuple):
    """An id or a word, and what a person may want to know of it, as it was sent."""

    value: str
    about: str


class Names(OpenedLog):
    """A log opened to complete what is in it.

    Raises:
        LogError: From every method: it cannot be read now.
        QueryError: There is no such connection.

    """

    def __init__(self, path: str) -> None:
        super().__init__(path, schema.open_without_trace)

    def labels(self, begin: str) -> "Iterator[Name]":
        """Yield the labels of connections that begin so, newest first."""
        sql = (
            "SELECT label, NULL FROM connections WHERE substr(label, 1, length(:begin)) = :begin "
            "GROUP BY label ORDER BY max(added_ns) DESC"
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
        sql = _NEWEST[what].format(where=_WHERE.format(value=_VALUES[what]))
        id_ = self.connection(connection).id
        yield from self._names(
            (_RECENTLY if " recent " in sql else "") + sql, connection=id_, begin=begin
        )

    def messages(self, connection: str, begin: str) -> "Iterator[Name]":
        """Yield the seqs that begin so: of requests for permission, then of all messages.

        Both newest first, with what they are.
        """
        id_ = self.connection(connection).id
        yield from self._names(
            "SELECT seq, 'permission ' || status || coalesce(': ' || title, '') FROM permissions "
            f"{_WHERE.format(value='seq')} ORDER BY seq DESC",
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
                for value, about in self._db.execute(f"{sql} LIMIT {MOST}", values):
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
