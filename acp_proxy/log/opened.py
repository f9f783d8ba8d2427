"""A log opened for reading: its connections, and how its file is."""

import contextlib
import sqlite3
from typing import TYPE_CHECKING, Self

from acp_proxy.errors import QueryError
from acp_proxy.log import integrity, schema, wal
from acp_proxy.log.converting import connection_row
from acp_proxy.log.gone import told_of
from acp_proxy.log.rows import ConnectionRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acp_proxy.log.connecting import LogConnection

_LONGEST_ID = 18
_SHORTEST_PREFIX = 4  # a shorter one would often take a wrong id for a uuid


class OpenedLog:
    """What ``LogReader`` is, but for frames and messages.

    Attributes:
        losses: What is known by now to be missing from the answers, in words: what the file
            beside the log lost (``log.wal``), what of a connection was damaged.
        notice: What a person should know who asked for a log that is not ours, else None.

    Raises:
        LogError: It cannot be read.

    """

    def __init__(
        self, path: str, opener: "Callable[[str], LogConnection]" = schema.open_for_reading
    ) -> None:
        self.path = path
        self._db = opener(path)
        self.notice = self._db.notice
        self.losses = wal.losses(self._db.file, is_passed_over=self._db.is_passed_over)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the log."""
        self._db.close()

    @contextlib.contextmanager
    def snapshot(self) -> "Iterator[None]":
        """In this context, see the log as it was when the first question was asked."""
        with schema.explaining(self.path):
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                with contextlib.suppress(sqlite3.Error):  # closed meanwhile, or damaged
                    self._db.execute("COMMIT")

    def connections(self) -> "Iterator[ConnectionRow]":
        """Yield the connections, newest first."""
        yield from self._connections("ORDER BY added_ns DESC, id DESC")

    def connection(self, reference: str | int) -> ConnectionRow:
        """Return one connection.

        Args:
            reference: Its id, the beginning of its uuid that no other has, or ``latest``.

        Raises:
            QueryError: There is no such connection, or more than one.

        """
        text = str(reference)
        if text == "latest":
            found = list(self._connections("ORDER BY added_ns DESC, id DESC LIMIT 1"))
        else:
            found = []
            if text.isdecimal() and len(text) <= _LONGEST_ID:
                found = list(self._connections("WHERE id = ?", int(text)))
            if not found and len(text) >= _SHORTEST_PREFIX:
                begins = "WHERE substr(uuid, 1, ?) = ? LIMIT 2"
                found = list(self._connections(begins, len(text), text.lower()))
        if len(found) == 1:
            return found[0]
        if found:
            raise QueryError(f'"{text}" begins more than one uuid in {self.path}; give more of it')
        if text == "latest":
            raise QueryError(f"{self.path} holds no connection yet; record one with: acp-proxy run")
        why = told_of(self._db, text) or "acp-proxy connections lists them"
        raise QueryError(f'no connection "{text}" in {self.path}; {why}')

    def _connections(self, rest: str, *values: object) -> "Iterator[ConnectionRow]":
        with schema.reading(self.path):
            cursor = self._db.execute(f"SELECT * FROM connections {rest}", values)
            cursor.row_factory = sqlite3.Row
            for row in schema.fetched(self._db, cursor):
                found = connection_row(row)
                if found.unreadable:
                    which = ", ".join(found.unreadable)
                    self._lack(
                        f"of connection {found.id} cannot be read: {which}; "
                        f"to delete it: acp-proxy prune {found.id}"
                    )
                if not found.is_sound:
                    self._lack(f"what is told of connection {row['id']} is not what was recorded")
                yield found

    def _lack(self, what: str) -> None:
        text = f"{self.path} is damaged: {what}"
        if text not in self.losses:
            self.losses.append(text)

    def _counts_of(self, connection_id: int) -> tuple[int, int]:
        """Return how many frames and messages a connection has, as its row says."""
        with schema.reading(self.path):
            row = self._db.execute(
                "SELECT frames, messages FROM connections WHERE id = ?", (connection_id,)
            ).fetchone()
            return (0, 0) if row is None else (int(row[0]), int(row[1]))

    def check_integrity(self) -> list[str]:
        """Return what SQLite finds wrong with file and search index, nothing when they are sound."""
        return integrity.problems(self.path, self._db)

    def counts(self) -> dict[str, int]:
        """Return how many connections, frames and messages the log holds."""
        # SQLite counts the rows of a table in one step of its machine, which nothing interrupts.
        count = "count(*)" if self._db.notice is None else "coalesce(sum(1), 0)"
        with schema.reading(self.path):
            return {
                table: int(self._db.execute(f"SELECT {count} FROM {table}").fetchone()[0])
                for table in ("connections", "frames", "messages")
            }

    def size(self) -> int:
        """Return the bytes on disk, the write-ahead log included."""
        return schema.bytes_on_disk(self.path)
