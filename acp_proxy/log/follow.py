"""Noticing that a log has grown: who waits for news asks here, cheaply, before reading anything."""

from acp_proxy.log import schema


class LogWatch:
    """Tells whether anybody has written to a log since it was last asked.

    Asking reads SQLite's shared memory, not the file: it can be done many times a second.

    Raises:
        LogError: The log cannot be read.

    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._db = schema.open_for_reading(path)
        self._version = self._read()

    def close(self) -> None:
        """Let go of the log."""
        self._db.close()

    def changed(self) -> bool:
        """Return whether the log was written to since the last call, or since the beginning."""
        before, self._version = self._version, self._read()
        return self._version != before

    def connections_after(self, connection_id: int) -> list[int]:
        """Return the ids of the connections that came into the log after one, oldest first."""
        with schema.reading(self._path):
            rows = self._db.execute(
                "SELECT id FROM connections WHERE id > ? ORDER BY id", (connection_id,)
            ).fetchall()
        return [id_ for (id_,) in rows]

    def _read(self) -> int:
        with schema.reading(self._path):
            return int(self._db.execute("PRAGMA data_version").fetchone()[0])
